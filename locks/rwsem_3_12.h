// rwsem_3_12.h — Reader/writer sleeping lock of Linux 3.12: one count, a FIFO queue, no spinning.
// SPDX-License-Identifier: MIT
//
// Every lock and unlock is one addition to the count; who sees that it was not enough queues. Readers never pass a
// waiter, but a writer that is running takes a free lock ahead of all who sleep. A release wakes the head of the queue:
// a reader is granted the lock, and with it the run of readers behind it up to the next writer; a writer is only woken,
// and tries for itself. Nobody spins, there is no owner, and threads are woken under wait_lock.
//
// Fairness: readers in FIFO groups; writers barge, without a bound. Choose it to see what a lock without optimistic
// spinning does to many short exclusive sections: most of the machine sleeps.
//
// Origin: Linux 3.10 to 3.12, lib/rwsem.c, x86-64. Changed: a grant is a word of the waiter that is stored last, where
// the kernel clears its task pointer; waits may have a deadline, and who leaves passes on what it was given.
//
// Count (64 bits): low half  who is active: holds the lock, or is about to see that it may not; one each
//                  high half, negative: 1 for every active writer, and 1 while the queue is not empty, set and taken
//                  back under wait_lock, but for the steps of a reader and a writer, which come before
// So: a reader's step is right iff the count is not negative after it; a writer's iff nobody was active before it.
//
// Three steps without which wake-ups are lost
//   S1  who queues takes its own step back and says that the queue is not empty *in one addition*, whose result decides
//       whom it must wake: it may have hidden the end of a hold from the unlocker
//   S2  a waker counts a reader in before it grants; a writer was faster: takes that back, *and if nobody is active
//       then, starts again*: that writer's unlock saw our step and woke nobody
//   S3  when the run of readers reaches the end of the queue, the same addition says that the queue is empty
//
// unlock() and unlock_shared() touch the lock and its class after A1, as in rwsem_engine.h.
//
// Invariants
//   I1  Nobody is active => the count is 0, or says that the queue is not empty; the latter if it is not.
//
// Synchronizes-with
//   A: A1 unlock, unlock shared → A0 lock, try, claim for a reader (critical section)
//   B: B1 grant → B0 waiting reader (the critical section, by A1 → A0 of the waker)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "wait_list.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("rwsem-3.12") Rwsem312 {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "rwsem-3.12",
      .kind = Kind::kSharedSleeping,
      .fairness = "readers in FIFO groups, writers barge",
      .origin = "Linux 3.10 to 3.12",
      .events = "rwsem_",
  };
  explicit Rwsem312(LockClass<W>& lock_class) : class_(lock_class) {}
  Rwsem312(const Rwsem312&) = delete;
  Rwsem312& operator=(const Rwsem312&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (active(count_.fetch_add(kWriter, acquire)) != 0) lock_slow(kNever);  // A0
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint64_t count = count_.load(relaxed);  // relaxed: a first guess
    while (active(count) == 0) {
      if (count_.compare_exchange(count, count + kWriter, acquire)) return true;  // A0
    }
    return false;
  }
  bool try_lock_until(Deadline deadline) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return active(count_.fetch_add(kWriter, acquire)) == 0 || lock_slow(deadline);  // A0
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint64_t old = count_.fetch_sub(kWriter, release);  // A1
    if (old != kWriter) [[unlikely]]
      unlock_slow(old);
  }

  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    if (is_negative(count_.fetch_add(kReader, acquire) + kReader)) lock_shared_slow(kNever);  // A0
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    std::uint64_t count = count_.load(relaxed);  // relaxed: a first guess
    while (!is_negative(count)) {
      if (count_.compare_exchange(count, count + kReader, acquire)) return true;  // A0
    }
    return false;
  }
  bool try_lock_shared_until(Deadline deadline) CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    return !is_negative(count_.fetch_add(kReader, acquire) + kReader) || lock_shared_slow(deadline);  // A0
  }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {
    const std::uint64_t old = count_.fetch_sub(kReader, release);  // A1
    if (is_negative(old) || old == 0) [[unlikely]]
      unlock_shared_slow(old);
  }

  // I1. Requires: wait_lock is held, or nothing moves. Relaxed: nothing is done with what it guards.
  void check_invariants() const {
    const std::uint64_t count = count_.load(relaxed);
    if (active(count) != 0 || count == kQueue) return;
    if (count != 0) W::panic("rwsem-3.12: nobody is active and the count is odd (I1)");
    if (!wait_list_.empty()) W::panic("rwsem-3.12: somebody waits and the count does not say so (I1)");
  }
  LockClass<W>& lock_class() { return class_; }

 private:
  static constexpr std::uint64_t kReader = 1;
  static constexpr std::uint64_t kQueue = std::uint64_t{0} - (std::uint64_t{1} << 32);  // the queue is not empty
  static constexpr std::uint64_t kWriter = kQueue + 1;

  static constexpr std::uint32_t active(std::uint64_t count) { return static_cast<std::uint32_t>(count); }
  static constexpr bool is_negative(std::uint64_t count) { return static_cast<std::int64_t>(count) < 0; }
  // Given that somebody is in the queue: whether a writer is active as well.
  static constexpr bool has_writer(std::uint64_t count) {
    return static_cast<std::int64_t>(count) < static_cast<std::int64_t>(kQueue);
  }
  static_assert(active(kWriter) == 1 && has_writer(kQueue + kWriter) && !has_writer(kQueue + kReader));

  struct Waiter : ListedWaiter<W, Waiter> {
    explicit Waiter(bool exclusive) : is_writer(exclusive) {}
    Plain<W, bool> is_writer;             // set once
    Atomic<W, std::uint32_t> granted{0};  // 1 once a waker has unlinked a reader and taken the lock for it
  };

  // The caller's step is in the count already.
  [[gnu::noinline]] bool lock_slow(Deadline deadline) {
    Waiter me(true);
    for (bool queued = false;; queued = true) {
      W::prepare_park();
      const bool nobody_active = !queued || active(count_.load(relaxed)) == 0;  // relaxed: try_as_waiter() looks again
      if (nobody_active && take_turn(me, queued)) return acquired(Event::kRwsemWlock);
      if (W::expired(deadline)) return leave(me, Event::kRwsemWlock, Event::kRwsemWlockFail);
      W::park_until(deadline);
      class_.count(Event::kRwsemSleepWriter);
    }
  }

  bool take_turn(Waiter& me, bool queued) {
    const WaitListGuard<W> guard(wait_lock_);
    if (!queued) append_writer(me);
    return try_as_waiter(me);
  }

  // A writer behind others wakes those readers ahead of it that may share with who is active.
  void append_writer(Waiter& me) {
    const bool first = wait_list_.empty();
    const std::uint64_t change = (first ? kQueue : 0) - kWriter;
    const std::uint64_t count = count_.fetch_add(change, relaxed) + change;  // S1; relaxed: wake_head() looks again
    wait_list_.append(me);
    if (!first && active(count) != 0 && !has_writer(count)) wake_head(false);
  }

  bool try_as_waiter(Waiter& me) {
    std::uint64_t count = kQueue;
    const std::uint64_t taken = kWriter + (wait_list_.is_alone(me) ? 0 : kQueue);
    if (!count_.compare_exchange(count, taken, acquire)) return false;  // A0
    wait_list_.unlink(me);
    return true;
  }

  [[gnu::noinline]] bool lock_shared_slow(Deadline deadline) {
    Waiter me(false);
    append_reader(me);
    for (;;) {
      W::prepare_park();
      if (me.granted.load(acquire) != 0) return acquired(Event::kRwsemRlock);  // B0
      if (W::expired(deadline)) return leave(me, Event::kRwsemRlock, Event::kRwsemRlockFail);
      W::park_until(deadline);
      class_.count(Event::kRwsemSleepReader);
    }
  }

  void append_reader(Waiter& me) {
    const WaitListGuard<W> guard(wait_lock_);
    const bool first = wait_list_.empty();
    const std::uint64_t change = (first ? kQueue : 0) - kReader;
    const std::uint64_t count = count_.fetch_add(change, relaxed) + change;  // S1; relaxed: wake_head() looks again
    wait_list_.append(me);
    if (count == kQueue || (first && !has_writer(count))) wake_head(true);
  }

  // Under wait_lock. Requires: somebody waits.
  void wake_head(bool writers_too) {
    Waiter& first = *wait_list_.first();
    if (first.is_writer) {
      if (!writers_too) return;
      class_.count(Event::kRwsemWakeWriter);
      W::unpark(first.thread);
    } else if (claim_for_reader()) {
      grant_readers();
    }
  }

  // S2: counts the first reader in; false when a writer is active.
  bool claim_for_reader() {
    for (;;) {
      if (!has_writer(count_.fetch_add(kReader, acquire))) return true;         // A0
      const std::uint64_t left = count_.fetch_sub(kReader, relaxed) - kReader;  // relaxed: takes back
      if (active(left) != 0) return false;
    }
  }

  // The first is counted in already.
  void grant_readers() {
    std::uint64_t readers = 0;
    Waiter* end = wait_list_.first();
    for (; end != nullptr && !end->is_writer; end = wait_list_.next(*end)) ++readers;
    const std::uint64_t change = (readers - 1) * kReader - (end == nullptr ? kQueue : 0);
    if (change != 0) count_.fetch_add(change, relaxed);  // S3; relaxed: claim_for_reader() has synchronized
    class_.count(Event::kRwsemWakeReader);
    while (readers-- != 0) grant(*wait_list_.first());
  }

  void grant(Waiter& reader) {
    const Thread thread = reader.thread;
    wait_list_.unlink(reader);
    reader.granted.store(1, release);  // B1, absolute last access
    W::unpark(thread);
  }

  // The deadline has passed. True when a waker was faster and the lock is the caller's.
  bool leave(Waiter& me, Event had, Event failed) {
    const WaitListGuard<W> guard(wait_lock_);
    if (!me.linked) return acquired(had);
    const bool was_first = wait_list_.first() == &me;
    wait_list_.unlink(me);
    if (wait_list_.empty()) {
      count_.fetch_sub(kQueue, relaxed);  // I1; relaxed: under wait_lock
    } else if (was_first) {
      wake_head(true);  // what it was given, or could have been
    }
    class_.count(failed);
    return false;
  }

  bool acquired(Event how) {
    class_.count(how);
    return true;
  }

  [[gnu::noinline]] void wake() {
    const WaitListGuard<W> guard(wait_lock_);
    if (!wait_list_.empty()) wake_head(true);
  }
  [[gnu::noinline]] void unlock_slow(std::uint64_t old) {
    if (active(old) == 0 || !is_negative(old)) panic_misuse("unlock", old);
    if (active(old - kWriter) == 0 && is_negative(old - kWriter)) wake();
  }
  [[gnu::noinline]] void unlock_shared_slow(std::uint64_t old) {
    if (active(old) == 0) panic_misuse("unlock_shared", old);
    if (active(old - kReader) == 0) wake();
  }
  [[noreturn]] void panic_misuse(const char* operation, std::uint64_t count) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.*s: %s of an rwsem that is not held so; count was { high %d, active %u } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), operation,
                  static_cast<int>(count >> 32), active(count), W::self().index);
    W::panic(text);
  }

  Atomic<W, std::uint64_t> count_{0};
  typename W::SpinLock wait_lock_;
  WaitList<W, Waiter> wait_list_;  // guarded by wait_lock_
  LockClass<W>& class_;
};

}  // namespace convoy
