// page_lock.h — The word and the engine that the page-lock policies share.
// SPDX-License-Identifier: MIT
//
// The lock of one page: an exclusive, sleeping lock of one word, whose waiters stand in the hashed queues of its class.
// lock() is one read-modify-write when free; unlock() is one, and ends there unless the waiters bit was set with it.
//
//   lock:    test-and-set; failed: under the queue's lock set waiters, try a last time, append; sleep (bounded.h, ...)
//   unlock:  clear the bit (A1) and look at waiters in the same operation; set: take the queue's lock, show the
//            waiters to the policy, first come first, until it has woken one; clear waiters if none is left
//
// unlock() touches the lock and its class after A1: who frees the memory of a lock must know that no unlock() is under
// way, as the kernel does by a reference on the page; taking and releasing the lock is not enough.
//
// Origin: Linux, mm/filemap.c, lock_page() and unlock_page() of v5.8, 2a9127fcf229 and 5ef64cc8987a. What we changed:
// see wait_table.h; and a waiter with a deadline that leaves passes on the wake it was given, the kernel's does not.
//
// State word
//   bit 0 locked    set by who takes the lock, or by a waker on behalf of a waiter; cleared by the holder in unlock()
//   bit 1 waiters   set under the queue's lock before the last try; cleared under it when nobody was seen waiting. May
//                   be set with no waiter (a shared queue, a waiter that left): costs one useless walk. Must not be
//                   clear with one.
//
// Invariants
//   I1  No other bit is ever set.
//   I2  A waiter of this lock is linked => waiters is set.
//
// Transitions (waiters,locked)
//   (w,0) -> (w,1)  try, grant
//   (w,1) -> (1,1)  enqueue
//   (w,1) -> (w,0)  unlock
//   (1,x) -> (0,x)  walk that leaves nobody
//
// Synchronizes-with
//   A: A1 unlock -> A0 lock, A2 grant (critical section)
//   B: see wait_table.h (a granted waiter has the critical section by A1 -> A2 -> B1 -> B0)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "wait_table.h"
#include "world.h"

namespace convoy {

// Policy is the class that derives from it and has
//   bool lock_slow(Deadline)                     waits; false when the deadline passed without the lock
//   Walk wake_one(Locked& queue, Waiter& waiter) the waker's decision on a waiter, under the queue's lock
template <World W, class Policy>
class CONVOY_CAPABILITY("page lock") PageLock {
 public:
  using Locked = typename WaitTable<W>::Locked;
  using Walk = typename WaitTable<W>::Walk;

  explicit PageLock(LockClass<W>& lock_class) : class_(lock_class) {}
  PageLock(const PageLock&) = delete;
  PageLock& operator=(const PageLock&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (!try_lock()) policy().lock_slow(kNever);
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    if (!try_acquire()) return false;
    class_.count(Event::kPageLockFast);
    return true;
  }
  bool try_lock_until(Deadline deadline) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return try_lock() || policy().lock_slow(deadline);
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint32_t old = word_.fetch_sub(kLocked, release);  // A1
    if (old != kLocked) [[unlikely]]
      unlock_slow(old);
  }

  bool is_locked() const { return (word_.load(relaxed) & kLocked) != 0; }  // relaxed: a hint, out of date at once
  // I1, I2. Requires: the queue's lock is held, or nothing moves. Relaxed: nothing is done with what it guards.
  void check_invariants() const {
    const std::uint32_t word = word_.load(relaxed);
    if ((word & ~(kLocked | kWaiters)) != 0) W::panic("page lock: a bit is set that has no meaning (I1)");
    if ((word & kWaiters) == 0 && class_.wait_table().is_waited_for(&word_))
      W::panic("page lock: somebody waits and the waiters bit is clear (I2)");
  }
  LockClass<W>& lock_class() { return class_; }

 protected:
  static constexpr std::uint32_t kLocked = 1;
  static constexpr std::uint32_t kWaiters = 2;

  bool try_acquire() { return (word_.fetch_or(kLocked, acquire) & kLocked) == 0; }  // A0; A2 when a waker calls it

  // The last try and the queueing are one step under the queue's lock, waiters bit first: an unlocker that clears the
  // bit after our try finds waiters set and then finds us in the queue.
  bool acquire_or_enqueue(Waiter<W>& me) {
    Locked queue(class_.wait_table(), &word_);
    word_.fetch_or(kWaiters, relaxed);  // relaxed: the queue's lock orders it before the waker's walk
    if (try_acquire()) return true;
    queue.append(me);
    if constexpr (W::kDebugChecks) check_invariants();
    return false;
  }

  // The deadline passed: unlink, unless a waker was faster. Returns the verdict that stands.
  Verdict leave(Waiter<W>& me) {
    Locked queue(class_.wait_table(), &word_);
    if (me.linked) queue.unlink(me);
    return me.load_verdict();
  }

  // The wait of the policies whose woken waiter competes with everybody: queue at the tail, await a waker, try; stolen
  // from: again. Calls before_queueing(how often it was stolen from) each time. False when it left at the deadline.
  template <class BeforeQueueing>
  bool compete(Waiter<W>& me, Deadline deadline, BeforeQueueing before_queueing) {
    for (std::uint32_t lost = 0;; ++lost) {
      before_queueing(lost);
      if (acquire_or_enqueue(me)) return acquired(Event::kPageLockLate);
      if (!me.await_verdict(deadline, [this] { class_.count(Event::kPageLockSleep); })) return leave_early(me);
      if (me.load_verdict() == Verdict::kGranted) return true;  // the waker counted the hand-off
      if (try_acquire()) return acquired(Event::kPageLockWoken);
      class_.count(Event::kPageLockRequeue);
    }
  }

  // The waker's decision on a waiter that competes or wants to be handed the lock, under the queue's lock.
  Walk wake_or_hand_off(Locked& queue, Waiter<W>& waiter, bool hand_off) {
    if (hand_off ? !try_acquire() : is_locked()) {
      class_.count(Event::kPageLockWindowSteal);
      return Walk::kStop;
    }
    class_.count(Event::kPageLockWake);
    if (hand_off) class_.count(Event::kPageLockHandoff);
    queue.wake(waiter, hand_off ? Verdict::kGranted : Verdict::kWoken);
    return Walk::kStop;
  }

  bool acquired(Event how) {
    class_.count(how);
    return true;
  }

  // Knob `spin`: polls before queueing; true when a poll was followed by a successful try.
  bool spin_then_try() {
    const std::uint32_t polls = class_.knob(Knob::kSpin);
    if (polls == 0) return false;
    W::spin_for(
        word_, relaxed, [](std::uint32_t w) { return (w & kLocked) == 0; }, SpinLimit{polls});
    return try_acquire();
  }

  LockClass<W>& class_;
  Atomic<W, std::uint32_t> word_{0};

 private:
  Policy& policy() { return static_cast<Policy&>(*this); }

  // A leaving waiter passes on what it was given: a wake is consumed by one try, whose failure means that a holder
  // exists.
  bool leave_early(Waiter<W>& me) {
    const Verdict verdict = leave(me);
    if (verdict == Verdict::kGranted) return true;
    if (verdict == Verdict::kWoken && try_acquire()) return acquired(Event::kPageLockWoken);
    class_.count(Event::kPageLockLeave);
    return false;
  }

  [[gnu::noinline]] void unlock_slow(std::uint32_t old) {
    if ((old & kLocked) == 0 || (old & ~(kLocked | kWaiters)) != 0) panic_unlock(old);  // I1
    Locked queue(class_.wait_table(), &word_);
    const bool some_left = queue.walk(&word_, [&](Waiter<W>& waiter) { return policy().wake_one(queue, waiter); });
    if (!some_left)
      word_.fetch_and(~kWaiters, relaxed);  // I2; relaxed: under the queue's lock, as is the bit's setting
    if constexpr (W::kDebugChecks) check_invariants();
  }

  [[noreturn]] void panic_unlock(std::uint32_t old) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.*s: unlock of a page lock that is not held; word = { %s%s, other bits %x } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), (old & kLocked) != 0 ? "locked " : "",
                  (old & kWaiters) != 0 ? "waiters" : "", old & ~(kLocked | kWaiters), W::self().index);
    W::panic(text);
  }
};

}  // namespace convoy
