// barging.h — Exclusive sleeping lock for one page whose woken waiter competes with everybody, without bound.
// SPDX-License-Identifier: MIT
//
// A release wakes the first waiter that is asleep and leaves the lock free. The woken waiter tries; when the lock was
// stolen it queues again at the tail, so that its age is lost. A waiter that was found awake keeps its place and does
// not use up the wake.
//
//   loop:  set waiters; if not in the queue, append; prepare to sleep
//          still locked → sleep;  try → done (leave the queue)
//
// Fairness: none; a waiter may lose for ever (waits of tens of seconds were seen in the kernel).
// Choose it to see what unfairness gives: the highest throughput, and the worst starvation.
//
// Origin: Linux 5.8 and before. Changed: a waiter that finds that it was not woken takes the queue's lock to leave.
#pragma once

#include "page_lock.h"
#include "traits.h"

namespace convoy {

template <World W>
class Barging : public PageLock<W, Barging<W>> {
  using Base = PageLock<W, Barging<W>>;
  friend Base;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "barging",
      .kind = Kind::kPageLock,
      .fairness = "barging, unbounded",
      .origin = "Linux 5.8",
      .events = "page_lock_",
  };
  using Base::Base;

 private:
  using Base::class_;
  using Base::kLocked;
  using Base::kWaiters;
  using Base::word_;
  using typename Base::Locked;
  using typename Base::Walk;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    class_.count(Event::kPageLockSlow);
    Waiter<W> me(&word_);
    enqueue(me);
    for (;;) {
      bool in_time = true;
      if (Base::is_locked()) {
        in_time = sleep(deadline);
        class_.count(Event::kPageLockSleep);
      }
      if (Base::try_acquire()) {
        class_.count(Base::leave(me) == Verdict::kWoken ? Event::kPageLockWoken : Event::kPageLockLate);
        return true;
      }
      if (!in_time) {
        Base::leave(me);  // a wake it was given is spent by the try above: the holder's release wakes the next
        class_.count(Event::kPageLockLeave);
        return false;
      }
      enqueue(me);
    }
  }

  // Sets waiters (I2), puts me at the tail unless it still stands in the queue, and begins to sleep, all before the
  // lock is looked at again: an unlocker that clears the bit after that look finds waiters set, and me in the queue.
  void enqueue(Waiter<W>& me) {
    Locked queue(class_.wait_table(), &word_);
    word_.fetch_or(kWaiters, relaxed);  // relaxed: the queue's lock orders it before the waker's walk
    if (!me.linked) {
      if (me.load_verdict() == Verdict::kWoken) class_.count(Event::kPageLockRequeue);
      queue.append(me);
    }
    W::prepare_park();
  }

  // False when the deadline passed.
  bool sleep(Deadline deadline) {
    if (deadline != kNever) return W::park_until(deadline);
    W::park();
    return true;
  }

  // The waiter cannot go before the waker drops the queue's lock, because it leaves under it.
  Walk wake_one(Locked& queue, Waiter<W>& waiter) {
    if (Base::is_locked()) {
      class_.count(Event::kPageLockWindowSteal);
      return Walk::kStop;
    }
    if (!W::unpark(waiter.thread)) return Walk::kContinue;  // it was awake, and will try: its wake is not used up
    class_.count(Event::kPageLockWake);
    queue.unlink(waiter);
    waiter.verdict.store(static_cast<std::uint32_t>(Verdict::kWoken), release);  // B1
    return Walk::kStop;
  }
};

}  // namespace convoy
