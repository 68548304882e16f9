// mutex_3_12.h — Sleeping mutex of 2013: a count, an owner, and spinners in an MCS queue that they cannot leave.
// SPDX-License-Identifier: MIT
//
// lock: take one off the count; it was 1: mine. unlock: no owner, then add one to the count; it was 0: done. Else:
//
//   spin:  while there is no owner or the owner has a core: stand in the MCS queue (mcs_node.h); its head watches the
//          owner until there is none, takes the count from 1 to 0, and goes to the end of the queue when it was late.
//          It gives up when the owner loses its core, when its own core is wanted, or when a newcomer got the lock
//          first, a sign of many. Who stands behind the head looks at none of this
//   queue: append myself to the list; make the count -1, so that unlock sees me: it was 1: mine; else sleep, and do so
//          again after each sleep
//   unlock, of a count that was negative: set it to 1, wake the first of the list, under the wait lock
//
// Whoever fails to lock leaves the count negative: an unlock that meets only spinners takes the wait lock all the same.
// Fairness: barging, without a bound; spinners FIFO, sleepers FIFO. To compare with `mutex`; with more threads than
// cores a preempted spinner holds up the whole queue. A wait with a deadline looks at it in the list only, as the
// kernel at a signal; it leaves after a last try, so the wake that it was given is used or the lock has an owner, who
// will wake the next.
//
// unlock() touches the lock after A1: who frees its memory must know that no unlock() is under way.
//
// Origin: Linux 3.10 to 3.12 on x86, kernel/mutex.c. Changed: between turns a spinner that found no owner waits until
// there is one or the count is 1, where the kernel's goes round.
//
// State words
//   count_  1 free; 0 locked; negative: locked, somebody may be listed, unlock must look. An unlock makes 0 of -1 for
//           the moment until it sets 1, under wait_lock_.
//   owner_  the owner's thread number + 1, or 0; written by the owner only, so it is late after lock(), and 0 early in
//           unlock(): a guess for spinners, nothing else depends on it
//
// Invariants
//   I1  Somebody is listed => count_ is negative, or the first has been or is being woken and has not tried since.
//   I2  Only the owner makes count_ positive.
//
// Synchronizes-with
//   A: A1 unlock -> A0 lock, try (critical section)
//   B: B1 tail exchange -> B0 tail exchange of the next (the node that it links behind)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "mcs_node.h"
#include "traits.h"
#include "wait_list.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("mutex-3.12") Mutex312 {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "mutex-3.12",
      .kind = Kind::kOptimistic,
      .fairness = "barging",
      .origin = "Linux 3.12",
      .events = "mutex_",
  };
  explicit Mutex312(LockClass<W>& lock_class) : class_(lock_class) {}
  Mutex312(const Mutex312&) = delete;
  Mutex312& operator=(const Mutex312&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (!acquire_or_disturb()) lock_slow(kNever);
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint32_t count = kFree;
    return count_.compare_exchange(count, kLocked, acquire) && owned();  // A0
  }
  bool try_lock_until(Deadline deadline) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return acquire_or_disturb() || lock_slow(deadline);
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    owner_.store(0, relaxed);                                  // relaxed: a guess for spinners
    const std::uint32_t count = count_.fetch_add(1, release);  // A1
    if (count != kLocked) [[unlikely]]
      unlock_slow(count);
  }

  bool is_locked() const { return count_.load(relaxed) != kFree; }  // relaxed: a hint, out of date at once
  LockClass<W>& lock_class() { return class_; }

 private:
  struct Waiter : ListedWaiter<W, Waiter> {};
  using Node = McsNode<W>;

  static constexpr std::uint32_t kFree = 1;
  static constexpr std::uint32_t kLocked = 0;
  static constexpr std::uint32_t kWaiters = ~std::uint32_t{0};  // -1
  static bool is_negative(std::uint32_t count) { return static_cast<std::int32_t>(count) < 0; }

  bool owned() {
    owner_.store(W::self().index + 1, relaxed);  // relaxed: a guess for spinners
    return true;
  }

  bool acquire_or_disturb() { return count_.fetch_sub(1, acquire) == kFree && owned(); }  // A0

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
      const WaitListGuard<W> guard(wait_lock_);
      if (acquire_as_waiter(me)) return acquired(Event::kMutexWait);
    }
  }

  bool spin_among_spinners() {
    const std::uint32_t owner = owner_.load(relaxed);  // relaxed: a guess
    if (owner != 0 && !W::is_running(thread_of(owner))) return false;
    for (;;) {
      switch (take_turn()) {
        case Turn::kAcquired:
          return true;
        case Turn::kHopeless:
          return false;
        case Turn::kLate:
          break;
      }
      W::await_either(
          count_, [](std::uint32_t count) { return count == kFree; },  //
          owner_, [](std::uint32_t now) { return now != 0; });
    }
  }

  enum class Turn : std::uint8_t { kAcquired, kHopeless, kLate };

  Turn take_turn() {
    Node* const me = Node::take();
    if (Node* const before = spinners_.exchange(me, acq_rel)) me->await_turn_behind(*before);  // B0, B1
    const Turn turn = as_head();
    pass_on(*me);
    W::give_spare(me);
    return turn;
  }

  Turn as_head() CONVOY_NO_TSA {
    const std::uint32_t owner = owner_.load(relaxed);  // relaxed: a guess
    if (owner != 0 && !spin_on_owner(owner)) return Turn::kHopeless;
    if (count_.load(relaxed) == kFree && try_lock()) return Turn::kAcquired;  // relaxed: A0 follows
    return owner == 0 && W::should_yield() ? Turn::kHopeless : Turn::kLate;
  }

  // True when nobody owns the lock any more. Relaxed: a guess, as all that owner_ says.
  bool spin_on_owner(std::uint32_t owner) {
    W::spin_for(
        owner_, relaxed, [owner](std::uint32_t now) { return now != owner; },
        SpinLimit{.owner = thread_of(owner), .optimistic = true});
    return owner_.load(relaxed) == 0;  // relaxed: a guess
  }

  static Thread thread_of(std::uint32_t owner) { return Thread{owner - 1}; }

  void pass_on(Node& me) {
    Node* next = me.next();
    if (next == nullptr) {
      Node* last = &me;
      if (spinners_.compare_exchange(last, nullptr, relaxed)) return;  // relaxed: a turn guards nothing
      next = me.await_next();
    }
    next->grant();  // absolute last access to the queue
  }

  // The waiter is prepared to sleep before it can be found.
  bool acquire_or_enqueue(Waiter& me) {
    W::prepare_park();
    const WaitListGuard<W> guard(wait_lock_);
    waiters_.append(me);
    return acquire_as_waiter(me);
  }

  // The deadline passed. A last try, in one step with leaving the list: the wake that I was given is not lost.
  bool leave(Waiter& me) {
    const WaitListGuard<W> guard(wait_lock_);
    if (acquire_as_waiter(me)) return acquired(Event::kMutexWait);
    waiters_.unlink(me);
    class_.count(Event::kMutexLeave);
    return false;
  }

  // Tries, and sees to it that the owner's unlock will look at the list. Requires: wait_lock_ is held, me is linked.
  bool acquire_as_waiter(Waiter& me) {
    // Relaxed: who makes it negative has failed, and will come here. A negative count stays as it is.
    if (is_negative(count_.load(relaxed)) || count_.exchange(kWaiters, acquire) != kFree) return false;  // A0
    waiters_.unlink(me);
    if (waiters_.empty()) count_.store(kLocked, relaxed);  // relaxed: mine
    return owned();
  }

  // The wake is issued under wait_lock_, as in that kernel.
  [[gnu::noinline]] void unlock_slow(std::uint32_t count) {
    if (!is_negative(count)) panic_unlock();  // I2
    const WaitListGuard<W> guard(wait_lock_);
    count_.store(kFree, release);  // A1
    Waiter* const first = waiters_.first();
    if (first == nullptr) return;
    class_.count(Event::kMutexWake);
    W::unpark(first->thread);
  }

  [[noreturn]] void panic_unlock() {
    char text[128];
    std::snprintf(text, sizeof text, "%.*s: unlock of a mutex-3.12 that is not held, by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), W::self().index);
    W::panic(text);
  }

  LockClass<W>& class_;
  Atomic<W, std::uint32_t> count_{kFree};
  Atomic<W, std::uint32_t> owner_{0};
  Atomic<W, Node*> spinners_{nullptr};
  WaitList<W, Waiter> waiters_;  // wait_lock_ guards it
  typename W::SpinLock wait_lock_;
};

}  // namespace convoy
