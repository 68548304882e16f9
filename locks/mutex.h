// mutex.h — Sleeping mutex with optimistic spinning and hand-off on demand.
// SPDX-License-Identifier: MIT
//
// lock() is one compare_exchange when free, and so is unlock() when nobody waits. Else:
//
//   spin:  while the owner has a core, the lock will soon be free: queue with the other spinners (osq.h); the head
//          watches the owner and takes the lock when it is let go, past those who sleep
//   queue: an owner without a core, or a core that is wanted elsewhere: append myself to the list, sleep, try after
//          each sleep. The first of the list, when it has lost a try, asks for a hand-off, then spins on the owner too
//   unlock: not asked: let go first, then wake the first of the list, who must win the race against all who run. Asked:
//          keep the lock until it is the first waiter's (pickup), then wake it
//
// Fairness: barging, but the first waiter loses once after it was woken, and then is handed the lock; the list is FIFO.
// So no waiter starves, and the convoy that hand-off breeds is as short as one waiter. For holds that are shorter than
// a wake-up takes. A wait with a deadline looks at it in the queue only, as the kernel at a signal; it leaves after a
// last try, so the wake that it was given is used or the lock has an owner, who will wake the next.
//
// unlock() touches the lock after A1: who frees its memory must know that no unlock() is under way.
//
// Origin: Linux 4.10 and later, kernel/locking/mutex.c. Changed: whether a waiter is the first is looked at under the
// wait lock only, so that the try after a sleep is made under it; one try less before it sleeps again, since a first
// waiter has asked and is woken by whoever unlocks; a spinner whose core is wanted queues without yielding it first.
//
// State word
//   bit 0 waiters  set before a waiter's last try, cleared by who leaves the list empty, both under wait_lock_. May be
//                  set with nobody listed while wait_lock_ is held; must not be clear with somebody listed.
//   bit 1 handoff  set on an owned word by the first waiter after a lost try, under wait_lock_; cleared by the unlock
//                  that it asks for, or by a waiter that leaves the list empty. It outlives its asker, if that leaves:
//                  the next first has it.
//   bit 2 pickup   set by an unlock that hands off: the owner may not know yet; cleared by that owner
//   bits 3.. owner its thread number + 1; 0: free
//
// Invariants
//   I1  Somebody is listed => waiters is set.
//   I2  The owner is 0 => handoff and pickup are clear.
//   I3  pickup => the owner is listed, and first, and handoff is clear.
//
// Transitions (owner,flags); w: the waiters bit, whatever it is
//   (0,w) -> (me,w)           lock, try
//   (me,w) -> (0,w)           unlock, not asked
//   (x,0) -> (x,waiters)      queue
//   (x,waiters) -> (x,waiters|handoff)                 first, lost a try
//   (me,waiters|handoff) -> (first,waiters|pickup)     unlock, asked
//   (me,waiters|pickup) -> (me,waiters)                the first picks up
//   (x,...) -> (x,0)                                   list left empty
//
// Synchronizes-with
//   A: A1 unlock -> A0 lock, try, pick up (critical section)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "osq.h"
#include "traits.h"
#include "wait_list.h"
#include "wake_batch.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("mutex") Mutex {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "mutex",
      .kind = Kind::kOptimistic,
      .fairness = "barging; the first waiter, once it has lost a try, by hand-off",
      .origin = "Linux 4.10",
      .events = "mutex_",
  };
  explicit Mutex(LockClass<W>& lock_class) : class_(lock_class) {}
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (!acquire_free()) lock_slow(kNever);
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return acquire_free() || (!is_locked() && try_acquire()); }
  bool try_lock_until(Deadline deadline) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return acquire_free() || lock_slow(deadline);
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    std::uint32_t word = owned_by(W::self());
    if (!word_.compare_exchange(word, 0, release)) [[unlikely]]  // A1
      unlock_slow(word);
  }

  bool is_locked() const { return owner_in(word_.load(relaxed)) != 0; }  // relaxed: a hint, out of date at once
  // I1 to I3. Requires: wait_lock_ is held, or nothing moves. Relaxed: nothing is done with what it guards.
  void check_invariants() const {
    const std::uint32_t word = word_.load(relaxed);
    const Waiter* const first = waiters_.first();
    if (first != nullptr && (word & kWaiters) == 0) W::panic("mutex: somebody waits and the waiters bit is clear (I1)");
    if (owner_in(word) == 0 && (word & (kHandoff | kPickup)) != 0) W::panic("mutex: a free one is handed off (I2)");
    if ((word & kPickup) == 0) return;
    if (first == nullptr || owned_by(first->thread) != owner_in(word) || (word & kHandoff) != 0)
      W::panic("mutex: it waits to be picked up, and not by the first waiter (I3)");
  }
  LockClass<W>& lock_class() { return class_; }

 private:
  struct Waiter : ListedWaiter<W, Waiter> {};

  static constexpr std::uint32_t kWaiters = 1;
  static constexpr std::uint32_t kHandoff = 2;
  static constexpr std::uint32_t kPickup = 4;
  static constexpr std::uint32_t kFlags = kWaiters | kHandoff | kPickup;
  static constexpr int kOwnerShift = 3;

  static std::uint32_t owned_by(Thread thread) { return (thread.index + 1) << kOwnerShift; }
  static std::uint32_t owner_in(std::uint32_t word) { return word & ~kFlags; }
  // Requires: the word has an owner.
  static Thread thread_of(std::uint32_t word) { return Thread{(word >> kOwnerShift) - 1}; }

  bool acquire_free() {
    std::uint32_t word = 0;
    return word_.compare_exchange(word, owned_by(W::self()), acquire);  // A0
  }

  bool try_acquire() { return acquire_or_owner() == 0; }

  // Takes the lock if it is free or was handed to me. Returns 0 if so, else the owner, and asks for a hand-off if told.
  std::uint32_t acquire_or_owner(bool ask = false) {
    const std::uint32_t me = owned_by(W::self());
    std::uint32_t word = word_.load(relaxed);  // relaxed: A0 follows, or nothing was taken
    for (;;) {
      const std::uint32_t owner = owner_in(word);
      const bool mine = owner == 0 || (owner == me && (word & kPickup) != 0);
      if (!mine && (!ask || (word & (kHandoff | kPickup)) != 0)) return owner;
      const std::uint32_t wanted = mine ? me | (word & kWaiters) : word | kHandoff;
      if (!word_.compare_exchange(word, wanted, acquire)) continue;  // A0
      if (mine) return 0;
      class_.count(Event::kMutexAsk);
      return owner;
    }
  }

  bool acquired(Event how) {
    class_.count(how);
    return true;
  }

  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    class_.count(Event::kMutexSlow);
    if (spin_among_spinners()) return acquired(Event::kMutexOptLock);
    class_.count(Event::kMutexOptFail);
    Waiter me;
    if (acquire_or_enqueue(me)) return acquired(Event::kMutexWait);
    for (;;) {
      const bool in_time = W::park_until(deadline);
      class_.count(Event::kMutexSleep);
      if (!in_time) return leave(me);
      W::prepare_park();
      if (acquire_from_queue(me)) return acquired(Event::kMutexWait);
    }
  }

  bool spin_among_spinners() {
    if (W::should_yield()) return false;
    const std::uint32_t word = word_.load(relaxed);  // relaxed: a guess
    if (owner_in(word) != 0 && !W::is_running(thread_of(word))) return false;
    typename Osq<W>::Spinner spinner(spinners_);
    if (!spinner.lock()) return false;
    const bool mine = spin_on_owner();
    spinner.unlock();
    return mine;
  }

  // Spins while somebody owns the lock who has a core; true when it got the lock. Relaxed: the next try is A0.
  bool spin_on_owner() {
    for (;;) {
      const std::uint32_t owner = acquire_or_owner();
      if (owner == 0) return true;
      const Spin end = W::spin_for(
          word_, relaxed, [owner](std::uint32_t word) { return owner_in(word) != owner; },
          SpinLimit{.owner = thread_of(owner), .optimistic = true});
      if (end != Spin::kSatisfied) return false;
    }
  }

  // Waiters bit first, then the last try: who unlocks afterwards sees the bit and finds me in the list. The waiter is
  // prepared to sleep before it can be found.
  bool acquire_or_enqueue(Waiter& me) {
    W::prepare_park();
    const WaitListGuard<W> guard(wait_lock_);
    if (waiters_.empty()) word_.fetch_or(kWaiters, relaxed);  // I1; relaxed: wait_lock_ orders it
    waiters_.append(me);
    if (!try_acquire()) return false;
    dequeue(me);
    return true;
  }

  // After a sleep.
  bool acquire_from_queue(Waiter& me) {
    {
      const WaitListGuard<W> guard(wait_lock_);
      const bool first = waiters_.first() == &me;
      if (acquire_or_owner(/*ask=*/first) == 0) {
        dequeue(me);
        return true;
      }
      if (!first) return false;
    }
    if (!spin_on_owner()) return false;
    const WaitListGuard<W> guard(wait_lock_);
    dequeue(me);
    return true;
  }

  // The deadline passed. A last try, in one step with leaving the list: what I was given, a wake or the lock, is not
  // lost.
  bool leave(Waiter& me) {
    const WaitListGuard<W> guard(wait_lock_);
    const bool mine = try_acquire();
    dequeue(me);
    class_.count(mine ? Event::kMutexWait : Event::kMutexLeave);
    return mine;
  }

  // Requires: wait_lock_ is held.
  void dequeue(Waiter& me) {
    waiters_.unlink(me);
    if (waiters_.empty()) word_.fetch_and(~(kWaiters | kHandoff), relaxed);  // relaxed: wait_lock_ orders it
  }

  [[gnu::noinline]] void unlock_slow(std::uint32_t word) {
    if (owner_in(word) != owned_by(W::self()) || (word & kPickup) != 0) panic_unlock(word);
    while ((word & kHandoff) == 0) {
      if (!word_.compare_exchange(word, word & kWaiters, release)) continue;  // A1
      if ((word & kWaiters) == 0) return;
      break;
    }
    WakeBatch<W> wakes;
    const WaitListGuard<W> guard(wait_lock_);
    Waiter* const first = waiters_.first();
    if ((word & kHandoff) != 0) hand_off_to(first);
    if (first == nullptr) return;  // it has left, or got the lock meanwhile
    class_.count(Event::kMutexWake);
    wakes.add(first->thread);
  }

  // Requires: wait_lock_ is held, and the lock, by me. With handoff set, or cleared by the last who left, nobody else
  // may change the word: so a store will do.
  void hand_off_to(Waiter* first) {
    if (first == nullptr) return word_.store(0, release);  // A1
    class_.count(Event::kMutexHandoff);
    word_.store(owned_by(first->thread) | kPickup | kWaiters, release);  // A1, I3
  }

  [[noreturn]] void panic_unlock(std::uint32_t word) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.*s: unlock of a mutex that is not held by this thread; word = { owner %d%s%s%s } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(),
                  static_cast<int>(word >> kOwnerShift) - 1, (word & kWaiters) != 0 ? " waiters" : "",
                  (word & kHandoff) != 0 ? " handoff" : "", (word & kPickup) != 0 ? " pickup" : "", W::self().index);
    W::panic(text);
  }

  LockClass<W>& class_;
  Atomic<W, std::uint32_t> word_{0};
  typename W::SpinLock wait_lock_;
  WaitList<W, Waiter> waiters_;  // wait_lock_ guards it
  Osq<W> spinners_;
};

}  // namespace convoy
