// wait_list.h — The wait queue of one lock: a FIFO list of waiters, guarded by the lock's own spin lock.
// SPDX-License-Identifier: MIT
//
// For a lock with room for a queue of its own: the mutexes and the rwsems. A waiter stands on the stack of the thread
// that waits. The list is circular and the lock keeps its first waiter only, so that a lock pays 8 bytes for it, and
// the spin lock 4.
//
// Origin: Linux, wait_lock and wait_list of struct mutex and struct rw_semaphore. Different here: the list head is one
// pointer, not a node of the list.
//
// Life of a waiter: who grants it something does so under the spin lock, *unlink, then the releasing store that says so
// as the last access, then unpark(thread)*, by a WakeBatch (wake_batch.h) once the spin lock is dropped. The thread
// must be read before that store: behind it the waiter may be gone. A waiter that leaves by itself unlinks itself.
#pragma once

#include "world.h"

namespace convoy {

// What a list needs of a waiter. Waiter is the class that derives from it and adds what its lock wants to know.
template <World W, class Waiter>
struct ListedWaiter {
  // Guarded by the lock's spin lock while linked, the waiting thread's own otherwise.
  Plain<W, Waiter*> next{nullptr};
  Plain<W, Waiter*> previous{nullptr};
  Plain<W, bool> linked{false};
  // Set once.
  Plain<W, Thread> thread{W::self()};
};

// Requires, of every member: the caller holds the lock's spin lock.
template <World W, class Waiter>
class WaitList {
 public:
  bool empty() const { return first() == nullptr; }
  // Null when nobody waits.
  Waiter* first() const { return first_; }
  // The one behind `waiter`, which is linked; null behind the last.
  Waiter* next(const Waiter& waiter) const {
    Waiter* const next = waiter.next;
    return next == first() ? nullptr : next;
  }
  // Whether `waiter`, which is linked, is the only one.
  bool is_alone(const Waiter& waiter) const { return static_cast<Waiter*>(waiter.next) == &waiter; }

  // Requires: not waiter.linked.
  void append(Waiter& waiter) {
    Waiter* const first = first_;
    Waiter* const last = first == nullptr ? &waiter : static_cast<Waiter*>(first->previous);
    waiter.next = first == nullptr ? &waiter : first;
    waiter.previous = last;
    waiter.linked = true;
    if (first == nullptr) {
      first_ = &waiter;
    } else {
      last->next = &waiter;
      first->previous = &waiter;
    }
  }
  // Requires: waiter.linked.
  void unlink(Waiter& waiter) {
    Waiter* const next = waiter.next;
    Waiter* const previous = waiter.previous;
    waiter.linked = false;
    if (next == &waiter) {
      first_ = nullptr;
      return;
    }
    previous->next = next;
    next->previous = previous;
    if (first() == &waiter) first_ = next;
  }

 private:
  Plain<W, Waiter*> first_{nullptr};  // its `previous` is the last
};

// Holds the spin lock of a wait list for a scope, in which the thread keeps its core where the world can promise that.
template <World W>
class [[nodiscard]] WaitListGuard {
 public:
  explicit WaitListGuard(typename W::SpinLock& lock) : lock_(lock) { lock_.lock(); }
  ~WaitListGuard() { lock_.unlock(); }
  WaitListGuard(const WaitListGuard&) = delete;
  WaitListGuard& operator=(const WaitListGuard&) = delete;

 private:
  [[no_unique_address]] typename W::NoPreempt no_preempt_;
  typename W::SpinLock& lock_;
};

}  // namespace convoy
