// page_cache.h — The page cache: files' bytes in folios, mapped page by page under the page lock.
// SPDX-License-Identifier: MIT
//
// It follows the kernel's shape, because the story is about that shape: a fault finds the folio under the mapping lock,
// takes the page lock, checks the folio, pins it, and lets go. One source for the server (swappable locks, pread), the
// explorer (a store that fails by choice) and the simulated machine.
//
//   map:     find or create the folio, with a reference            mapping lock, shared or exclusive
//            take the page lock; a first contended pass lets it go at once and starts over (see fault())
//            gone from the index → start over; up to date → pin, gather, unlock; else fill it, or wait until who fills
//            it has
//   fill:    filling is set; read with no lock held; publish under the page lock; wake who waits
//   reclaim: when no folio is free and there are `capacity` of them: isolate the oldest (LRU lock), and for each that
//            was not used again try the page lock, freeze the pin count at 0 and remove it from the index (mapping
//            lock, exclusive). Never waits for a page lock. When all are pinned the fault fails.
//   drop:    a version of a file that is no more: its folios leave the index (page lock, mapping lock) and can be used
//            again once reclaim meets them unpinned
//
// What happens under the page lock is what the kernel's fault does there and no more: check that the folio still
// belongs to its mapping and is up to date, pin it, append the page to the request's list. That the page is inside the
// file was checked before: a file here is one version of it, whose size never changes. The lock is never held across
// file I/O. Bytes are sent from pinned folios, without any lock.
//
// Lock order: page → mapping → LRU → wait queues, arena. No two page locks are held at once here.
// Origin: Linux, mm/filemap.c, filemap_fault() and filemap_map_pages(), and mm/vmscan.c of 5.8 to 5.9. What we changed:
// the kernel holds the page lock across a read of the page; here a bit stands for it, so that a request that holds the
// lock never waits for the disk. And a reference is taken under the mapping lock, not speculatively: so the count that
// reclaim freezes, with that lock held, cannot rise.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cache/cache_numbers.h"
#include "cache/folio.h"
#include "cache/folio_arena.h"
#include "cache/folio_index.h"
#include "cache/folio_lists.h"
#include "cache/in_hand.h"
#include "locks/lockable.h"
#include "locks/wait_table.h"
#include "locks/world.h"

namespace convoy {

inline constexpr std::uint64_t kPageBytes = 4096;

// Where bytes come from and where they stand.
//   File                     what a read needs to know; `file.id` names one version of one file, `file.size` its bytes
//   Frame                    room for the bytes of one folio
//   frame(number)            the frame of the folio of that number, 0 to capacity - 1; null when there is no memory for
//                            it now. Called by one thread at a time, in rising order, a number again after a null
//   read(file, index, frame) fills the frame with folio `index` of the file; blocks; false when it failed, was short,
//                            or when the file is no longer this version
template <class S>
concept BackingStore = requires(S store, const typename S::File& file, typename S::Frame& frame, std::uint64_t n) {
  { file.id } -> std::convertible_to<std::uint64_t>;
  { file.size } -> std::convertible_to<std::uint64_t>;
  { store.frame(n) } -> std::same_as<typename S::Frame*>;
  { store.read(file, n, frame) } -> std::same_as<bool>;
};

// The three locks are types: swappable ones in the server, one fixed policy in a test or a simulated run.
template <class L>
concept CacheLocks = Lockable<typename L::Page> && SharedLockable<typename L::Mapping> && Lockable<typename L::Lru>;

// One class per lock, made by who owns the cache.
template <World W>
struct CacheClasses {
  LockClass<W>& page;
  LockClass<W>& mapping;
  LockClass<W>& lru;
};

enum class Fault : std::uint8_t {
  kMapped,
  kPastEnd,  // the page begins at or after the end of the file
  kIoError,  // the bytes could not be read; the next try reads again
  kFull,     // every folio is in use at this moment
};

template <Host W, CacheLocks Locks, BackingStore Store>
class PageCache {
 public:
  using File = typename Store::File;
  using Frame = typename Store::Frame;
  using CachedFolio = Folio<W, typename Locks::Page, Frame>;

  // Folios of 2^order pages, at most `capacity` of them (1 or more). An empty cache is small, whatever its capacity.
  PageCache(const CacheClasses<W>& classes, Store& store, unsigned order, std::uint64_t capacity)
      : classes_(classes),
        store_(store),
        order_(order),
        arena_(capacity),
        index_(capacity),
        lists_(classes.lru, kBatches, share_of(capacity, 4 * kBatches, kBatch)),
        reclaim_batch_(share_of(capacity, 64, kReclaimBatch)) {}
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Maps page `page` of the file: on kMapped, gather(folio) was called once, under the page lock, with the folio that
  // holds it, up to date and pinned; unpin() it when its bytes are no longer needed. Thread-safe; may sleep on locks
  // and read the file.
  template <class Gather>
  Fault map(const File& file, std::uint64_t page, Gather gather) {
    return with_folio(file, page, [&](CachedFolio& folio) { return fault(folio, gather); });
  }

  // The same without the page lock, as read() of a page that is up to date: a look and a pin.
  template <class Gather>
  Fault read(const File& file, std::uint64_t page, Gather gather) {
    return with_folio(file, page, [&](CachedFolio& folio) { return pin_if_usable(folio, gather); });
  }

  // Ends a pin that map() or read() gave. Thread-safe; takes no lock.
  void unpin(CachedFolio& folio) {
    counters_.add(CacheEvent::kUnpin);
    put(folio);
  }

  // The version of a file that has this id and size is no more: its folios leave the index, the first kMaxDrop of them;
  // the rest go when they are cold. Once this returns, no fault maps one that left. Thread-safe; may sleep on locks.
  void drop(std::uint64_t file_id, std::uint64_t size) {
    const std::uint64_t folios = std::min<std::uint64_t>((size + folio_bytes() - 1) / folio_bytes(), kMaxDrop);
    for (std::uint64_t index = 0; index < folios; ++index) drop_folio(FolioKey{file_id, index});
  }

  // Calls f(lock) for the page lock of every folio there is. Requires: no thread is inside this cache, pins apart.
  template <class F>
  void for_each_page_lock(F f) {
    arena_.for_each([&f](CachedFolio& folio) { f(folio.lock); });
  }

  // Thread-safe; exact while no thread is inside the cache.
  CacheNumbers numbers() {
    CacheNumbers numbers = counters_.numbers();
    numbers.folios = arena_.size();
    numbers.capacity = arena_.capacity();
    return numbers;
  }

  // Which page of a folio a page of a file is.
  std::uint64_t page_in_folio(std::uint64_t page) const { return page & ((std::uint64_t{1} << order_) - 1); }
  std::uint64_t folio_bytes() const { return kPageBytes << order_; }

 private:
  static constexpr Site kFind{"mapping_find"};
  static constexpr Site kInsert{"mapping_insert"};
  static constexpr Site kRemove{"mapping_remove"};
  static constexpr Site kFaultTry{"page_fault_try"};
  static constexpr Site kFaultWait{"page_fault_wait"};
  static constexpr Site kFaultMap{"page_fault_map"};
  static constexpr Site kFillStart{"page_fill_start"};
  static constexpr Site kFillRead{"page_fill_read"};
  static constexpr Site kFillPublish{"page_fill_publish"};
  static constexpr Site kFillAwait{"page_fill_await"};
  static constexpr Site kReclaimTry{"page_reclaim_try"};
  static constexpr Site kDrop{"page_drop"};

  // The kernel's pagevec holds 15. Folios in batches are at most a quarter of the capacity.
  static constexpr std::uint32_t kBatches = 64;
  static constexpr std::uint32_t kBatch = 15;
  // Folios isolated at a time: enough for the LRU lock to be rare (the kernel's SWAP_CLUSTER_MAX is 32 pages).
  static constexpr std::uint32_t kReclaimBatch = 16;
  // Folios that one allocation looks at before it gives up: about a millisecond's worth.
  static constexpr std::uint64_t kMaxScan = 16384;
  // Tries of a fault to get a folio while other threads have some in hand.
  static constexpr int kTries = 2;
  static constexpr std::uint64_t kMaxDrop = 65536;

  static std::uint32_t share_of(std::uint64_t capacity, std::uint64_t divisor, std::uint32_t at_most) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(capacity / divisor, 1, at_most));
  }

  static bool has(std::uint32_t state, std::uint32_t bits) { return (state & bits) == bits; }
  static constexpr std::uint32_t kUsable = CachedFolio::kIndexed | CachedFolio::kUpToDate;

  // Looks at the folio with `look`, which pins it when it is usable and returns its state; else fills it or awaits who
  // does.
  template <class Look>
  Fault with_folio(const File& file, std::uint64_t page, Look look) {
    if (page * kPageBytes >= file.size) return Fault::kPastEnd;
    for (;;) {
      bool created = false;
      CachedFolio* const folio = find_or_create(FolioKey{file.id, page >> order_}, created);
      if (folio == nullptr) return Fault::kFull;
      const std::optional<Fault> result = look_or_fill(file, page, *folio, created, look);
      put(*folio);  // the reference of find_or_create; a mapped folio has a pin of its own
      if (result) return *result;
    }
  }

  // Nothing when the folio has left the index. Requires: a reference.
  template <class Look>
  std::optional<Fault> look_or_fill(const File& file, std::uint64_t page, CachedFolio& folio, bool created, Look look) {
    bool is_filler = created;
    for (bool first = !created;; first = false) {
      if (is_filler && !fill(file, page >> order_, folio)) return Fault::kIoError;
      const std::uint32_t state = look(folio);
      if (has(state, kUsable)) {
        counters_.add(first ? CacheEvent::kHit : CacheEvent::kMiss);
        if (!created && page_in_folio(page) == 0) note_use(folio, state);
        return Fault::kMapped;
      }
      if (!has(state, CachedFolio::kIndexed)) return std::nullopt;
      is_filler = !has(state, CachedFolio::kFilling) && start_fill(folio);
      if (!is_filler && !await_fill(folio)) return Fault::kIoError;
    }
  }

  // A request takes the pages of a file one after the other, and that is one use of a folio: the first page counts.
  static void note_use(CachedFolio& folio, std::uint32_t state) {
    if (!has(state, CachedFolio::kReferenced)) folio.state.fetch_or(CachedFolio::kReferenced, relaxed);
  }

  // The page-fault path. Like the kernel's: a fault that finds the page locked waits for it without the mapping's lock,
  // and must then start over, since the mapping may have changed meanwhile; only the second pass keeps the lock it
  // waited for. So one contended fault takes the page lock twice.
  template <class Gather>
  std::uint32_t fault(CachedFolio& folio, Gather& gather) {
    if (const TryGuard<W, typename Locks::Page> guard(folio.lock, kFaultTry); guard)
      return pin_if_usable(folio, gather);
    { const Guard<W, typename Locks::Page> wait(folio.lock, kFaultWait); }
    const Guard<W, typename Locks::Page> guard(folio.lock, kFaultMap);
    return pin_if_usable(folio, gather);
  }

  // Under the page lock, or not: see map() and read(). With a reference the key cannot change, so that one look tells
  // whether the folio still belongs to its mapping.
  template <class Gather>
  std::uint32_t pin_if_usable(CachedFolio& folio, Gather& gather) {
    const std::uint32_t state = folio.state.load(acquire);  // F0
    if (has(state, kUsable)) {
      folio.pins.fetch_add(1, relaxed);  // relaxed, as any count above a reference
      gather(folio);
    }
    return state;
  }

  void put(CachedFolio& folio) { folio.pins.fetch_sub(1, release); }  // P1

  // The folio of the key with a reference, or null when none can be had. `created`: it is new, and the caller must fill
  // it.
  CachedFolio* find_or_create(const FolioKey& key, bool& created) {
    for (int tries = 0; tries < kTries; ++tries) {
      if (CachedFolio* const folio = find(key); folio != nullptr) return folio;
      InHand<W> in_hand(in_hand_);
      if (CachedFolio* const fresh = allocate(); fresh != nullptr) return insert(key, *fresh, created);
      if (!in_hand.await_others()) return nullptr;
    }
    return nullptr;
  }

  // Null when it is not there, else with a reference: taken under the mapping lock, so that a folio cannot leave the
  // index between the look and the reference.
  CachedFolio* find(const FolioKey& key) {
    const SharedGuard<W, typename Locks::Mapping> guard(mapping_lock_, kFind);
    return with_reference(index_.find(key));
  }
  // Under the mapping lock. Relaxed: that lock orders the reference before a freeze.
  static CachedFolio* with_reference(CachedFolio* folio) {
    if (folio != nullptr) folio->pins.fetch_add(1, relaxed);
    return folio;
  }

  // Puts the frozen folio `fresh` into the index, or back into the arena when another thread was faster.
  CachedFolio* insert(const FolioKey& key, CachedFolio& fresh, bool& created) {
    fresh.key = key;
    // Relaxed: the mapping lock publishes both.
    fresh.state.store(CachedFolio::kFilling | CachedFolio::kIndexed, relaxed);
    {
      const Guard<W, typename Locks::Mapping> guard(mapping_lock_, kInsert);
      if (CachedFolio* const folio = with_reference(index_.find(key)); folio != nullptr) {
        arena_.give(fresh);
        return folio;
      }
      fresh.pins.store(1, relaxed);
      index_.insert(fresh);
    }
    lists_.add(fresh);
    created = true;
    return &fresh;
  }

  // A folio that nobody else knows, its count frozen: a free or a new one, else one that is reclaimed. Null when there
  // is none.
  CachedFolio* allocate() {
    // Twice over the inactive list; then, if need be, as often over the active one as it takes to demote and free one.
    const std::uint64_t limit = std::min<std::uint64_t>(8 * arena_.capacity(), kMaxScan);
    for (std::uint32_t scanned = 0, before = ~0u;;) {
      CachedFolio* const folio = arena_.take(classes_.page, [this](std::uint64_t n) { return store_.frame(n); });
      if (folio != nullptr || scanned == before || scanned > limit) return folio;
      before = scanned;
      reclaim(scanned > limit / 4, scanned);
    }
  }

  void reclaim(bool urgent, std::uint32_t& scanned) {
    CachedFolio* chain = lists_.isolate(reclaim_batch_, urgent, scanned);
    CachedFolio* kept = nullptr;
    while (chain != nullptr) {
      CachedFolio& folio = *chain;
      chain = folio.next_in_list;
      if (try_to_free(folio)) {
        counters_.add(CacheEvent::kReclaim);
        arena_.give(folio);
      } else {
        folio.next_in_list = kept;
        kept = &folio;
      }
    }
    lists_.put_back(kept);
  }

  // Requires: this thread has isolated the folio, so that nobody else frees it.
  bool try_to_free(CachedFolio& folio) {
    // Relaxed: looks that save the locks; the freeze decides.
    const std::uint32_t state = folio.state.load(relaxed);
    if (has(state, CachedFolio::kIndexed | CachedFolio::kReferenced) || folio.pins.load(relaxed) != 0) return false;
    const TryGuard<W, typename Locks::Page> page(folio.lock, kReclaimTry);
    if (!page) return false;
    const Guard<W, typename Locks::Mapping> mapping(mapping_lock_, kRemove);
    std::uint32_t unpinned = 0;
    if (!folio.pins.compare_exchange(unpinned, CachedFolio::kFrozen, acquire)) return false;  // P0
    leave_index(folio);
    return true;
  }

  void drop_folio(const FolioKey& key) {
    CachedFolio* const folio = find(key);
    if (folio == nullptr) return;
    {
      const Guard<W, typename Locks::Page> page(folio->lock, kDrop);
      const Guard<W, typename Locks::Mapping> mapping(mapping_lock_, kRemove);
      leave_index(*folio);
    }
    put(*folio);
  }

  // Under the page lock and the mapping lock. Relaxed: either lock orders it for who looks under one.
  void leave_index(CachedFolio& folio) {
    if (has(folio.state.fetch_and(~CachedFolio::kIndexed, relaxed), CachedFolio::kIndexed)) index_.remove(folio);
  }

  // True when this thread is now the one that fills it.
  bool start_fill(CachedFolio& folio) {
    const Guard<W, typename Locks::Page> guard(folio.lock, kFillStart);
    const std::uint32_t state = folio.state.load(relaxed);  // relaxed: only who holds the page lock sets filling
    if ((state & (CachedFolio::kUpToDate | CachedFolio::kFilling)) != 0) return false;
    folio.state.fetch_and(~CachedFolio::kFailed, relaxed);
    folio.state.fetch_or(CachedFolio::kFilling, relaxed);
    return true;
  }

  // Requires: this thread set filling.
  bool fill(const File& file, std::uint64_t index, CachedFolio& folio) {
    W::at(kFillRead);  // no lock, but a wait that may be long
    const bool ok = store_.read(file, index, *folio.frame);
    const std::uint32_t outcome = ok ? CachedFolio::kUpToDate : CachedFolio::kFailed;
    std::uint32_t old = 0;
    {
      const Guard<W, typename Locks::Page> guard(folio.lock, kFillPublish);
      old = folio.state.fetch_add(outcome - CachedFolio::kFilling,
                                  release);  // F1, W1: filling off and the outcome on, at once
    }
    if ((old & CachedFolio::kWaiters) != 0) wake_all<W>(classes_.page.wait_table(), folio.state, CachedFolio::kWaiters);
    counters_.add(ok ? CacheEvent::kFill : CacheEvent::kFailedFill);
    return ok;
  }

  // Waits until nobody fills the folio; false when its last fill failed.
  bool await_fill(CachedFolio& folio) {
    W::at(kFillAwait);
    wait_for_clear<W>(classes_.page.wait_table(), folio.state, CachedFolio::kFilling, CachedFolio::kWaiters);
    return (folio.state.load(acquire) & CachedFolio::kFailed) == 0;  // F0
  }

  CacheClasses<W> classes_;
  Store& store_;
  const unsigned order_;
  FolioArena<W, CachedFolio> arena_;

  typename Locks::Mapping mapping_lock_{classes_.mapping};
  FolioIndex<W, CachedFolio> index_;  // guarded by mapping_lock_
  FolioLists<W, CachedFolio, typename Locks::Lru> lists_;
  const std::uint32_t reclaim_batch_;

  alignas(64) Atomic<W, std::uint32_t> in_hand_{0};  // see in_hand.h
  CacheCounters<W> counters_;
};

}  // namespace convoy
