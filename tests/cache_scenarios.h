// cache_scenarios.h — What the page cache is asked to do, with a store whose reads fail by choice.
// SPDX-License-Identifier: MIT
//
// Goal: nobody maps a folio that is not up to date, a failed fill wakes all who wait and is tried again, pins balance.
// Method: two or three threads map, or read, the same page. The frame is Plain data, so bytes seen without F1 → F0 are
// a race.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/page_cache.h"
#include "tests/cells.h"

namespace convoy {

template <Host W>
struct ScenarioFrame {
  Plain<W, std::uint64_t> content{0};
};

// A store of one file whose folio i holds i + 1. Whether a read fails is a choice of the schedule, `failures` times at
// most.
template <Host W>
class FailingStore {
 public:
  struct File {
    std::uint64_t id;
    std::uint64_t size;
  };
  using Frame = ScenarioFrame<W>;

  explicit FailingStore(int failures) : failures_left_(failures) {}
  Frame& frame(std::uint64_t number) { return frames_[number]; }
  bool read(const File&, std::uint64_t index, Frame& frame) {
    frame.content = 0;  // a read in progress: the frame holds neither the old nor the new bytes
    if (failures_left_.load(relaxed) > 0 && W::coin(2) == 1) {
      failures_left_.fetch_sub(1, relaxed);
      W::witness("a fill that failed");
      return false;
    }
    frame.content = index + 1;
    return true;
  }

 private:
  Atomic<W, std::uint32_t> failures_left_;
  Frame frames_[2];
};

template <Host W, class PagePolicy>
class ConcurrentFaults : public Scenario {
  struct Locks {
    using Page = PagePolicy;
    using Mapping = AnyLock<W, PolicyList<Ttas<W>>>;
    using Lru = Ttas<W>;
  };
  using Cache = PageCache<W, Locks, FailingStore<W>>;

 public:
  ConcurrentFaults(ScenarioSize size, int failures) : size_(size), store_(failures) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    for (int round = 0; round < size_.rounds; ++round) {
      typename Cache::CachedFolio* folio = nullptr;
      const Fault fault = thread == 2 ? cache_.read(file_, 0, folio) : cache_.map(file_, 0, folio);
      if (fault == Fault::kMapped) {
        W::require(folio->frame->content == 1, "a mapped folio holds the file's bytes");
        cache_.unpin(*folio);
      } else {
        W::require(fault == Fault::kIoError, "nothing but a failed read refuses the page");
        W::witness("a fault refused");
      }
    }
  }
  void finish() override {
    typename Cache::CachedFolio* folio = nullptr;
    W::require(cache_.map(file_, 0, folio) == Fault::kMapped, "after all failures the page can be mapped");
    W::require(folio->pins.load(relaxed) == 1, "pins balance");
    W::require(!folio->lock.is_locked(), "the page lock is free");
    typename Cache::CachedFolio* none = nullptr;
    W::require(cache_.map(file_, 1, none) == Fault::kPastEnd, "there is no page past the end");
    claim_page_lock_identities<W>(page_);
  }

 private:
  ScenarioSize size_;
  FailingStore<W> store_;
  LockClass<W> page_{"page"};
  LockClass<W> mapping_{"mapping"};
  LockClass<W> lru_{"lru"};
  typename FailingStore<W>::File file_{1, 100};
  Cache cache_{CacheClasses<W>{page_, mapping_, lru_}, store_, 0, 2};
};

template <Host W>
void add_cache_cells(std::vector<Cell>& cells) {
  const auto add = [&]<class P>(const char* name, ScenarioSize size, int failures, std::type_identity<P>) {
    std::vector<std::string> witnesses;
    if (failures > 0) witnesses = {"a fill that failed", "a fault refused"};
    cells.push_back(
        {"cache", name, [=] { return std::make_unique<ConcurrentFaults<W, P>>(size, failures); }, witnesses});
  };
  using std::type_identity;
  add("faults_bounded_2", {2, 1}, 1, type_identity<Bounded<W>>{});
  add("faults_bounded_3", {3, 1}, 0, type_identity<Bounded<W>>{});
  add("faults_barging_2", {2, 2}, 1, type_identity<Barging<W>>{});
  add("faults_handoff_2", {2, 1}, 2, type_identity<Handoff<W>>{});
}

}  // namespace convoy
