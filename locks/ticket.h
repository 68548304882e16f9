// ticket.h — Ticket spinlock.
// SPDX-License-Identifier: MIT
//
// lock: draw the next ticket and await its turn. unlock: serve the next. All waiters read one word, so a release costs
// a miss per waiter, and a preempted next-in-line stalls everyone behind it. Fairness: strict FIFO. Needs a core per
// thread. Origin: Mellor-Crummey and Scott, TOCS 1991; Linux x86 2.6.25 to 4.1. Changed: two words instead of two
// halves of one.
//
// State words: next_ the ticket to be drawn, serving_ the ticket that owns the lock; free when equal. Both wrap.
// Invariant: I1 serving_ never passes next_.
// Synchronizes-with: A: A1 unlock → A0 lock, try_lock (critical section).
#pragma once

#include <cstdint>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("ticket") Ticket {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "ticket",
      .kind = Kind::kSpinning,
      .fairness = "FIFO",
      .origin = "Linux 2.6.25 to 4.1",
      .needs_core_per_thread = true,
  };
  explicit Ticket(LockClass<W>&) {}
  Ticket(const Ticket&) = delete;
  Ticket& operator=(const Ticket&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    const std::uint32_t mine = next_.fetch_add(1, relaxed);                                  // relaxed: A0 follows
    W::await(serving_, acquire, [mine](std::uint32_t serving) { return serving == mine; });  // A0
  }
  // Nobody holds it or waits while next_ == serving_, and serving_ never passes next_: so one compare_exchange decides.
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint32_t serving = serving_.load(acquire);                // A0
    return next_.compare_exchange(serving, serving + 1, relaxed);  // relaxed: the load above synchronizes
  }
  // Only the holder writes serving_, so its own read is exact.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint32_t mine = serving_.load(relaxed);
    if (mine == next_.load(relaxed)) [[unlikely]]  // relaxed: the holder knows its own ticket
      W::panic("ticket: unlock of a lock that is not held");
    serving_.store(mine + 1, release);  // A1
  }
  bool is_locked() const { return serving_.load(relaxed) != next_.load(relaxed); }  // relaxed: a hint
  // I1. Requires: nothing moves. Less than half of all tickets are drawn at a time.
  void check_invariants() const {
    const std::uint32_t drawn = next_.load(relaxed) - serving_.load(relaxed);
    if (drawn > ~std::uint32_t{0} / 2) W::panic("ticket: a ticket is served that nobody has drawn (I1)");
  }

 private:
  Atomic<W, std::uint32_t> next_{0};
  Atomic<W, std::uint32_t> serving_{0};
};

}  // namespace convoy
