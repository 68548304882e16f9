// folio.h — A run of pages that is cached, locked and filled as one.
// SPDX-License-Identifier: MIT
//
// State word
//   bit 0 filling     set by who starts to fill it, under the page lock or before the folio is visible; cleared by the
//                     same thread when it publishes. While set, nobody else writes the frame.
//   bit 1 up_to_date  set once, when a fill succeeds; the bytes never change from then on: a pin is enough to read them
//   bit 2 failed      the last fill failed; cleared by who tries again
//   bit 3 waiters     threads may wait for filling to clear; as the page lock's bit of that name (locks/page_lock.h)
//   bit 4 indexed     it belongs to its mapping: a look-up finds it. Set before the folio is visible; cleared once,
//                     under the page lock and the mapping lock held exclusively. So it is stable under either.
//   bit 5 referenced  used again since its fill, or since reclaim last looked. Set by users, cleared under the LRU
//                     lock; may be lost or late: a hint for reclaim, as the kernel's bit of that name.
//
// Life: a folio is never destroyed while its cache lives. Reclaim freezes the pin count at 0, takes the folio out of
// the index, and whoever gets it next gives it another key. Who has a reference therefore has a stable key; who has
// none may not look at all. The lock stays in place and is never destroyed, so it does not matter whether an unlock()
// of it is still under way (page_lock.h): but none is, because who unlocks has a reference until afterwards.
//
// Synchronizes-with
//   F: F1 publish → F0 look at the state (the frame's bytes)
//   P: P1 unpin → P0 freeze (the bytes were read before the frame is filled with others)
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
// line. What a look-up reads stands in it too.
template <World W, class PageLock, class FrameType>
struct alignas(64) Folio {
  using Lock = PageLock;
  using Frame = FrameType;

  static constexpr std::uint32_t kFilling = 1;
  static constexpr std::uint32_t kUpToDate = 2;
  static constexpr std::uint32_t kFailed = 4;
  static constexpr std::uint32_t kWaiters = 8;
  static constexpr std::uint32_t kIndexed = 16;
  static constexpr std::uint32_t kReferenced = 32;

  // A count of pins that means: nobody may take one. More than can be taken otherwise.
  static constexpr std::uint32_t kFrozen = 1u << 31;

  Folio(LockClass<W>& page_class, Frame& its_frame) : lock(page_class), frame(&its_frame) {}

  PageLock lock;
  Atomic<W, std::uint32_t> state{0};
  Atomic<W, std::uint32_t> pins{kFrozen};  // references and pins: both keep the folio and its bytes as they are
  Frame* const frame;
  // Written by the owner of a frozen folio, read under the mapping lock or with a reference.
  Plain<W, FolioKey> key;
  // Guarded by the mapping lock.
  Plain<W, Folio*> next_in_bucket{nullptr};
  // Guarded by the lock of the list or chain that it stands in; the thread's own while it stands in none.
  Plain<W, Folio*> next_in_list{nullptr};
};

}  // namespace convoy
