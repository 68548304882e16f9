// rwsem.h — Reader/writer sleeping lock with optimistic spinning and lock stealing.
// SPDX-License-Identifier: MIT
//
// The rwsem just before its rework of 2023. A release wakes the writer at the head of the queue and leaves the lock
// free: whoever is awake may take it first, and the spinners nearly always do. That keeps the lock in the hands of
// threads that have a core; the woken writer tries, fails, and sleeps again, until after 4 ms it sets hand-off. Then
// spinners and stealing readers stay out, and it spins for the lock itself.
//
//   writer in the queue:  under wait_lock: free, and no other first waiter has set hand-off → take it
//                         locked, and I have waited for 4 ms → set hand-off
//                         hand-off is mine → spin on the owner, try again;  else sleep
//
// Fairness: writers barge, readers are granted in groups; hand-off bounds the wait. Choose it where sections are short
// and readers many. Hand-off is no transfer: the lock stays free until the writer comes.
//
// Origin: Linux 6.3-rc, b613c7f31476. Changed: rwsem_engine.h says what.
#pragma once

#include "annotations.h"
#include "rwsem_engine.h"
#include "traits.h"

namespace convoy {

template <World W, int kReaderBits = 55>
class CONVOY_CAPABILITY("rwsem") Rwsem : public RwsemEngine<W, Rwsem<W, kReaderBits>, kReaderBits> {
  using Base = RwsemEngine<W, Rwsem<W, kReaderBits>, kReaderBits>;
  friend Base;
  friend RwsemQueue<W, Rwsem<W, kReaderBits>, kReaderBits>;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "rwsem",
      .kind = Kind::kSharedSleeping,
      .fairness = "writers barge, readers in groups; hand-off after 4 ms",
      .origin = "Linux 6.3-rc, b613c7f31476",
      .events = "rwsem_",
  };
  using Base::Base;

 private:
  using typename Base::Count;
  using typename Base::Waiter;
  static constexpr bool kHandoffEndsSpinning = false;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) { return Base::spin_optimistically() || Base::compete(deadline); }

  // The lock is not granted.
  void wake_writer(Waiter& first, WakeBatch<W>& wakes) { Base::wake_only(first, wakes); }

  static bool may_pass(const Waiter& me, const Waiter& first, std::uint64_t count) {
    return &me == &first || (count & Count::kHandoff) == 0 || !first.handoff_set;
  }
};

}  // namespace convoy
