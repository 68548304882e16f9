// in_hand.h — Whether other threads have folios in hand: a full cache is then perhaps not full in a moment.
// SPDX-License-Identifier: MIT
//
// A folio on its way from the arena or a list into the index is seen by nobody. Without this, a thousand faults on one
// new file in a cache of a few folios would fail, though one folio is enough for them all.
//
// Word: bits 0 to 15 threads that have folios in hand (a world has fewer threads than that); bits 16 to 31 how often
// one was done, modulo 2^16.
#pragma once

#include <cstdint>

#include "locks/world.h"

namespace convoy {

// While it lives, or until await_others(), its thread may have folios that are in no list and not yet in the index.
template <World W>
class InHand {
 public:
  explicit InHand(Atomic<W, std::uint32_t>& word) : word_(word), before_(word.fetch_add(1, relaxed)) {}
  ~InHand() {
    if (!done_) done();
  }
  InHand(const InHand&) = delete;
  InHand& operator=(const InHand&) = delete;

  // Ends it. Returns false when no other thread had folios in hand since the constructor; else waits until one of those
  // that still have is done. They wait for short locks only, never for a page lock or the disk.
  // Requires: the thread has no folio in hand.
  bool await_others() {
    const std::uint32_t now = done();
    const bool others = (now & kThreads) != 0;
    if (others) W::await(word_, relaxed, [now](std::uint32_t word) { return word != now; });
    return others || now != before_ + kDone + 1;
  }

 private:
  static constexpr std::uint32_t kThreads = 0xFFFF;
  static constexpr std::uint32_t kDone = 0xFFFF;  // one thread less, one more that was done

  // Relaxed throughout: only hints come of it; folios pass between threads through locks.
  std::uint32_t done() {
    done_ = true;
    return word_.fetch_add(kDone, relaxed) + kDone;
  }

  Atomic<W, std::uint32_t>& word_;
  const std::uint32_t before_;
  bool done_ = false;
};

}  // namespace convoy
