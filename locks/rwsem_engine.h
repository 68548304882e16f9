// rwsem_engine.h — The engine that the rwsems of 2023 share: fast paths, readers, releases.
// SPDX-License-Identifier: MIT
//
// A sleeping lock that many readers or one writer may hold. Exclusive lock and unlock are one read-modify-write each
// and a store of the owner, shared ones too. What a policy decides is how a writer waits in the queue, and what a waker
// does for a writer at its head (rwsem.h, rwsem_transfer.h, rwsem_restored.h).
//
//   reader:  add one; nothing in the way: done. No writer and no hand-off: keep it (a steal from who sleeps). Else
//            queue, take it back, and sleep until a waker has granted the lock
//   writer:  0 → writer; spin (rwsem_spin.h); queue
//   waker:   a reader at the head: grant the lock to all readers in the queue, past writers, 256 at most; a
//            writer: the policy decides
//
// Readers are granted in groups, so they and the writers take turns; a reader that arrives passes sleeping writers
// while readers come and go one at a time. A waiter that has waited for 4 ms asks for a hand-off, which ends both that
// and the stealing of spinners: so nobody starves.
//
// Origin: Linux 6.3-rc, kernel/locking/rwsem.c at b613c7f31476, without real-time tasks and downgrade. Changed: whether
// a waiter set the hand-off is read under wait_lock; a reader that meets the guard queues, where the kernel's keeps its
// bias; the count is guarded for any width. A deadline acts as the kernel's signal.
//
// unlock() and unlock_shared() touch the lock and its class after A1: who frees the memory of a lock must know that
// none is under way.
//
// Invariants
//   I1  A writer holds the lock => the readers in the count are ones that will take themselves back.
//   I2  Somebody waits => waiters is set.
//   I3  Hand-off is set => waiters is set.
//
// Transitions (readers,hand-off,waiters,writer)
//   (0,0,0,0) → (0,0,0,1)   exclusive fast path            (r,0,0,0) → (r+1,0,0,0)  shared fast path
//   (0,0,w,0) → (0,0,w,1)   spinner steals                 (r,0,1,0) → (r+1,0,1,0)  reader steals
//   (r,h,w,x) → (r,h,1,x)   queue                          (r,0,1,x) → (r,1,1,x)    a waiter has waited too long
//   (0,h,1,0) → (0,0,w,1)   queued writer, or its waker    (r,h,1,0) → (r+n,0,w,0)  grant to n readers
//   (r,h,w,1) → (r,h,w,0)   unlock                         (r,h,w,0) → (r-1,h,w,0)  unlock shared
//
// Synchronizes-with
//   A: A1 unlock, unlock shared → A0 lock, try, steal, claim for a waiter (critical section)
//   B: B1 grant → B0 waiter (the critical section, by A1 → A0 of the waker)
#pragma once

#include <cstdint>

#include "annotations.h"
#include "rwsem_queue.h"
#include "rwsem_word.h"
#include "wait_list.h"
#include "wake_batch.h"
#include "world.h"

namespace convoy {

// Policy is the class that derives from it and has
//   bool lock_slow(Deadline)                   the slow path of a writer; false when it left without the lock
//   void wake_writer(Waiter&, WakeBatch<W>&)   what a waker does, under wait_lock, for a writer at the head
//   static bool may_pass(const Waiter& me, const Waiter& first, uint64_t count)
//                                              whether a queued writer may take a free lock, or ask for a hand-off
//   static constexpr bool kHandoffEndsSpinning   whether a hand-off for a reader also sets nonspinnable
template <World W, class Policy, int kReaderBits>
class RwsemEngine : public RwsemQueue<W, Policy, kReaderBits> {
  using Base = RwsemQueue<W, Policy, kReaderBits>;

 public:
  explicit RwsemEngine(LockClass<W>& lock_class) : Base(lock_class) {}

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (!try_lock()) [[unlikely]]
      Base::policy().lock_slow(kNever);
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint64_t free = 0;
    if (!count_.compare_exchange(free, Count::kWriter, acquire)) return false;  // A0
    Base::own(W::self());
    return true;
  }
  bool try_lock_until(Deadline deadline) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return try_lock() || Base::policy().lock_slow(deadline);
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    owner_.store(0, relaxed);                                             // relaxed: a hint
    const std::uint64_t old = count_.fetch_sub(Count::kWriter, release);  // A1
    if ((old & (Count::kWriter | Count::kWaiters)) != Count::kWriter) [[unlikely]]
      unlock_slow(old);
  }

  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    const std::uint64_t count = add_reader();
    if ((count & Count::kNotForReaders) != 0) [[unlikely]] {
      lock_shared_slow(count, kNever);
    } else {
      Base::own_shared(W::self());
    }
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    std::uint64_t count = count_.load(relaxed);  // relaxed: a first guess
    while (((count + Count::kReader) & Count::kNotForReaders) == 0) {
      if (!count_.compare_exchange(count, count + Count::kReader, acquire)) continue;  // A0
      Base::own_shared(W::self());
      return true;
    }
    return false;
  }
  bool try_lock_shared_until(Deadline deadline) CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    const std::uint64_t count = add_reader();
    if ((count & Count::kNotForReaders) != 0) return lock_shared_slow(count, deadline);
    Base::own_shared(W::self());
    return true;
  }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {
    const std::uint64_t old = count_.fetch_sub(Count::kReader, release);  // A1
    if ((old & (Count::kWriter | Count::kWaiters)) != 0 || old < Count::kReader) [[unlikely]]
      unlock_shared_slow(old);
  }

  // I2, I3. Requires: wait_lock is held, or nothing moves. Relaxed: nothing is done with what it guards.
  void check_invariants() const {
    const std::uint64_t count = count_.load(relaxed);
    if ((count & Count::kWaiters) != 0) return;
    if (!wait_list_.empty()) W::panic("rwsem: somebody waits and the waiters bit is clear (I2)");
    if ((count & Count::kHandoff) != 0) W::panic("rwsem: hand-off is set and the waiters bit is clear (I3)");
  }

 protected:
  using Base::class_;
  using Base::count_;
  using Base::owner_;
  using Base::wait_list_;
  using Base::wait_lock_;
  using typename Base::Count;
  using typename Base::Owner;
  using typename Base::Waiter;
  using typename Base::Wake;

 private:
  std::uint64_t add_reader() { return count_.fetch_add(Count::kReader, acquire) + Count::kReader; }  // A0

  // `count` is what the reader saw after its own step.
  [[gnu::noinline]] bool lock_shared_slow(std::uint64_t count, Deadline deadline) {
    if (may_steal(count)) return steal_shared(count);
    Waiter me(false);
    {
      WakeBatch<W> wakes;
      const WaitListGuard<W> guard(wait_lock_);
      if (!append_reader(me, wakes)) return Base::acquired(Event::kRwsemRlockFast);
    }
    if (!Base::await_grant(me, deadline, Event::kRwsemSleepReader))
      return Base::leave(me, Event::kRwsemRlock, Event::kRwsemRlockFail);
    return Base::acquired(Event::kRwsemRlock);
  }

  // Readers do not stream past a sleeping waiter: with more than one inside, and no writer, the next one queues.
  bool may_steal(std::uint64_t count) const {
    const bool reader_owned = (owner_.load(relaxed) & Owner::kReaderOwned) != 0;  // relaxed: a hint
    if (reader_owned && Count::readers(count) > 1 && (count & Count::kWriter) == 0) return false;
    return (count & (Count::kWriter | Count::kHandoff | Count::kGuard)) == 0;
  }

  bool steal_shared(std::uint64_t count) {
    Base::own_shared(W::self());
    class_.count(Event::kRwsemRlockSteal);
    if (Count::readers(count) == 1 && (count & Count::kWaiters) != 0) {
      WakeBatch<W> wakes;
      const WaitListGuard<W> guard(wait_lock_);
      if (!wait_list_.empty()) Base::mark_wake(Wake::kReadersToo, wakes);
    }
    return true;
  }

  // False when there was no need to queue: the caller has the lock.
  bool append_reader(Waiter& me, WakeBatch<W>& wakes) {
    std::uint64_t change = 0 - Count::kReader;
    if (wait_list_.empty()) {
      const std::uint64_t count = count_.load(acquire);  // A0: a writer may have let go since our own step
      if ((count & (Count::kWriter | Count::kGuard)) == 0) {
        Base::own_shared(me.thread);
        return false;
      }
      change += Count::kWaiters;
    }
    const std::uint64_t count = count_.fetch_add(change, relaxed) + change;  // I2; relaxed: mark_wake() looks again
    wait_list_.append(me);
    Base::wake_if_no_writer(count, wakes);
    return true;
  }

  [[gnu::noinline]] void wake() {
    WakeBatch<W> wakes;
    const WaitListGuard<W> guard(wait_lock_);
    if (!wait_list_.empty()) Base::mark_wake(Wake::kAny, wakes);
  }

  [[gnu::noinline]] void unlock_slow(std::uint64_t old) {
    if ((old & Count::kWriter) == 0) Base::panic_misuse("unlock", old);
    wake();
  }
  [[gnu::noinline]] void unlock_shared_slow(std::uint64_t old) {
    if ((old & Count::kWriter) != 0 || old < Count::kReader) Base::panic_misuse("unlock_shared", old);  // I1
    if (((old - Count::kReader) & Count::kLocked) != 0) return;
    Base::clear_nonspinnable();
    wake();
  }
};

}  // namespace convoy
