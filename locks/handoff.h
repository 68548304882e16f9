// handoff.h — Exclusive sleeping lock for one page that every release hands to the first waiter.
// SPDX-License-Identifier: MIT
//
// The waker takes the lock on behalf of the first waiter before it wakes it. A waiter queues once, never tries again
// and never loses its place; the lock is held on paper by a thread that is still asleep.
//
// Fairness: FIFO per queue, but for thefts in the window between a release and its waker's test-and-set, which wake
// nobody. Choose it to see what fairness costs: the lock is unavailable to everybody for a whole wake-up, so throughput
// is at most 1 / (wake-up latency + hold) once a queue stands, the *lock convoy* of 2020.
//
// Origin: Linux 5.9-rc1, commit 2a9127fcf229; `bounded` at unfairness 0 does the same. Changed: page_lock.h says what.
#pragma once

#include "page_lock.h"
#include "traits.h"

namespace convoy {

template <World W>
class Handoff : public PageLock<W, Handoff<W>> {
  using Base = PageLock<W, Handoff<W>>;
  friend Base;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "handoff",
      .kind = Kind::kPageLock,
      .fairness = "FIFO but for the release window",
      .origin = "Linux 5.9-rc1, 2a9127fcf229",
      .events = "page_lock_",
  };
  using Base::Base;

 private:
  using Base::class_;
  using typename Base::Locked;
  using typename Base::Walk;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    class_.count(Event::kPageLockSlow);
    Waiter<W> me(&this->word_);
    if (Base::acquire_or_enqueue(me)) return Base::acquired(Event::kPageLockLate);
    if (me.await_verdict(deadline, [this] { class_.count(Event::kPageLockSleep); })) return true;  // only ever granted
    if (Base::leave(me) == Verdict::kGranted) return true;
    class_.count(Event::kPageLockLeave);
    return false;
  }

  Walk wake_one(Locked& queue, Waiter<W>& waiter) { return Base::wake_or_hand_off(queue, waiter, true); }
};

}  // namespace convoy
