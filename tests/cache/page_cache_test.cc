// page_cache_test.cc — Goal: a cache smaller than what is asked of it keeps what is used again, and its counts.
// SPDX-License-Identifier: MIT
// Method: real threads and a store in memory whose folio says what it holds. What interleavings may do is explored in
// cache_scenarios.h.
#include "cache/page_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <set>
#include <thread>
#include <vector>

#include "locks/any_lock.h"
#include "locks/policies.h"
#include "tests/resident_bytes.h"

namespace convoy {
namespace {

class MemoryStore {
 public:
  struct File {
    std::uint64_t id;
    std::uint64_t size;
  };
  struct Frame {
    std::uint64_t file;
    std::uint64_t index;
  };
  Frame* frame(std::uint64_t) { return frames_.size() == limit ? nullptr : &frames_.emplace_back(); }
  bool read(const File& file, std::uint64_t index, Frame& frame) {
    frame = {file.id, index};
    return !fails;
  }

  bool fails = false;
  std::size_t limit = ~std::size_t{0};  // frames that there is memory for

 private:
  std::deque<Frame> frames_;
};

struct TestLocks {
  using Page = Bounded<RealWorld>;
  using Mapping = AnyLock<RealWorld, MappingPolicies<RealWorld>>;
  using Lru = StdMutex;
};

class PageCacheTest : public testing::Test {
 protected:
  using Cache = PageCache<RealWorld, TestLocks, MemoryStore>;
  using CachedFolio = Cache::CachedFolio;

  Cache make(std::uint64_t capacity) { return Cache({page_, mapping_, lru_}, store_, 0, capacity); }

  // Maps page `page` of file `id`, looks at it and lets it go.
  static Fault use(Cache& cache, std::uint64_t id, std::uint64_t page = 0) {
    return cache.map({id, 1 << 20}, page, [&](CachedFolio& folio) {
      EXPECT_EQ(folio.frame->file, id);
      EXPECT_EQ(folio.frame->index, page);
      cache.unpin(folio);
    });
  }

  LockClass<RealWorld> page_{"page"};
  LockClass<RealWorld> mapping_{"mapping"};
  LockClass<RealWorld> lru_{"lru"};
  MemoryStore store_;
};

TEST_F(PageCacheTest, more_files_than_folios_from_many_threads) {
  Cache cache = make(1000);
  constexpr std::uint64_t kFiles = 100'000;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&cache, t] {
        for (std::uint64_t i = t; i < kFiles; i += 4) {
          EXPECT_EQ(use(cache, i), Fault::kMapped);
          EXPECT_EQ(use(cache, i % 100), Fault::kMapped) << "a hundred files are asked for all the time";
        }
      });
    }
  }
  const CacheNumbers numbers = cache.numbers();
  EXPECT_EQ(numbers.hits + numbers.misses, 2 * kFiles);
  EXPECT_EQ(numbers.pins, 0u);
  EXPECT_EQ(numbers.folios, 1000u);
  EXPECT_EQ(numbers.failed_fills, 0u);
  EXPECT_GE(numbers.fills, kFiles);
  EXPECT_LE(numbers.fills - numbers.reclaims, 1000u) << "what is not reclaimed is there";
}

// A scan over ten times the capacity, each page used once, leaves alone what is used again and again meanwhile.
TEST_F(PageCacheTest, a_scan_does_not_evict_the_hot_set) {
  Cache cache = make(1000);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t hot = 0; hot < 300; ++hot) ASSERT_EQ(use(cache, hot), Fault::kMapped);
  }
  for (std::uint64_t scan = 1; scan <= 10; ++scan) {
    for (std::uint64_t cold = 0; cold < 1000; ++cold) ASSERT_EQ(use(cache, 1000 * scan + cold), Fault::kMapped);
    for (std::uint64_t hot = 0; hot < 300; ++hot) ASSERT_EQ(use(cache, hot), Fault::kMapped);
  }
  EXPECT_EQ(cache.numbers().fills, 10'300u) << "the hot set was there all the time";
}

// What was hot once does not stay for ever.
TEST_F(PageCacheTest, the_hot_set_moves) {
  Cache cache = make(1000);
  for (std::uint64_t set = 0; set < 5; ++set) {
    for (int round = 0; round < 20; ++round) {
      for (std::uint64_t hot = 0; hot < 900; ++hot) ASSERT_EQ(use(cache, 1000 * set + hot), Fault::kMapped);
    }
    const std::uint64_t fills = cache.numbers().fills;
    for (std::uint64_t hot = 0; hot < 900; ++hot) ASSERT_EQ(use(cache, 1000 * set + hot), Fault::kMapped);
    EXPECT_LT(cache.numbers().fills - fills, 90u) << "set " << set << " fits, and most of it is there";
  }
}

TEST_F(PageCacheTest, full_when_all_is_pinned) {
  for (const std::uint64_t capacity : {1, 2, 64, 5000}) {
    Cache cache = make(capacity);
    std::vector<CachedFolio*> pinned;
    const auto keep = [&](CachedFolio& folio) { pinned.push_back(&folio); };
    for (std::uint64_t i = 0; i < capacity; ++i) ASSERT_EQ(cache.map({i, 100}, 0, keep), Fault::kMapped);
    EXPECT_EQ(use(cache, 9999), Fault::kFull);
    EXPECT_EQ(use(cache, 0), Fault::kMapped) << "what is there can be used";
    EXPECT_EQ(cache.numbers().pins, capacity);
    cache.unpin(*pinned.back());
    EXPECT_EQ(use(cache, 9999), Fault::kMapped) << "the one that is not pinned is found";
    for (std::uint64_t i = 0; i + 1 < capacity; ++i) {
      ASSERT_EQ(pinned[i]->frame->file, i) << "a pinned folio keeps its bytes";
      cache.unpin(*pinned[i]);
    }
    EXPECT_EQ(cache.numbers().folios, capacity);
    EXPECT_EQ(cache.numbers().pins, 0u);
  }
}

TEST_F(PageCacheTest, no_memory_for_frames_is_as_a_smaller_capacity) {
  store_.limit = 10;
  Cache cache = make(1000);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_EQ(use(cache, i), Fault::kMapped);
  EXPECT_EQ(cache.numbers().folios, 10u);
}

TEST_F(PageCacheTest, failed_fills_are_tried_again) {
  Cache cache = make(10);
  store_.fails = true;
  for (std::uint64_t i = 0; i < 20; ++i) EXPECT_EQ(use(cache, 1), Fault::kIoError);
  store_.fails = false;
  EXPECT_EQ(use(cache, 1), Fault::kMapped);
  EXPECT_EQ(cache.numbers().failed_fills, 20u);
  EXPECT_EQ(cache.numbers().folios, 1u);
}

TEST_F(PageCacheTest, a_version_that_is_dropped_is_read_anew) {
  Cache cache = make(100);
  for (std::uint64_t page = 0; page < 20; ++page) ASSERT_EQ(use(cache, 7, page), Fault::kMapped);
  CachedFolio* pinned = nullptr;
  ASSERT_EQ(cache.map({7, 1 << 20}, 3, [&](CachedFolio& folio) { pinned = &folio; }), Fault::kMapped);
  cache.drop(7, 20 * kPageBytes);
  EXPECT_EQ(cache.numbers().fills, 20u);
  for (std::uint64_t page = 0; page < 20; ++page) ASSERT_EQ(use(cache, 7, page), Fault::kMapped);
  EXPECT_EQ(cache.numbers().fills, 40u);
  for (std::uint64_t i = 1000; i < 2000; ++i) ASSERT_EQ(use(cache, i), Fault::kMapped);
  EXPECT_EQ(pinned->frame->index, 3u) << "the old bytes live as long as their pin";
  cache.unpin(*pinned);
}

TEST_F(PageCacheTest, every_page_lock_is_visited) {
  Cache cache = make(100);
  for (std::uint64_t i = 0; i < 300; ++i) ASSERT_EQ(use(cache, i % 120), Fault::kMapped);
  std::set<const void*> locks;
  cache.for_each_page_lock([&](Bounded<RealWorld>& lock) { locks.insert(&lock); });
  EXPECT_EQ(locks.size(), cache.numbers().folios);
}

// 1 TiB of folios of one page.
TEST_F(PageCacheTest, an_empty_cache_is_small) {
  const std::uint64_t before = resident_bytes();
  Cache cache = make(std::uint64_t{1} << 28);
  EXPECT_EQ(use(cache, 1), Fault::kMapped);
  EXPECT_LT(resident_bytes() - before, 4u << 20);
}

}  // namespace
}  // namespace convoy
