// bounded.h — Exclusive sleeping lock for one page, with bounded lock stealing.
// SPDX-License-Identifier: MIT
//
// A release wakes the first waiter but leaves the lock free, so that a thread that is running may steal it before the
// woken one is on a core (barging). A waiter accepts `unfairness` such thefts; then it queues once more and demands a
// hand-off: the next waker that reaches it takes the lock on its behalf, and it owns the lock while still asleep.
//
//   for lost = 0, 1, ...:  queue at the tail (hand-off wanted iff lost >= unfairness); await a waker
//                          handed the lock → done;  try → done, or stolen from: again
//
// Fairness: `unfairness` 0 is FIFO per queue, but for thefts in the window between a release and its waker (no one is
// woken for those, and they are not bounded). Above 0 it is barging with a bound on useless wakes: at most `unfairness`
// per acquisition. Each re-queueing goes to the tail, and a waiter that demands a hand-off is not moved ahead of older
// ones. Choose it where holds are short and waiters many: the default 5 keeps the throughput of barging and no waiter
// starves. At 0 a standing queue becomes a *lock convoy*: every release hands the lock to a sleeper, and all who are
// awake queue behind it.
//
// Origin: Linux 5.9, commit 5ef64cc8987a (vm.page_lock_unfairness). Changed: page_lock.h says what.
#pragma once

#include "page_lock.h"
#include "traits.h"

namespace convoy {

template <World W>
class Bounded : public PageLock<W, Bounded<W>> {
  using Base = PageLock<W, Bounded<W>>;
  friend Base;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "bounded",
      .kind = Kind::kPageLock,
      .fairness = "bounded barging; FIFO at unfairness 0",
      .origin = "Linux 5.9, 5ef64cc8987a",
      .events = "page_lock_",
      .knobs = {Knob::kUnfairness, Knob::kSpin},
  };
  using Base::Base;

 private:
  using Base::class_;
  using typename Base::Locked;
  using typename Base::Walk;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    class_.count(Event::kPageLockSlow);
    if (Base::spin_then_try()) return Base::acquired(Event::kPageLockLate);
    Waiter<W> me(&this->word_);
    const std::uint32_t patience = class_.knob(Knob::kUnfairness);  // read once per wait, as the kernel's sysctl
    return Base::compete(me, deadline, [&](std::uint32_t lost) { me.wants_handoff = lost >= patience; });
  }

  Walk wake_one(Locked& queue, Waiter<W>& waiter) {
    return Base::wake_or_hand_off(queue, waiter, waiter.wants_handoff);
  }
};

}  // namespace convoy
