// folio.h — A run of pages that is cached, locked and filled as one.
// SPDX-License-Identifier: MIT
//
// State word
//   bit 0 filling     set by who starts to fill it, under the page lock or before the folio is visible; cleared by the
//                     same thread when it publishes. While set, nobody else writes the frame.
//   bit 1 up_to_date  set once, when a fill succeeds; the bytes never change from then on: a pin is enough to read them
//   bit 2 failed      the last fill failed; cleared by who tries again
//   bit 3 waiters     threads may wait for filling to clear; as the page lock's bit of that name (locks/page_lock.h)
//
// Synchronizes-with: F: F1 publish → F0 look at the state (the frame's bytes).
#pragma once

#include <cstdint>

#include "locks/lock_class.h"
#include "locks/world.h"

namespace convoy {

// A folio's place: which version of which file, and which run of pages of it.
struct FolioKey {
  std::uint64_t file = 0;
  std::uint64_t index = 0;
  friend bool operator==(const FolioKey&, const FolioKey&) = default;
};

// The lock, the state and the pins share a line, as the kernel's flags and counts do: who maps a page writes that one
// line.
template <World W, class PageLock, class Frame>
struct alignas(64) Folio {
  static constexpr std::uint32_t kFilling = 1;
  static constexpr std::uint32_t kUpToDate = 2;
  static constexpr std::uint32_t kFailed = 4;
  static constexpr std::uint32_t kWaiters = 8;

  Folio(LockClass<W>& page_class, FolioKey its_key, Frame& its_frame)
      : lock(page_class), key(its_key), frame(&its_frame) {}

  PageLock lock;
  Atomic<W, std::uint32_t> state{kFilling};
  Atomic<W, std::uint32_t> pins{0};
  const FolioKey key;
  Frame* const frame;
  // Guarded by the mapping lock.
  Plain<W, Folio*> next_in_bucket{nullptr};
  // Guarded by the LRU lock.
  Plain<W, Folio*> next_in_list{nullptr};
};

}  // namespace convoy
