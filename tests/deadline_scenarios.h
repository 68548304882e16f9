// deadline_scenarios.h — Waiters that leave at their deadline, wherever they stand in the queue.
// SPDX-License-Identifier: MIT
//
// Goal: whoever leaves takes nothing with it that others wait for. Method: as scenarios.h; and for a queue of a given
// order, waiters that come one after the other, each when the one before is asleep (sleepers_world.h).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/scenarios.h"
#include "tests/sleepers_world.h"

namespace convoy {

// Thread 0 holds the lock for a while, thread 1 waits with a deadline, the others without. Whenever thread 1 leaves,
// what it was given must reach the others, or they sleep for ever.
template <Host W, class Lock>
class LeaveAtDeadline : public Scenario {
 public:
  explicit LeaveAtDeadline(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    for (int round = 0; round < size_.rounds; ++round) {
      if (thread != 1) {
        const Guard<W, Lock> guard(lock_, kScenarioSite);
        count_ = count_ + 1;
      } else if (lock_.try_lock_until(W::deadline_in(20'000))) {
        count_ = count_ + 1;
        lock_.unlock();
      } else {
        W::witness("a waiter that left");
        left_ = left_ + 1;
      }
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(count_ + left_ == size_.threads * size_.rounds, "who did not leave had the lock");
    const std::uint64_t counted =
        class_.total(Event::kPageLockLeave) + class_.total(Event::kMutexLeave) + class_.total(Event::kRwsemWlockFail);
    W::require(counted == static_cast<std::uint64_t>(left_), "each leave is counted");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
  Plain<W, int> left_{0};
};

// One holder, and waiters that queue in the order of the plan, one of which has a deadline: it is the first, one in the
// middle, or the last, and it leaves when its time is up, or is granted the lock at that very moment.
// Requires: W is a SleepersWorld, and Lock a lock of W that sleeps.
template <Host W, class Lock>
class LeaveQueue : public Scenario {
 public:
  struct Waiting {
    Mode mode;
    bool leaves = false;
  };
  struct Plan {
    Mode holder;
    std::vector<Waiting> waiting;
    bool until_last_is_in = false;  // the holder stays until then: who left must not bar those whom it barred
  };

  explicit LeaveQueue(Plan plan) : plan_(std::move(plan)) { W::forget_sleepers(); }
  int threads() const override { return 1 + static_cast<int>(plan_.waiting.size()); }
  void run(int thread) override {
    W::take_place(thread);
    if (thread == 0) return hold();
    if (thread == 1) {
      W::await(held_, acquire, [](std::uint32_t held) { return held == 1; });
    } else {
      W::await_asleep(thread - 1);
    }
    const Waiting& me = plan_.waiting[static_cast<std::size_t>(thread - 1)];
    if (me.leaves) {
      wait_until_deadline(thread, me.mode);
    } else {
      under<W>(lock_, me.mode, [&] { enter(thread, me.mode); });
    }
    W::note_asleep();  // or gone, before it had to sleep
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(seen_.load(relaxed) == (1u << threads()) - 2, "who did not leave had the lock");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  void hold() {
    under<W>(lock_, plan_.holder, [&] {
      held_.store(1, release);
      for (int waiter = 1; waiter < threads(); ++waiter) W::await_asleep(waiter);
      const std::uint32_t last = 1u << (threads() - 1);
      if (plan_.until_last_is_in) W::await(seen_, acquire, [last](std::uint32_t seen) { return (seen & last) != 0; });
    });
  }
  void enter(int thread, Mode mode) {
    const int value = data_;
    if (mode == Mode::kExclusive) data_ = value + 1;
    seen_.fetch_or(1u << thread, release);
  }
  void wait_until_deadline(int thread, Mode mode) CONVOY_NO_TSA {
    const Deadline deadline = W::deadline_in(200'000);
    if constexpr (SharedTimedLockable<Lock>) {
      if (mode == Mode::kShared) {
        if (!lock_.try_lock_shared_until(deadline)) return leave(thread);
        enter_late(thread, mode);
        lock_.unlock_shared();
        return;
      }
    }
    if (!lock_.try_lock_until(deadline)) return leave(thread);
    enter_late(thread, mode);
    lock_.unlock();
  }
  void enter_late(int thread, Mode mode) {
    if (W::timed_out()) W::witness("a waiter that had the lock as its time ran out");
    enter(thread, mode);
  }
  void leave(int thread) {
    W::witness("a waiter that left");
    seen_.fetch_or(1u << thread, release);
  }
  Plan plan_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> data_{0};
  Atomic<W, std::uint32_t> held_{0};
  Atomic<W, std::uint32_t> seen_{0};  // one bit a waiter that had the lock, or left
};

}  // namespace convoy
