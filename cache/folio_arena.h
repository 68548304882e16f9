// folio_arena.h — All folios of a cache: made when they are first needed, used again, never destroyed before the cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

#include "cache/folio.h"
#include "locks/world.h"

namespace convoy {

// Thread-safe. Its spin lock is as the kernel's zone lock: short, and inside of every other lock.
template <World W, class CachedFolio>
class FolioArena {
 public:
  explicit FolioArena(std::uint64_t capacity) : capacity_(capacity) {}
  FolioArena(const FolioArena&) = delete;
  FolioArena& operator=(const FolioArena&) = delete;

  // A folio that only the caller knows, its count frozen: a free one, else a new one in the frame frame_of(number)
  // -> Frame*, of which null means that there is no memory. Null when there is neither.
  template <class FrameOf>
  CachedFolio* take(LockClass<W>& page_class, FrameOf frame_of) {
    const std::lock_guard hold(lock_);
    if (CachedFolio* folio = free_; folio != nullptr) {
      free_ = static_cast<CachedFolio*>(folio->next_in_list);
      return folio;
    }
    if (folios_.size() >= capacity_) return nullptr;
    typename CachedFolio::Frame* const frame = frame_of(folios_.size());
    return frame == nullptr ? nullptr : &folios_.emplace_back(page_class, *frame);
  }

  // Takes back a folio that only the caller knows, its count frozen.
  void give(CachedFolio& folio) {
    const std::lock_guard hold(lock_);
    folio.next_in_list = static_cast<CachedFolio*>(free_);
    free_ = &folio;
  }

  std::uint64_t size() {
    const std::lock_guard hold(lock_);
    return folios_.size();
  }
  std::uint64_t capacity() const { return capacity_; }

  // Requires: nobody takes a folio meanwhile.
  template <class F>
  void for_each(F f) {
    for (CachedFolio& folio : folios_) f(folio);
  }

 private:
  const std::uint64_t capacity_;
  typename W::SpinLock lock_;
  std::deque<CachedFolio> folios_;        // guarded by lock_; only grows, so that a folio stays where it is
  Plain<W, CachedFolio*> free_{nullptr};  // guarded by lock_
};

}  // namespace convoy
