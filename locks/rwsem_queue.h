// rwsem_queue.h — The wait queue of an rwsem: who queues, who is woken, who is handed the lock, who leaves.
// SPDX-License-Identifier: MIT
//
// All of it happens under wait_lock, wakes come after it. A reader at the head is granted the lock, and with it every
// other reader in the queue, past writers, 256 at most. What a waker does for a writer at the head is the policy's.
// Invariants: rwsem_engine.h.
//
// Synchronizes-with
//   A: see rwsem_engine.h
//   B: see rwsem_engine.h
#pragma once

#include <cstdint>

#include "rwsem_spin.h"
#include "rwsem_word.h"
#include "wait_list.h"
#include "wake_batch.h"
#include "world.h"

namespace convoy {

template <World W, class Policy, int kReaderBits>
class RwsemQueue : public RwsemSpin<W, kReaderBits> {
  using Base = RwsemSpin<W, kReaderBits>;

 protected:
  using Base::Base;
  using Base::class_;
  using Base::count_;
  using Base::owner_;
  using Base::wait_list_;
  using Base::wait_lock_;
  using typename Base::Count;
  using typename Base::Owner;
  using typename Base::Waiter;

  // Who a waker is to look for: anybody; readers only; readers, on behalf of a reader that holds the lock.
  enum class Wake : std::uint8_t { kAny, kReaders, kReadersToo };

  Policy& policy() { return static_cast<Policy&>(*this); }

  // The wait of a writer that takes the lock for itself, or finds that a waker took it for it. False when it left at
  // the deadline.
  bool compete(Deadline deadline) {
    Waiter me(true);
    for (bool queued = false;; queued = true) {
      W::prepare_park();
      if (queued && me.was_granted()) return Base::acquired(Event::kRwsemWlock);
      const Turn turn = take_turn(me, queued);
      if (turn == Turn::kAcquired) return Base::acquired(Event::kRwsemWlock);
      if (W::expired(deadline)) return leave(me, Event::kRwsemWlock, Event::kRwsemWlockFail);
      if (turn == Turn::kTryAgain || (turn == Turn::kSpin && spin_for_handoff(me))) continue;
      W::park_until(deadline);
      class_.count(Event::kRwsemSleepWriter);
    }
  }

  // Sleeps until granted; false when the deadline passed before. Not under wait_lock.
  bool await_grant(Waiter& me, Deadline deadline, Event sleep) {
    for (;;) {
      W::prepare_park();
      if (me.was_granted()) return true;
      if (W::expired(deadline)) return false;
      W::park_until(deadline);
      class_.count(sleep);
    }
  }

  // The deadline has passed: unlinks `me`, and passes on what it was given. True when a waker was faster and it has the
  // lock. Not under wait_lock.
  bool leave(Waiter& me, Event acquired, Event failed) {
    WakeBatch<W> wakes;
    const WaitListGuard<W> guard(wait_lock_);
    if (!me.linked) return Base::acquired(acquired);
    const bool was_first = wait_list_.first() == &me;
    wait_list_.unlink(me);
    if (wait_list_.empty()) {
      count_.fetch_and(~(Count::kWaiters | Count::kHandoff), relaxed);  // I2, I3; relaxed: under wait_lock
    } else if (was_first) {
      mark_wake(Wake::kAny, wakes);
    }
    class_.count(failed);
    return false;
  }

  // The rest under wait_lock.

  // Queues a writer. Wakes are collected for readers ahead of it that nobody else would wake.
  void append_writer(Waiter& me, WakeBatch<W>& wakes) {
    const bool first = wait_list_.empty();
    if (first) count_.fetch_or(Count::kWaiters, relaxed);  // I2; relaxed: wait_lock orders it before a waker's walk
    wait_list_.append(me);
    if (!first) wake_if_no_writer(count_.load(relaxed), wakes);  // relaxed: mark_wake() looks again
  }

  // The try of a queued writer, or of a waker for the first one. Takes the lock and unlinks `me`; or, when that has
  // waited too long, asks for a hand-off.
  bool try_as_waiter(Waiter& me) {
    Waiter& first = *wait_list_.first();
    std::uint64_t count = count_.load(relaxed);  // relaxed: a first guess
    for (;;) {
      if (!policy().may_pass(me, first, count)) return false;
      const bool locked = (count & Count::kLocked) != 0;
      if (locked && ((count & Count::kHandoff) != 0 || !W::expired(me.patience))) return false;
      const std::uint64_t wanted = locked ? count | Count::kHandoff : taken_by(me, count);
      if (!count_.compare_exchange(count, wanted, acquire)) continue;  // A0
      if (locked) {
        first.handoff_set = true;
        class_.count(Event::kRwsemWlockHandoff);
        return false;
      }
      wait_list_.unlink(me);
      Base::own(me.thread);
      return true;
    }
  }

  // For a waker that finds hand-off set. With it set, under wait_lock, a lock that was free a moment ago can have been
  // taken by nobody since: a reader in the count now will take itself back. So an addition takes it.
  bool claim_handed_off(Waiter& first) {
    const std::uint64_t count = count_.load(relaxed);  // relaxed: the addition synchronizes
    if ((count & Count::kLocked) != 0) return false;
    count_.fetch_add(taken_by(first, count) - count, acquire);  // A0
    wait_list_.unlink(first);
    Base::own(first.thread);
    class_.count(Event::kRwsemWlockEhandoff);
    return true;
  }
  bool is_handoff_set() const { return (count_.load(relaxed) & Count::kHandoff) != 0; }  // relaxed: under wait_lock

  // Decides who is woken. Requires: somebody waits.
  void mark_wake(Wake wake, WakeBatch<W>& wakes) {
    Waiter& first = *wait_list_.first();
    if (first.is_writer) {
      if (wake == Wake::kAny) policy().wake_writer(first, wakes);
    } else if (wake == Wake::kReadersToo) {
      grant_readers(0, wakes);
    } else if (claim_for_reader(first)) {
      Base::own_shared(first.thread);
      grant_readers(1, wakes);
    }
  }

  // Wakes the first writer without the lock.
  void wake_only(Waiter& first, WakeBatch<W>& wakes) {
    wakes.add(first.thread);
    class_.count(Event::kRwsemWakeWriter);
  }
  // Requires: the waiter is unlinked, the lock is its own. Its node may be gone when this returns.
  static void grant(Waiter& waiter, WakeBatch<W>& wakes) {
    const Thread thread = waiter.thread;
    waiter.granted.store(1, release);  // B1, absolute last access
    wakes.add(thread);
  }

  // For who has just queued, and may have hidden the end of a hold from its unlock.
  void wake_if_no_writer(std::uint64_t count, WakeBatch<W>& wakes) {
    if ((count & Count::kWriter) != 0) return;
    if ((count & Count::kReaders) != 0) return mark_wake(Wake::kReaders, wakes);
    Base::clear_nonspinnable();
    mark_wake(Wake::kAny, wakes);
  }

 private:
  // The kernel's MAX_READERS_WAKEUP.
  static constexpr std::uint64_t kMaxReadersWoken = 256;
  static_assert(kMaxReadersWoken <= WakeBatch<W>::kCapacity);

  enum class Turn : std::uint8_t { kAcquired, kTryAgain, kSpin, kSleep };

  Turn take_turn(Waiter& me, bool queued) {
    WakeBatch<W> wakes;
    const WaitListGuard<W> guard(wait_lock_);
    if (!queued) append_writer(me, wakes);
    if (!wakes.empty()) return Turn::kTryAgain;  // readers first: wait_lock is not kept while they are woken
    if (!me.linked || try_as_waiter(me)) return Turn::kAcquired;
    return me.handoff_set ? Turn::kSpin : Turn::kSleep;
  }

  // The first waiter, for whom hand-off is set, spins outside of the OSQ: nobody can be faster. True when there may be
  // something to get without sleeping.
  bool spin_for_handoff(const Waiter& me) {
    if (Owner::state(Base::spin_on_owner()) != RwsemOwner::kNobody) return me.was_granted();
    return W::spin_for_either(
               count_, [](std::uint64_t count) { return (count & Count::kLocked) == 0; },  //
               owner_, [](std::uint64_t owner) { return owner != 0; },                     //
               SpinLimit{.optimistic = true}) == Spin::kSatisfied;
  }

  // The count once a waiter has the lock exclusively.
  std::uint64_t taken_by(const Waiter& waiter, std::uint64_t count) const {
    const std::uint64_t left = wait_list_.is_alone(waiter) ? Count::kWaiters | Count::kHandoff : Count::kHandoff;
    return (count & ~left) | Count::kWriter;
  }

  // Counts the first waiter in, so that no writer can come before it. False when one is there, or the guard is set.
  bool claim_for_reader(Waiter& first) {
    for (;;) {
      const std::uint64_t old = count_.fetch_add(Count::kReader, acquire);  // A0
      if ((old & Count::kWriter) != 0) {
        count_.fetch_add(handoff_for_reader(first, old) - Count::kReader,
                         relaxed);  // relaxed: takes back, under wait_lock
        return false;
      }
      if (((old + Count::kReader) & Count::kGuard) == 0) return true;
      // The last reader may leave while we are counted in, and then wakes nobody.
      const std::uint64_t left = count_.fetch_sub(Count::kReader, relaxed) - Count::kReader;  // relaxed: as above
      if ((left & Count::kLocked) != 0) return false;
    }
  }

  // What to add to the count for a first reader that meets a writer.
  std::uint64_t handoff_for_reader(Waiter& first, std::uint64_t count) {
    if (!W::expired(first.patience)) return 0;
    first.handoff_set = true;
    if ((count & Count::kHandoff) != 0) return 0;
    class_.count(Event::kRwsemRlockHandoff);
    // Before the count, on whose change spinners look at the owner.
    if (Policy::kHandoffEndsSpinning) owner_.fetch_or(Owner::kNonspinnable, relaxed);
    return Count::kHandoff;
  }

  // Grants the lock to the readers in the queue, `counted` of whom are in the count already. Requires: the first is
  // one.
  void grant_readers(std::uint64_t counted, WakeBatch<W>& wakes) {
    WaitList<W, Waiter> granted;
    std::uint64_t readers = 0;
    for (Waiter* waiter = wait_list_.first(); waiter != nullptr && readers < kMaxReadersWoken;) {
      Waiter* const next = wait_list_.next(*waiter);
      if (!waiter->is_writer) {
        wait_list_.unlink(*waiter);
        granted.append(*waiter);
        ++readers;
      }
      waiter = next;
    }
    const std::uint64_t over = wait_list_.empty() ? Count::kWaiters | Count::kHandoff : Count::kHandoff;  // I2, I3
    const std::uint64_t set = count_.load(relaxed) & over;                  // relaxed: both change under wait_lock only
    count_.fetch_add((readers - counted) * Count::kReader - set, relaxed);  // relaxed: who claimed has synchronized
    class_.count(Event::kRwsemWakeReader);
    while (Waiter* const reader = granted.first()) {
      granted.unlink(*reader);
      grant(*reader, wakes);
    }
  }
};

}  // namespace convoy
