// cache_scenarios.h — What the page cache is asked to do, with a store whose reads fail by choice.
// SPDX-License-Identifier: MIT
//
// Goal: nobody maps a folio that is not up to date, or that has left the index; a pinned folio is neither reclaimed nor
// overwritten; a failed fill wakes all who wait and is tried again; pins and folios balance.
// Method: two or three threads over one or two folios. The frame is Plain data, so bytes seen without F1 → F0, or
// overwritten without P1 → P0, are a race.
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

// What the store has at the moment: files by id, of which replace() gives number 1 other bytes. Whether a read fails is
// a choice of the schedule, `failures` times at most.
template <Host W>
class FailingStore {
 public:
  struct File {
    std::uint64_t id;
    std::uint64_t size;
  };
  using Frame = ScenarioFrame<W>;

  explicit FailingStore(int failures) : failures_left_(failures) {}

  static std::uint64_t content(std::uint64_t id, std::uint64_t index, std::uint32_t generation) {
    return (id == 1 ? generation : 1) * 10000 + id * 100 + index;
  }
  void replace() { generation_.fetch_add(1, relaxed); }
  void fail_no_more() { failures_left_.store(0, relaxed); }

  Frame* frame(std::uint64_t number) { return &frames_[number]; }
  bool read(const File& file, std::uint64_t index, Frame& frame) {
    frame.content = 0;  // a read in progress: the frame holds neither the old nor the new bytes
    if (failures_left_.load(relaxed) > 0 && W::coin(2) == 1) {
      failures_left_.fetch_sub(1, relaxed);
      W::witness("a fill that failed");
      return false;
    }
    frame.content = content(file.id, index, generation_.load(relaxed));
    return true;
  }

 private:
  Atomic<W, std::uint32_t> failures_left_;
  Atomic<W, std::uint32_t> generation_{1};
  Frame frames_[2];
};

template <Host W, class PagePolicy>
struct ScenarioCacheLocks {
  using Page = PagePolicy;
  using Mapping = AnyLock<W, PolicyList<Ttas<W>>>;
  using Lru = Ttas<W>;
};

// A cache of `capacity` folios (1 or 2) of one page each, and what its scenarios share.
template <Host W, class PagePolicy>
class CacheScenario : public Scenario {
 protected:
  using Store = FailingStore<W>;
  using File = typename Store::File;
  using Cache = PageCache<W, ScenarioCacheLocks<W, PagePolicy>, Store>;
  using CachedFolio = typename Cache::CachedFolio;

  CacheScenario(int threads, int failures, std::uint64_t capacity)
      : threads_(threads), store_(failures), cache_({page_, mapping_, lru_}, store_, 0, capacity) {}
  int threads() const override { return threads_; }

  // Maps a page, looks at its bytes as long as it is pinned, and lets it go.
  Fault map_and_look(const File& file, std::uint64_t page, std::uint32_t generation) {
    CachedFolio* folio = nullptr;
    const Fault fault = cache_.map(file, page, [&folio](CachedFolio& mapped) { folio = &mapped; });
    if (fault == Fault::kMapped) look_and_unpin(*folio, Store::content(file.id, page, generation));
    return fault;
  }
  void look_and_unpin(CachedFolio& folio, std::uint64_t content) {
    W::require(folio.frame->content == content, "a mapped folio holds the file's bytes");
    looks_.fetch_add(1, relaxed);  // where others may go on
    W::require(folio.frame->content == content, "and keeps them while it is pinned");
    cache_.unpin(folio);
  }

  // After all threads have ended.
  void claim_balance() {
    store_.fail_no_more();
    const CacheNumbers numbers = cache_.numbers();
    W::require(numbers.pins == 0, "pins balance");
    W::require(numbers.folios <= numbers.capacity, "there are no more folios than the capacity");
    cache_.for_each_page_lock([](PagePolicy& lock) { W::require(!lock.is_locked(), "the page locks are free"); });
    // Every folio can be had again: none is lost, and no reference was forgotten.
    CachedFolio* all[2] = {};
    for (std::uint64_t i = 0; i < numbers.capacity; ++i) {
      const Fault fault = cache_.map({90 + i, 100}, 0, [&](CachedFolio& mapped) { all[i] = &mapped; });
      W::require(fault == Fault::kMapped, "every folio can be used again");
      W::require(all[i]->pins.load(relaxed) == 1, "references balance");
    }
    CachedFolio* none = nullptr;
    W::require(cache_.map({80, 100}, 0, [&](CachedFolio& mapped) { none = &mapped; }) == Fault::kFull,
               "when all are pinned the cache is full");
    for (std::uint64_t i = 0; i < numbers.capacity; ++i) cache_.unpin(*all[i]);
    claim_identities<W>(page_);
  }

  const int threads_;
  Store store_;
  LockClass<W> page_{"page"};
  LockClass<W> mapping_{"mapping"};
  LockClass<W> lru_{"lru"};
  Atomic<W, std::uint32_t> looks_{0};
  Cache cache_;
};

// Threads map, and the third reads, the same page of one file.
template <Host W, class PagePolicy>
class ConcurrentFaults : public CacheScenario<W, PagePolicy> {
  using Base = CacheScenario<W, PagePolicy>;
  using typename Base::CachedFolio;

 public:
  ConcurrentFaults(ScenarioSize size, int failures) : Base(size.threads, failures, 2), rounds_(size.rounds) {}
  void run(int thread) override {
    for (int round = 0; round < rounds_; ++round) {
      CachedFolio* folio = nullptr;
      const auto keep = [&folio](CachedFolio& mapped) { folio = &mapped; };
      const Fault fault = thread == 2 ? this->cache_.read(kFile, 0, keep) : this->cache_.map(kFile, 0, keep);
      if (fault == Fault::kMapped) {
        W::require(folio->frame->content == Base::Store::content(1, 0, 1), "a mapped folio holds the file's bytes");
        this->cache_.unpin(*folio);
      } else {
        W::require(fault == Fault::kIoError, "nothing but a failed read refuses the page");
        W::witness("a fault refused");
      }
    }
  }
  void finish() override {
    this->store_.fail_no_more();
    W::require(this->map_and_look(kFile, 0, 1) == Fault::kMapped, "after all failures the page can be mapped");
    W::require(this->map_and_look(kFile, 1, 1) == Fault::kPastEnd, "there is no page past the end");
    this->claim_balance();
  }

 private:
  static constexpr typename Base::File kFile{1, 100};
  const int rounds_;
};

// Each thread maps one file after the other, and there are fewer folios than files: to fill one is to reclaim another.
// The third thread keeps to the first file, which is then used again and again.
template <Host W, class PagePolicy>
class FaultsAndReclaim : public CacheScenario<W, PagePolicy> {
  using Base = CacheScenario<W, PagePolicy>;

 public:
  FaultsAndReclaim(ScenarioSize size, int failures, std::uint64_t capacity)
      : Base(size.threads, failures, capacity), rounds_(size.rounds) {}
  void run(int thread) override {
    for (int round = 0; round < rounds_; ++round) {
      const std::uint64_t id = thread == 2 ? 0 : static_cast<std::uint64_t>(thread + round);
      switch (this->map_and_look({id, 100}, 0, 1)) {
        case Fault::kMapped:
          break;
        case Fault::kFull:
          W::witness("a full cache");
          break;
        default:
          W::witness("a fault refused");
      }
    }
  }
  void finish() override {
    if (this->cache_.numbers().reclaims > 0) W::witness("a reclaim");
    this->claim_balance();
  }

 private:
  const int rounds_;
};

// Thread 0 maps a file while thread 1 replaces it and drops what is cached of it; the third, if there is one, maps
// another file, so that folios are reclaimed meanwhile.
template <Host W, class PagePolicy>
class FaultsAndReplacement : public CacheScenario<W, PagePolicy> {
  using Base = CacheScenario<W, PagePolicy>;
  using typename Base::CachedFolio;

 public:
  FaultsAndReplacement(int threads, std::uint64_t capacity) : Base(threads, 0, capacity) {}
  void run(int thread) override {
    if (thread == 1) {
      this->store_.replace();
      this->cache_.drop(1, 100);
      dropped_.store(1, release);
    } else if (thread == 0) {
      for (int round = 0; round < (this->threads_ == 2 ? 2 : 1); ++round) map_either();
    } else if (this->map_and_look({2, 100}, 0, 2) == Fault::kFull) {
      W::witness("a full cache");
    }
  }
  void finish() override {
    W::require(this->map_and_look({1, 100}, 0, 2) == Fault::kMapped, "the new bytes are served");
    this->claim_balance();
  }

 private:
  // The old bytes or the new ones; none that were dropped, from the moment on at which drop() had returned.
  void map_either() {
    CachedFolio* folio = nullptr;
    const Fault fault = this->cache_.map({1, 100}, 0, [&](CachedFolio& mapped) {
      folio = &mapped;
      if (dropped_.load(acquire) == 0) return;
      W::require(mapped.frame->content == Base::Store::content(1, 0, 2), "what was dropped is not mapped any more");
      W::witness("a fault after the drop");
    });
    if (fault == Fault::kFull) return;
    W::require(fault == Fault::kMapped, "reads do not fail here");
    const std::uint64_t content = folio->frame->content;
    const bool is_old = content == Base::Store::content(1, 0, 1);
    if (is_old) W::witness("old bytes");
    this->look_and_unpin(*folio, Base::Store::content(1, 0, is_old ? 1 : 2));
  }

  Atomic<W, std::uint32_t> dropped_{0};
};

// The lists alone: two threads add folios through batches, a third takes some away and puts them back.
template <Host W>
class ListsAndBatches : public Scenario {
  using CachedFolio = Folio<W, Ttas<W>, ScenarioFrame<W>>;

 public:
  int threads() const override { return 3; }
  void run(int thread) override {
    if (thread < 2) {
      for (int i = 0; i < 2; ++i) lists_.add(folios_[2 * thread + i]);
      return;
    }
    std::uint32_t scanned = 0;
    CachedFolio* const chain = lists_.isolate(2, false, scanned);
    if (chain != nullptr) W::witness("some were isolated");
    lists_.put_back(chain);
  }
  void finish() override {
    int found = 0;
    for (std::uint32_t scanned = 0, before = 1; scanned != before;) {
      before = scanned;
      CachedFolio* folio = lists_.isolate(3, true, scanned);
      for (; folio != nullptr; folio = folio->next_in_list) ++found;
    }
    W::require(found == 4, "no folio is lost, and none stands in the lists twice");
  }

 private:
  LockClass<W> page_{"page"};
  LockClass<W> lru_{"lru"};
  ScenarioFrame<W> frame_;
  CachedFolio folios_[4] = {{page_, frame_}, {page_, frame_}, {page_, frame_}, {page_, frame_}};
  FolioLists<W, CachedFolio, Ttas<W>> lists_{lru_, 2, 2};
};

template <Host W>
void add_cache_cells(std::vector<Cell>& cells) {
  using std::type_identity;
  using Witnesses = std::vector<std::string>;
  const auto add = [&](const char* name, ScenarioFactory make, Witnesses witnesses) {
    cells.push_back({"cache", name, std::move(make), std::move(witnesses)});
  };
  const auto faults = [&]<class P>(const char* name, ScenarioSize size, int failures, type_identity<P>) {
    add(
        name, [=] { return std::make_unique<ConcurrentFaults<W, P>>(size, failures); },
        failures > 0 ? Witnesses{"a fill that failed", "a fault refused"} : Witnesses{});
  };
  faults("faults_bounded_2", {2, 1}, 1, type_identity<Bounded<W>>{});
  faults("faults_bounded_3", {3, 1}, 0, type_identity<Bounded<W>>{});
  faults("faults_barging_2", {2, 2}, 1, type_identity<Barging<W>>{});
  faults("faults_handoff_2", {2, 1}, 2, type_identity<Handoff<W>>{});
  const auto reclaim = [&]<class P>(const char* name, ScenarioSize size, int failures, std::uint64_t capacity,
                                    type_identity<P>, Witnesses witnesses) {
    add(
        name, [=] { return std::make_unique<FaultsAndReclaim<W, P>>(size, failures, capacity); }, witnesses);
  };
  // A cell of a million schedules is raised bound by bound: all of one and two preemptions, the first ones of three.
  const auto stop_early = [&] { cells.back().max_schedules = 100'000; };
  reclaim("reclaim_one_folio_2", {2, 2}, 0, 1, type_identity<Bounded<W>>{}, {"a reclaim", "a full cache"});
  stop_early();
  reclaim("reclaim_fills_fail_2", {2, 1}, 1, 1, type_identity<Handoff<W>>{}, {"a reclaim", "a fill that failed"});
  reclaim("reclaim_two_folios_2", {2, 2}, 0, 2, type_identity<Barging<W>>{}, {"a reclaim"});
  reclaim("reclaim_two_folios_3", {3, 1}, 0, 2, type_identity<Bounded<W>>{}, {});
  stop_early();
  const auto replacement = [&]<class P>(const char* name, int threads, std::uint64_t capacity, type_identity<P>,
                                        Witnesses witnesses) {
    add(
        name, [=] { return std::make_unique<FaultsAndReplacement<W, P>>(threads, capacity); }, witnesses);
  };
  replacement("replace_2", 2, 2, type_identity<Bounded<W>>{}, {"a fault after the drop", "old bytes"});
  replacement("replace_and_reclaim_3", 3, 1, type_identity<Bounded<W>>{}, {});
  stop_early();
  add("lists_and_batches", [] { return std::make_unique<ListsAndBatches<W>>(); }, {"some were isolated"});
}

}  // namespace convoy
