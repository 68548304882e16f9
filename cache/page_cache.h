// page_cache.h — The page cache: files' bytes in folios, mapped page by page under the page lock.
// SPDX-License-Identifier: MIT
//
// It follows the kernel's shape, because the story is about that shape: a fault finds the folio under the mapping lock,
// takes the page lock, checks the folio, pins it, and lets go. One source for the server (swappable locks, pread), the
// explorer (a store that fails by choice) and the simulated machine.
//
//   map:   find or create the folio, with a reference            mapping lock, shared or exclusive
//          take the page lock; a first contended pass lets it go at once and starts over (see fault())
//          up to date → pin, unlock;  else fill it, or wait until who fills it has
//   fill:  filling is set; read with no lock held; publish under the page lock; wake who waits
//
// What happens under the page lock is what the kernel's fault does there and no more: check that the folio is up to
// date, pin it. It is never held across file I/O. Bytes are sent from pinned folios, without any lock.
//
// Lock order: page → mapping → LRU → wait queues. No two page locks are held at once here.
// Origin: Linux, mm/filemap.c, filemap_fault() and filemap_map_pages() of 5.8 to 5.9. What we changed: the kernel holds
// the page lock across a read of the page; here a bit stands for it, so that a request that holds the lock never waits
// for the disk.
//
// Not yet: folios are never reclaimed. A cache that is full refuses new folios (Fault::kFull).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "cache/folio.h"
#include "locks/lockable.h"
#include "locks/wait_table.h"
#include "locks/world.h"

namespace convoy {

inline constexpr std::uint64_t kPageBytes = 4096;

// Where bytes come from and where they stand.
//   File                     what a read needs to know; `file.id` names one version of one file, `file.size` its bytes
//   Frame                    room for the bytes of one folio
//   frame(number)            the frame of the folio of that number, 0 to capacity - 1; the same one each time
//   read(file, index, frame) fills the frame with folio `index` of the file; blocks; false when it failed or was short
template <class S>
concept BackingStore = requires(S store, const typename S::File& file, typename S::Frame& frame, std::uint64_t n) {
  { file.id } -> std::convertible_to<std::uint64_t>;
  { file.size } -> std::convertible_to<std::uint64_t>;
  { store.frame(n) } -> std::same_as<typename S::Frame&>;
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
  kFull,     // every folio is in use
};

template <Host W, CacheLocks Locks, BackingStore Store>
class PageCache {
 public:
  using File = typename Store::File;
  using Frame = typename Store::Frame;
  using CachedFolio = Folio<W, typename Locks::Page, Frame>;

  // Folios of 2^order pages, at most `capacity` of them.
  PageCache(const CacheClasses<W>& classes, Store& store, unsigned order, std::uint64_t capacity)
      : classes_(classes),
        store_(store),
        order_(order),
        capacity_(capacity),
        bucket_count_(power_of_two(capacity)),
        buckets_(new Plain<W, CachedFolio*>[bucket_count_]) {}
  PageCache(const PageCache&) = delete;
  PageCache& operator=(const PageCache&) = delete;

  // Maps page `page` of the file: on kMapped, `folio` holds it, up to date and pinned; unpin() it when its bytes are no
  // longer needed. Thread-safe; may sleep on locks and read the file.
  Fault map(const File& file, std::uint64_t page, CachedFolio*& folio) {
    return with_folio(file, page, folio, [this](CachedFolio& found) { return fault(found); });
  }

  // The same without the page lock, as read() of a page that is up to date: a look and a pin.
  Fault read(const File& file, std::uint64_t page, CachedFolio*& folio) {
    return with_folio(file, page, folio, [](CachedFolio& found) {
      const std::uint32_t state = found.state.load(acquire);  // F0
      if ((state & CachedFolio::kUpToDate) != 0) found.pins.fetch_add(1, relaxed);
      return state;
    });
  }

  void unpin(CachedFolio& folio) { folio.pins.fetch_sub(1, release); }

  // Which page of a folio a page of a file is.
  std::uint64_t page_in_folio(std::uint64_t page) const { return page & ((std::uint64_t{1} << order_) - 1); }
  std::uint64_t folio_bytes() const { return kPageBytes << order_; }

 private:
  static constexpr Site kFind{"cache_find"};
  static constexpr Site kInsert{"cache_insert"};
  static constexpr Site kListAdd{"lru_add"};
  static constexpr Site kFaultTry{"page_fault_try"};
  static constexpr Site kFaultWait{"page_fault_wait"};
  static constexpr Site kFaultMap{"page_fault_map"};
  static constexpr Site kFillStart{"page_fill_start"};
  static constexpr Site kFillPublish{"page_fill_publish"};

  static std::size_t power_of_two(std::uint64_t at_least) {
    std::size_t n = 1;
    while (n < at_least) n *= 2;
    return n;
  }

  // Looks at the folio with `look`, which pins it when it is up to date and returns its state; else fills it or awaits
  // who does.
  template <class Look>
  Fault with_folio(const File& file, std::uint64_t page, CachedFolio*& folio, Look look) {
    if (page * kPageBytes >= file.size) return Fault::kPastEnd;
    bool created = false;
    CachedFolio* const found = find_or_create(FolioKey{file.id, page >> order_}, created);
    if (found == nullptr) return Fault::kFull;
    Fault result = Fault::kMapped;
    bool is_filler = created;
    for (;;) {
      if (is_filler && !fill(file, *found)) {
        result = Fault::kIoError;
        break;
      }
      const std::uint32_t state = look(*found);
      if ((state & CachedFolio::kUpToDate) != 0) break;
      is_filler = (state & CachedFolio::kFilling) == 0 && start_fill(*found);
      if (!is_filler && !await_fill(*found)) {
        result = Fault::kIoError;
        break;
      }
    }
    unpin(*found);  // the reference of find_or_create; a mapped folio has a pin of its own
    folio = found;
    return result;
  }

  // The page-fault path. Like the kernel's: a fault that finds the page locked waits for it without the mapping's lock,
  // and must then start over, since the mapping may have changed meanwhile; only the second pass keeps the lock it
  // waited for. So one contended fault takes the page lock twice.
  std::uint32_t fault(CachedFolio& folio) {
    if (const TryGuard<W, typename Locks::Page> guard(folio.lock, kFaultTry); guard) return pin_if_up_to_date(folio);
    { const Guard<W, typename Locks::Page> wait(folio.lock, kFaultWait); }
    const Guard<W, typename Locks::Page> guard(folio.lock, kFaultMap);
    return pin_if_up_to_date(folio);
  }

  // Under the page lock.
  std::uint32_t pin_if_up_to_date(CachedFolio& folio) {
    const std::uint32_t state = folio.state.load(acquire);  // F0
    if ((state & CachedFolio::kUpToDate) != 0) folio.pins.fetch_add(1, relaxed);
    return state;
  }

  // The folio of the key with a reference, or null when the cache is full. `created`: it is new, and the caller must
  // fill it.
  CachedFolio* find_or_create(const FolioKey& key, bool& created) {
    Plain<W, CachedFolio*>& bucket = bucket_of(key);
    {
      const SharedGuard<W, typename Locks::Mapping> guard(mapping_lock_, kFind);
      if (CachedFolio* folio = find(bucket, key); folio != nullptr) return folio;
    }
    CachedFolio* folio = nullptr;
    {
      const Guard<W, typename Locks::Mapping> guard(mapping_lock_, kInsert);
      if (folio = find(bucket, key); folio != nullptr) return folio;
      if (folios_.size() >= capacity_) return nullptr;
      folio = &folios_.emplace_back(classes_.page, key, store_.frame(folios_.size()));
      folio->pins.fetch_add(1, relaxed);
      folio->next_in_bucket = static_cast<CachedFolio*>(bucket);
      bucket = folio;
    }
    created = true;
    const Guard<W, typename Locks::Lru> guard(lru_lock_, kListAdd);
    folio->next_in_list = static_cast<CachedFolio*>(inactive_);
    inactive_ = folio;
    return folio;
  }

  // Under the mapping lock, so that a folio cannot leave the index between the look and the reference.
  CachedFolio* find(const Plain<W, CachedFolio*>& bucket, const FolioKey& key) {
    for (CachedFolio* folio = bucket; folio != nullptr; folio = folio->next_in_bucket) {
      if (folio->key == key) {
        folio->pins.fetch_add(1, relaxed);
        return folio;
      }
    }
    return nullptr;
  }

  Plain<W, CachedFolio*>& bucket_of(const FolioKey& key) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
    return buckets_[((key.file * kGolden + key.index) * kGolden >> 32) & (bucket_count_ - 1)];
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
  bool fill(const File& file, CachedFolio& folio) {
    const bool ok = store_.read(file, folio.key.index, *folio.frame);
    const std::uint32_t outcome = ok ? CachedFolio::kUpToDate : CachedFolio::kFailed;
    std::uint32_t old = 0;
    {
      const Guard<W, typename Locks::Page> guard(folio.lock, kFillPublish);
      old = folio.state.fetch_add(outcome - CachedFolio::kFilling,
                                  release);  // F1: filling off and the outcome on, at once
    }
    if ((old & CachedFolio::kWaiters) != 0) wake_all<W>(classes_.page.wait_table(), folio.state, CachedFolio::kWaiters);
    return ok;
  }

  // Waits until nobody fills the folio; false when its last fill failed.
  bool await_fill(CachedFolio& folio) {
    wait_for_clear<W>(classes_.page.wait_table(), folio.state, CachedFolio::kFilling, CachedFolio::kWaiters);
    return (folio.state.load(acquire) & CachedFolio::kFailed) == 0;  // F0
  }

  CacheClasses<W> classes_;
  Store& store_;
  const unsigned order_;
  const std::uint64_t capacity_;
  const std::size_t bucket_count_;

  typename Locks::Mapping mapping_lock_{classes_.mapping};
  std::unique_ptr<Plain<W, CachedFolio*>[]> buckets_;  // guarded by mapping_lock_
  std::deque<CachedFolio> folios_;                     // guarded by mapping_lock_; only grows

  typename Locks::Lru lru_lock_{classes_.lru};
  Plain<W, CachedFolio*> inactive_{nullptr};  // guarded by lru_lock_
};

}  // namespace convoy
