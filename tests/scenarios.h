// scenarios.h — What every lock is asked to do, written once for real threads and for the explorer.
// SPDX-License-Identifier: MIT
//
// Goal: mutual exclusion, no lost wake-up (K4), bounded theft (K5), no use of a lock or a node that has died (K4).
// shared_scenarios.h is about readers and writers, deadline_scenarios.h about waits that end at a deadline.
// Method: each body claims its own result by W::require; the explorer adds deadlock, data races and use after the end.
// W::witness names what must happen in some schedule, so that a scenario that no longer reaches its subject fails.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "locks/annotations.h"
#include "locks/events.h"
#include "locks/lock_class.h"
#include "locks/lockable.h"
#include "locks/traits.h"
#include "locks/world.h"
#include "sim/scenario.h"
#include "tests/identities.h"

namespace convoy {

struct ScenarioSize {
  int threads;
  int rounds;
};

inline constexpr Site kScenarioSite{"scenario"};

enum class Mode : std::uint8_t { kExclusive, kShared };

// Calls f() with the lock held in that mode. Requires: a lock without a shared mode is asked for the exclusive one.
template <Host W, class Lock, class F>
void under(Lock& lock, Mode mode, F f) {
  if constexpr (SharedLockable<Lock>) {
    if (mode == Mode::kShared) {
      const SharedGuard<W, Lock> guard(lock, kScenarioSite);
      f();
      return;
    }
  }
  const Guard<W, Lock> guard(lock, kScenarioSite);
  f();
}

// Returns from park in a wait loop, which every family counts as `..._sleep...`.
template <Host W>
std::uint64_t sleeps(const LockClass<W>& lock_class) {
  std::uint64_t sum = 0;
  for (std::size_t event = 0; event < kEventCount; ++event) {
    if (kEvents[event].name.find("_sleep") != std::string_view::npos)
      sum += lock_class.total(static_cast<Event>(event));
  }
  return sum;
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
    claim_identities<W>(class_);
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
    claim_identities<W>(class_);
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
    claim_identities<W>(class_);
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
    claim_identities<W>(class_);
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

// K5. One waiter, and a stealer that takes the lock in every gap it is offered and never waits. A waiter of unfairness
// N is woken without the lock at most N times, and the wake after the N-th theft makes it the owner. `eventual` counts
// time
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
    claim_identities<W>(class_);
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

// Threads take turns in a ring. Whose turn it is stands under the lock; who finds that it is not its own waits, as for
// a condition, until it is told.
template <Host W, class Lock>
class PingPong : public Scenario {
 public:
  PingPong(ScenarioSize size, Mode look) : size_(size), look_(look) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    const auto me = static_cast<std::uint32_t>(thread);
    for (int round = 0; round < size_.rounds; ++round) {
      while (!pass_on(me)) {
        W::witness("a look out of turn");
        W::await(told_, acquire, [me](std::uint32_t turn) { return turn == me; });
      }
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(passes_ == size_.threads * size_.rounds, "every turn was taken");
    W::require(turn_ == 0, "the ring was closed");
    claim_identities<W>(class_);
  }

 private:
  // With a shared look before the exclusive one: the turn cannot be taken away in between.
  bool pass_on(std::uint32_t me) {
    bool mine = false;
    if (look_ == Mode::kShared) {
      under<W>(lock_, Mode::kShared, [&] { mine = turn_ == me; });
      if (!mine) return false;
    }
    under<W>(lock_, Mode::kExclusive, [&] {
      mine = turn_ == me;
      if (!mine) return;
      const std::uint32_t next = (me + 1) % static_cast<std::uint32_t>(size_.threads);
      turn_ = next;
      passes_ = passes_ + 1;
      told_.store(next, release);
    });
    return mine;
  }
  ScenarioSize size_;
  Mode look_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, std::uint32_t> turn_{0};
  Plain<W, int> passes_{0};
  Atomic<W, std::uint32_t> told_{0};
};

// K4. The first thread holds the lock when the others come, each of which takes it once; then nobody comes any more in
// that round, so a wake-up that is lost is never made good by a later one. One mode a thread.
template <Host W, class Lock>
class LostWakeup : public Scenario {
 public:
  LostWakeup(std::vector<Mode> modes, int rounds) : modes_(std::move(modes)), rounds_(rounds) {}
  int threads() const override { return static_cast<int>(modes_.size()); }
  void run(int thread) override {
    const Mode mode = modes_[static_cast<std::size_t>(thread)];
    for (int round = 0; round < rounds_; ++round) {
      const auto turn = static_cast<std::uint32_t>(round + 1);
      if (thread != 0) {
        W::await(held_, acquire, [turn](std::uint32_t held) { return held >= turn; });
        under<W>(lock_, mode, [&] { visit(mode); });
        if (turn != static_cast<std::uint32_t>(rounds_)) done_.fetch_add(1, release);
        continue;
      }
      const std::uint32_t all_done = static_cast<std::uint32_t>(round) * static_cast<std::uint32_t>(threads() - 1);
      if (round > 0) W::await(done_, acquire, [all_done](std::uint32_t done) { return done == all_done; });
      under<W>(lock_, mode, [&] {
        held_.store(turn, release);
        visit(mode);
      });
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    int writers = 0;
    for (const Mode mode : modes_) writers += mode == Mode::kExclusive ? 1 : 0;
    W::require(count_ == writers * rounds_, "every count under the lock is kept");
    if (sleeps<W>(class_) > 0) W::witness("a waiter slept");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  void visit(Mode mode) {
    const int count = count_;
    if (mode == Mode::kExclusive) count_ = count + 1;
  }
  std::vector<Mode> modes_;
  int rounds_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
  Atomic<W, std::uint32_t> held_{0};
  Atomic<W, std::uint32_t> done_{0};
};

// K4. The lock dies as early as its policy's contract allows, and with it whatever a late waker might still touch.
// A spinning lock is done with its memory when it is free: whoever takes it as the last one may end it right after its
// own unlock(), though others are still on their way out of theirs. A sleeping lock's unlock() looks for waiters after
// it has let go (page_lock.h): it may end once every unlock() has returned. Shared modes count as the latter.
template <Host W, class Lock>
class NodeDiesAfterUnlock : public Scenario {
 public:
  NodeDiesAfterUnlock(std::vector<Mode> modes, int rounds) : modes_(std::move(modes)) {
    for (int round = 0; round < rounds; ++round) mortals_.push_back(std::make_unique<Mortal>(class_, threads()));
    for (const Mode mode : modes_) {
      if (mode == Mode::kShared) dies_when_free_ = false;
    }
  }
  int threads() const override { return static_cast<int>(modes_.size()); }
  void run(int thread) override {
    const Mode mode = modes_[static_cast<std::size_t>(thread)];
    for (std::unique_ptr<Mortal>& mortal : mortals_) {
      bool last = false;
      under<W>(mortal->lock, mode, [&] {
        const int users = mortal->users;
        if (mode == Mode::kExclusive) mortal->users = users - 1;
        last = users == 1;
      });
      if (!dies_when_free_) last = mortal->inside.fetch_sub(1, acq_rel) == 1;
      if (last) mortal.reset();
    }
  }
  void check() const override {
    for (const std::unique_ptr<Mortal>& mortal : mortals_) {
      if (mortal != nullptr) check_locks(mortal->lock);
    }
  }
  void finish() override {
    for (const std::unique_ptr<Mortal>& mortal : mortals_) W::require(mortal == nullptr, "the last one ended the lock");
    claim_identities<W>(class_);
  }

 private:
  struct Mortal {
    Mortal(LockClass<W>& lock_class, int threads)
        : lock(lock_class), users(threads), inside(static_cast<std::uint32_t>(threads)) {}
    Lock lock;
    Plain<W, int> users;  // under the lock
    Atomic<W, std::uint32_t> inside;
  };
  std::vector<Mode> modes_;
  bool dies_when_free_ = Lock::kTraits.needs_core_per_thread;
  LockClass<W> class_{"scenario"};
  std::vector<std::unique_ptr<Mortal>> mortals_;
};

}  // namespace convoy
