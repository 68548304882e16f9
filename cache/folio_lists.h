// folio_lists.h — The active and the inactive list, fed by batches: which folio reclaim looks at next.
// SPDX-License-Identifier: MIT
//
// A new folio enters the inactive list at its young end. One that was used again by the time reclaim looks at it (at
// the old end) is promoted to the active list; one that was used once goes. So a scan over a set larger than the cache,
// which uses each folio once, passes through the inactive list and leaves the active one alone. The active list is kept
// no longer than the inactive one: its old end is demoted, unless it was used again meanwhile. It is aged slowly beside
// that, one folio for every 16 that are looked at for reclaim: so what was hot once goes at last, though what is hot
// now does not fit in the inactive list and is never found used twice there (the kernel's refault distance is for
// that).
//
// A folio reaches the list through a batch that the threads of one slot share, so that the LRU lock is taken once for
// some 15 folios. A folio in a batch is on no list, and reclaim does not see it; when the inactive list runs short, or
// holds nothing that can go, all batches are emptied.
//
// Origin: Linux, mm/vmscan.c and mm/swap.c of 5.8: two lists, second chance, pagevecs of 15. What we changed: lists are
// singly linked queues, since nothing leaves from the middle; use is seen by a bit when reclaim looks, for read() too.
//
// Synchronizes-with: L: L1 add → L0 drain (the folio's link).
#pragma once

#include <cstdint>
#include <memory>

#include "locks/lockable.h"
#include "locks/world.h"

namespace convoy {

// Thread-safe.
template <World W, class CachedFolio, Lockable LruLock>
class FolioLists {
 public:
  // `slots` batches of `batch` folios; threads are spread over the slots. With a batch of 1 there are none.
  FolioLists(LockClass<W>& lru_class, std::uint32_t slots, std::uint32_t batch)
      : lock_(lru_class), slots_(batch > 1 ? slots : 0), batch_(batch), batches_(new Batch[slots_]) {}
  FolioLists(const FolioLists&) = delete;
  FolioLists& operator=(const FolioLists&) = delete;

  // Takes a folio that stands in no list. From now on reclaim may see it.
  void add(CachedFolio& folio) {
    if (slots_ == 0) {
      const Guard<W, LruLock> guard(lock_, kAdd);
      inactive_.append(folio);
      return;
    }
    Batch& mine = batches_[W::self().index % slots_];
    CachedFolio* newest = mine.newest.load(relaxed);  // relaxed: not looked into; L0 is who follows it
    do {
      folio.next_in_list = newest;
    } while (!mine.newest.compare_exchange(newest, &folio, release));  // L1
    if (mine.count.fetch_add(1, relaxed) + 1 < batch_) return;         // relaxed: when to drain is a hint
    const Guard<W, LruLock> guard(lock_, kAdd);
    drain(mine);
  }

  // Takes up to `wanted` folios from the old end of the inactive list, for the caller alone: a chain by next_in_list,
  // null when there is none. `urgent`: what is inactive did not do, so batches are emptied and the active list
  // is demoted however short it is.
  // `scanned` rises by the folios looked at, of either list.
  CachedFolio* isolate(std::uint32_t wanted, bool urgent, std::uint32_t& scanned) {
    const Guard<W, LruLock> guard(lock_, kIsolate);
    if (urgent || inactive_.length < wanted) {
      for (std::uint32_t i = 0; i < slots_; ++i) drain(batches_[i]);
    }
    if (isolated_ >= kAgeEvery && active_.length > 0) {
      isolated_ = 0;
      age_one(scanned);
    }
    const auto too_long = [&] { return urgent ? active_.length > 0 : active_.length > inactive_.length; };
    for (std::uint32_t n = 0; n < wanted && too_long(); ++n) age_one(scanned);
    CachedFolio* chain = nullptr;
    for (std::uint32_t n = 0; n < wanted && inactive_.length > 0; ++n, ++scanned) {
      CachedFolio& folio = inactive_.take();
      folio.next_in_list = chain;
      chain = &folio;
      ++isolated_;
    }
    return chain;
  }

  // Takes back what isolate() gave: to the active list what was used again, to the young end of the inactive list the
  // rest.
  void put_back(CachedFolio* chain) {
    if (chain == nullptr) return;
    const Guard<W, LruLock> guard(lock_, kPutBack);
    while (chain != nullptr) {
      CachedFolio& folio = *chain;
      chain = folio.next_in_list;
      (forget_use(folio) ? active_ : inactive_).append(folio);
    }
  }

 private:
  static constexpr std::uint32_t kAgeEvery = 16;
  static constexpr Site kAdd{"lru_add"};
  static constexpr Site kIsolate{"lru_isolate"};
  static constexpr Site kPutBack{"lru_put_back"};

  // Guarded by the LRU lock.
  struct Queue {
    void append(CachedFolio& folio) {
      folio.next_in_list = nullptr;
      if (CachedFolio* last = newest; last != nullptr) {
        last->next_in_list = &folio;
      } else {
        oldest = &folio;
      }
      newest = &folio;
      length = length + 1;
    }
    // Requires: length > 0.
    CachedFolio& take() {
      CachedFolio& folio = *static_cast<CachedFolio*>(oldest);
      oldest = static_cast<CachedFolio*>(folio.next_in_list);
      length = length - 1;
      if (length == 0) newest = nullptr;
      return folio;
    }
    Plain<W, CachedFolio*> oldest{nullptr};
    Plain<W, CachedFolio*> newest{nullptr};
    Plain<W, std::uint64_t> length{0};
  };

  // A stack that grows by one folio and is emptied as a whole: no folio leaves it alone, so a pointer that was read
  // cannot mean another folio by the time it is compared.
  struct alignas(64) Batch {
    Atomic<W, CachedFolio*> newest{nullptr};
    Atomic<W, std::uint32_t> count{0};
  };

  // Under the LRU lock. Whether the folio was used since the last call; relaxed: a hint.
  static bool forget_use(CachedFolio& folio) {
    if ((folio.state.load(relaxed) & CachedFolio::kReferenced) == 0) return false;
    folio.state.fetch_and(~CachedFolio::kReferenced, relaxed);
    return true;
  }

  // Under the LRU lock. Looks at the oldest active folio: used since the last look, it stays, as the youngest.
  // Requires: there is one.
  void age_one(std::uint32_t& scanned) {
    CachedFolio& folio = active_.take();
    (forget_use(folio) ? active_ : inactive_).append(folio);
    ++scanned;
  }

  // Under the LRU lock.
  void drain(Batch& batch) {
    if (batch.newest.load(relaxed) == nullptr) return;  // relaxed: a look before the exchange, which is dearer
    batch.count.store(0, relaxed);
    CachedFolio* stack = batch.newest.exchange(nullptr, acquire);  // L0
    CachedFolio* oldest_first = nullptr;
    while (stack != nullptr) {
      CachedFolio& folio = *stack;
      stack = folio.next_in_list;
      folio.next_in_list = oldest_first;
      oldest_first = &folio;
    }
    while (oldest_first != nullptr) {
      CachedFolio& folio = *oldest_first;
      oldest_first = folio.next_in_list;
      inactive_.append(folio);
    }
  }

  LruLock lock_;
  const std::uint32_t slots_;
  const std::uint32_t batch_;
  const std::unique_ptr<Batch[]> batches_;
  Queue inactive_;
  Queue active_;
  std::uint32_t isolated_ = 0;  // since the active list was last aged for it; guarded by lock_
};

}  // namespace convoy
