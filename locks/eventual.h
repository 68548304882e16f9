// eventual.h — Exclusive sleeping lock for one page, with lock stealing bounded by time.
// SPDX-License-Identifier: MIT
//
// A release wakes the first waiter but leaves the lock free, so that a thread that is running may steal it (barging).
// Once a waiter has waited for half a millisecond, however often it queued again meanwhile, the waker that comes to it
// takes the lock on its behalf instead, and it owns the lock while still asleep.
//
//   wait:  queue at the tail; await a waker;  handed the lock → done;  try → done, or stolen from: again
//   wake:  the first waiter; its time is up → take the lock for it
//
// Fairness: eventual. Thefts are as many as fit into half a millisecond; then the waiter stays where it stands and gets
// the lock when those before it have had their wake. It is the twin of `bounded` that counts time instead of thefts:
// short holds see plain barging, and a queue that stands for longer than that per waiter becomes a lock convoy. The
// waker asks for the time once per slow release, under the queue's lock.
//
// Origin: the eventual fairness of WTF::Lock (WebKit bug 159384, 2016) and of Rust's parking_lot. Changed: those let
// one release in a while be fair, by a timer of each queue that is set anew to a random moment; here each waiter has
// its own, which runs from the beginning of its wait (as in Rust's simple_mutex). Engine: page_lock.h.
#pragma once

#include <cstdint>

#include "page_lock.h"
#include "traits.h"

namespace convoy {

template <World W>
class Eventual : public PageLock<W, Eventual<W>> {
  using Base = PageLock<W, Eventual<W>>;
  friend Base;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "eventual",
      .kind = Kind::kPageLock,
      .fairness = "barging for 0.5 ms, then hand-off",
      .origin = "WTF::Lock 2016, parking_lot",
      .events = "page_lock_",
  };
  // After that long a waiter is handed the lock: parking_lot's 0.5 ms, the average between its fair releases, and the
  // starvation that simple_mutex accepts; WTF::Lock has 1 ms.
  static constexpr std::uint64_t kBargingNs = 500'000;

  using Base::Base;

 private:
  using Base::class_;
  using typename Base::Locked;
  using typename Base::Walk;

  struct TimedWaiter : Waiter<W> {
    explicit TimedWaiter(const void* waited_for) : Waiter<W>(waited_for) {}
    Plain<W, Deadline> handoff_from{W::deadline_in(kBargingNs)};  // set once
  };

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    class_.count(Event::kPageLockSlow);
    TimedWaiter me(&this->word_);
    return Base::compete(me, deadline, [](std::uint32_t) {});
  }

  // Every waiter for this lock's word is a TimedWaiter.
  Walk wake_one(Locked& queue, Waiter<W>& waiter) {
    return Base::wake_or_hand_off(queue, waiter, W::expired(static_cast<TimedWaiter&>(waiter).handoff_from));
  }
};

}  // namespace convoy
