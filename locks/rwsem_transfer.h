// rwsem_transfer.h — The rwsem whose waker hands the lock to the sleeping writer.
// SPDX-License-Identifier: MIT
//
// The rework of 2023 as posted: a queued writer no longer tries for itself. Whoever wakes the queue takes the lock for
// the writer at its head, makes it the owner, and then wakes it. It is tidy, and it cost 71 % of a contended benchmark:
// from the release until the new owner has been switched in, the owner is a thread that *has no core*. Arriving writers
// may not spin on it, the spinner at the head of the OSQ stops, both queue and sleep: the window in which spinners take
// the lock is gone, and every acquisition pays for a wake-up.
//
//   writer in the queue:  first → set waiters, and try once: a release since the last spin saw nobody to wake
//                         else → wake readers that nobody else would wake;  sleep until a waker has taken the lock
//   waker:                the lock is free → take it for the writer;  it has waited for 4 ms in vain → set hand-off
//
// Fairness: FIFO among queued writers, readers in groups, barging only in the window between a release and its waker.
// Choose it to see a lock convoy of writers.
//
// Origin: Peter Zijlstra's series of 23 February 2023, as posted. Changed: the last patch lets a waker that finds
// hand-off set take the lock by an addition without a look, since readers in the count can only be on their way out. A
// waker that comes late may find readers who hold the lock, and a hand-off that was set after they came; so here it
// looks whether the lock is free, under wait_lock, and then adds. Also rwsem_engine.h.
#pragma once

#include "annotations.h"
#include "rwsem_engine.h"
#include "traits.h"

namespace convoy {

template <World W, int kReaderBits = 55>
class CONVOY_CAPABILITY("rwsem-transfer") RwsemTransfer
    : public RwsemEngine<W, RwsemTransfer<W, kReaderBits>, kReaderBits> {
  using Base = RwsemEngine<W, RwsemTransfer<W, kReaderBits>, kReaderBits>;
  friend Base;
  friend RwsemQueue<W, RwsemTransfer<W, kReaderBits>, kReaderBits>;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "rwsem-transfer",
      .kind = Kind::kSharedSleeping,
      .fairness = "FIFO among sleeping writers, readers in groups",
      .origin = "Zijlstra's rework of 2023, as posted",
      .events = "rwsem_",
  };
  using Base::Base;

 private:
  using typename Base::Count;
  using typename Base::Waiter;
  static constexpr bool kHandoffEndsSpinning = true;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    if (Base::spin_optimistically()) return true;
    Waiter me(true);
    if (append_or_take(me) || Base::await_grant(me, deadline, Event::kRwsemSleepWriter))
      return Base::acquired(Event::kRwsemWlock);
    return Base::leave(me, Event::kRwsemWlock, Event::kRwsemWlockFail);
  }

  // A first waiter tries for itself once waiters is set: who let go before that wakes nobody.
  bool append_or_take(Waiter& me) {
    WakeBatch<W> wakes;
    const WaitListGuard<W> guard(Base::wait_lock_);
    Base::append_writer(me, wakes);
    return Base::wait_list_.first() == &me && Base::try_as_waiter(me);
  }

  void wake_writer(Waiter& first, WakeBatch<W>& wakes) {
    if (Base::is_handoff_set() ? Base::claim_handed_off(first) : Base::try_as_waiter(first)) Base::grant(first, wakes);
  }

  static bool may_pass(const Waiter&, const Waiter&, std::uint64_t) { return true; }  // only the first tries
};

}  // namespace convoy
