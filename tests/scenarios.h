// scenarios.h — What every lock is asked to do, written once for real threads and for the explorer.
// SPDX-License-Identifier: MIT
//
// Goal: mutual exclusion, no lost wake-up, bounded theft, and a wait that ends at its deadline without harm to others.
// Method: each body claims its own result by W::require; the explorer adds deadlock, data races and use after the end.
// W::witness names what must happen in some schedule, so that a scenario that no longer reaches its subject fails.
#pragma once

#include <cstdint>

#include "locks/annotations.h"
#include "locks/lock_class.h"
#include "locks/lockable.h"
#include "locks/traits.h"
#include "locks/world.h"
#include "sim/scenario.h"

namespace convoy {

struct ScenarioSize {
  int threads;
  int rounds;
};

inline constexpr Site kScenarioSite{"scenario"};

// The identities of events.h, which hold once nobody waits.
template <Host W>
void claim_page_lock_identities(const LockClass<W>& lock_class) {
  const auto total = [&](Event event) { return lock_class.total(event); };
  W::require(total(Event::kPageLockSlow) == total(Event::kPageLockLate) + total(Event::kPageLockWoken) +
                                                total(Event::kPageLockHandoff) + total(Event::kPageLockLeave),
             "slow = late + woken + handoff + leave");
  W::require(total(Event::kPageLockRequeue) <= total(Event::kPageLockWake) - total(Event::kPageLockHandoff),
             "requeue <= wake - handoff");
}

template <Host W, class Lock>
void claim_free(Lock& lock) {
  const TryGuard<W, Lock> guard(lock, kScenarioSite);
  W::require(static_cast<bool>(guard), "the lock is free at the end");
}

// What a lock says of itself, between any two steps.
template <class... Locks>
void check_locks(const Locks&... locks) {
  const auto check = [](const auto& lock) {
    if constexpr (requires { lock.check_invariants(); }) lock.check_invariants();
  };
  (check(locks), ...);
}

// Threads count under the lock.
template <Host W, class Lock>
class MutualExclusion : public Scenario {
 public:
  explicit MutualExclusion(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int) override {
    for (int round = 0; round < size_.rounds; ++round) {
      const Guard<W, Lock> guard(lock_, kScenarioSite);
      count_ = count_ + 1;
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(count_ == size_.threads * size_.rounds, "every count under the lock is kept");
    claim_free<W>(lock_);
    claim_page_lock_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
};

// One thread locks, the others only try.
template <Host W, class Lock>
class TryLock : public Scenario {
 public:
  explicit TryLock(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    for (int round = 0; round < size_.rounds; ++round) {
      if (thread == 0) {
        const Guard<W, Lock> guard(lock_, kScenarioSite);
        count_ = count_ + 1;
      } else if (const TryGuard<W, Lock> guard(lock_, kScenarioSite); guard) {
        count_ = count_ + 1;
        W::witness("a try that got the lock");
      } else {
        W::witness("a try that failed");
      }
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(count_ >= size_.rounds, "every lock() got the lock");
    claim_page_lock_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
};

// Two locks of one class, whose waiters may stand in one queue.
template <Host W, class Lock>
class TwoLocksOneQueue : public Scenario {
 public:
  explicit TwoLocksOneQueue(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    for (int round = 0; round < size_.rounds; ++round) {
      count_under(thread == 0 ? second_ : first_, thread == 0 ? second_count_ : first_count_);
      count_under(thread == 0 ? first_ : second_, thread == 0 ? first_count_ : second_count_);
    }
  }
  void check() const override { check_locks(first_, second_); }
  void finish() override {
    W::require(first_count_ == size_.threads * size_.rounds, "every count under the first lock is kept");
    W::require(second_count_ == size_.threads * size_.rounds, "every count under the second lock is kept");
    claim_page_lock_identities<W>(class_);
  }

 private:
  void count_under(Lock& lock, Plain<W, int>& count) {
    const Guard<W, Lock> guard(lock, kScenarioSite);
    count = count + 1;
  }
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock first_{class_};
  Lock second_{class_};
  Plain<W, int> first_count_{0};
  Plain<W, int> second_count_{0};
};

// Each thread holds two locks at once and lets the first one go first, so that what it keeps for a lock is not given
// back in the order of a stack; the first lock is taken again while the second is still held.
template <Host W, class Lock>
class HoldTwo : public Scenario {
 public:
  explicit HoldTwo(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int) override CONVOY_NO_TSA {
    for (int round = 0; round < size_.rounds; ++round) {
      first_.lock();
      second_.lock();
      count_ = count_ + 1;
      first_.unlock();
      if (first_.try_lock()) {
        W::witness("the first lock again under the second");
        first_.unlock();
      }
      second_.unlock();
    }
  }
  void check() const override { check_locks(first_, second_); }
  void finish() override {
    W::require(count_ == size_.threads * size_.rounds, "every count under both locks is kept");
    claim_free<W>(first_);
    claim_free<W>(second_);
    claim_page_lock_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock first_{class_};
  Lock second_{class_};
  Plain<W, int> count_{0};
};

// A world whose every deadline has passed when a lock asks for it.
template <Host W>
struct LateWorld : W {
  static bool expired(Deadline deadline) { return deadline != kNever; }
};

// One waiter, and a stealer that takes the lock in every gap it is offered and never waits. A waiter of unfairness N is
// woken without the lock at most N times, and the wake after the N-th theft makes it the owner. `eventual` counts time
// instead: any number in a world in which time may be up, none in one in which it always is.
inline constexpr std::uint32_t kWhileTimeIsLeft = 1001;  // no value of the knob

template <Host W, class Lock, std::uint32_t kUnfairness>
class StealThenHandoff : public Scenario {
 public:
  explicit StealThenHandoff(ScenarioSize size) : size_(size) {
    if (kUnfairness != kWhileTimeIsLeft) class_.set_knob(Knob::kUnfairness, kUnfairness);
  }
  int threads() const override { return 2; }
  void run(int thread) override {
    if (thread == 0) {
      lock_.lock();
      lock_.unlock();
      return;
    }
    for (int steal = 0; steal < size_.rounds; ++steal) {
      if (lock_.try_lock()) lock_.unlock();
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    claim_page_lock_identities<W>(class_);
    const std::uint64_t thefts = class_.total(Event::kPageLockRequeue);
    if (class_.total(Event::kPageLockHandoff) > 0) W::witness("a hand-off");
    if constexpr (Lock::kTraits.name == "barging") {
      W::require(class_.total(Event::kPageLockHandoff) == 0, "barging never hands off");
      if (thefts > kUnfairness) W::witness("more thefts than bounded would accept");
    } else if constexpr (kUnfairness == kWhileTimeIsLeft) {
      if (class_.total(Event::kPageLockHandoff) > 0 && thefts > 0) W::witness("a hand-off after a theft");
      if (class_.total(Event::kPageLockWoken) > 0 && thefts > 0) W::witness("barging after a theft");
    } else {
      W::require(thefts <= kUnfairness, "a waiter suffers at most `unfairness` thefts");
      W::require(class_.total(Event::kPageLockWoken) == 0 || thefts < kUnfairness,
                 "the wake after the last accepted theft makes the waiter the owner");
      if (thefts == kUnfairness) W::witness("all accepted thefts");
    }
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
};

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
    W::require(class_.total(Event::kPageLockLeave) == static_cast<std::uint64_t>(left_), "each leave is counted");
    claim_free<W>(lock_);
    claim_page_lock_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
  Plain<W, int> left_{0};
};

}  // namespace convoy
