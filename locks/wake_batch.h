// wake_batch.h — Threads to be woken, collected under a spin lock and unparked once it was dropped.
// SPDX-License-Identifier: MIT
//
// A wake-up is long against the section in which it is decided; whoever spins for the lock that guards the queue should
// not wait for it, and the woken thread should not find that lock taken. So who holds it only notes the thread:
//
//   WakeBatch<W> wakes;                      declared first, so issued last
//   const WaitListGuard<W> guard(wait_lock_);
//   ... unlink the waiter, the releasing store as the last access to it, wakes.add(its thread)
//
// It must not be issued in a scope of W::NoPreempt that goes on to sleep: that scope may keep the wakes back.
//
// Origin: Linux, wake_q_add() and wake_up_q(). Different here: the kernel's list runs through the tasks and has no
// bound; this one is an array of kCapacity, and when it is full the next add() unparks all that it holds at once, under
// the caller's spin lock. The rwsem never needs that: it wakes at most 256 readers in one go, as the kernel's. A thread
// may stand in it twice; the second unpark finds it awake.
#pragma once

#include <cstddef>
#include <cstdint>

#include "world.h"

namespace convoy {

template <World W>
class WakeBatch {
 public:
  static constexpr std::size_t kCapacity = 256;

  WakeBatch() {}
  ~WakeBatch() { issue(); }
  WakeBatch(const WakeBatch&) = delete;
  WakeBatch& operator=(const WakeBatch&) = delete;

  bool empty() const { return size_ == 0; }
  void add(Thread thread) {
    if (size_ == kCapacity) issue();
    indices_[size_++] = thread.index;
  }
  // Unparks them, first come first, and forgets them. For who goes on to sleep in the same scope.
  void issue() {
    for (std::size_t i = 0; i < size_; ++i) W::unpark(Thread{indices_[i]});
    size_ = 0;
  }

 private:
  std::size_t size_ = 0;
  std::uint32_t indices_[kCapacity];  // the first size_ are set
};

}  // namespace convoy
