// mutex_scenarios.h — What the mutexes are asked to do beyond what every lock is.
// SPDX-License-Identifier: MIT
//
// Goal: the lock is got in every way there is (by spinning, in the queue, by a hand-off), and whoever leaves passes on
// what it was given. Method: threads that count under the lock; the events say which way each went, and each way must
// be seen in some schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "locks/mutex.h"
#include "locks/mutex_3_12.h"
#include "sim/scenario.h"
#include "tests/cell.h"
#include "tests/deadline_scenarios.h"
#include "tests/mutex_claims.h"
#include "tests/sleepers_world.h"

namespace convoy {

// A thread a letter: 'l' locks, 'd' locks with a deadline.
template <Host W, class Lock>
class MutexMix : public Scenario {
 public:
  MutexMix(std::string roles, int rounds) : roles_(std::move(roles)), rounds_(rounds) {}
  int threads() const override { return static_cast<int>(roles_.size()); }
  void run(int thread) override CONVOY_NO_TSA {
    for (int round = 0; round < rounds_; ++round) {
      if (roles_[static_cast<std::size_t>(thread)] == 'l') {
        lock_.lock();
      } else if (!lock_.try_lock_until(W::deadline_in(20'000))) {
        left_.fetch_add(1, relaxed);  // relaxed: read when all have ended
        continue;
      }
      count_ = count_ + 1;
      lock_.unlock();
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override CONVOY_NO_TSA {
    const auto total = [&](Event event) { return class_.total(event); };
    const std::uint32_t left = left_.load(relaxed);  // relaxed: all have ended
    W::require(count_ + static_cast<int>(left) == threads() * rounds_, "who did not leave had the lock");
    W::require(total(Event::kMutexLeave) == left, "each leave is counted");
    claim_mutex_identities<W>(class_);
    if (Lock::kTraits.name == "mutex-3.12") {
      W::require(total(Event::kMutexAsk) + total(Event::kMutexHandoff) == 0, "mutex-3.12 knows no hand-off");
    }
    W::require(!lock_.is_locked() && lock_.try_lock(), "the lock is free at the end");
    W::require(lock_.is_locked(), "and says when it is not");
    const std::uint64_t wakes = total(Event::kMutexWake);
    lock_.unlock();
    W::require(total(Event::kMutexWake) == wakes, "nobody is listed any more");
    const std::uint64_t slow = total(Event::kMutexSlow);
    lock_.lock();
    lock_.unlock();
    W::require(total(Event::kMutexSlow) == slow, "no flag outlives the waiters: a free lock is taken at once");
    for (const auto& [event, name] : kWitnesses) {
      if (total(event) > 0) W::witness(name);
    }
  }

 private:
  static constexpr std::pair<Event, const char*> kWitnesses[] = {
      {Event::kMutexOptLock, "a spinner got the lock"},
      {Event::kMutexWait, "a waiter got the lock"},
      {Event::kMutexHandoff, "a hand-off"},
      {Event::kMutexLeave, "a waiter left"},
  };
  std::string roles_;
  int rounds_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
  Atomic<W, std::uint32_t> left_{0};
};

template <Host W, class Lock>
void add_mutex_cells_of(std::vector<Cell>& cells, const std::string& policy, int rounds) {
  const auto add = [&](const char* name, std::vector<std::string> witnesses, const char* roles, int times) {
    if (policy == "mutex" && times > 1) witnesses.push_back("a hand-off");
    cells.push_back(
        {policy, name, [=] { return std::make_unique<MutexMix<W, Lock>>(roles, times); }, std::move(witnesses)});
    if (times == 1)
      cells.back().max_schedules = 20'000;  // three threads: some 50,000 schedules within three preemptions
  };
  const std::vector<std::string> both = {"a spinner got the lock", "a waiter got the lock"};
  add("two_in_every_way", both, "ll", rounds);
  add("three_in_every_way", both, "lll", 1);
  add("one_of_two_leaves", {"a waiter left"}, "ld", rounds);
  add("one_of_three_leaves", {"a waiter left"}, "ldl", 1);
  add("two_of_three_leave", {"a waiter left"}, "ldd", 1);
}

// The first of two sleepers leaves, perhaps just as it is woken: the second must have the lock.
template <Host W, class Lock>
void add_wake_passed_on(std::vector<Cell>& cells, const std::string& policy) {
  using Queue = LeaveQueue<W, Lock>;
  const typename Queue::Plan plan{Mode::kExclusive, {{Mode::kExclusive, true}, {Mode::kExclusive}}};
  cells.push_back({policy, "wake_passed_on", [plan] { return std::make_unique<Queue>(plan); }, {"a waiter that left"}});
}

template <Host W>
void add_mutex_cells(std::vector<Cell>& cells, int rounds) {
  add_mutex_cells_of<W, Mutex<W>>(cells, "mutex", rounds);
  add_mutex_cells_of<W, Mutex312<W>>(cells, "mutex_3_12", rounds);
  using Sleepers = SleepersWorld<W>;
  add_wake_passed_on<Sleepers, Mutex<Sleepers>>(cells, "mutex");
  add_wake_passed_on<Sleepers, Mutex312<Sleepers>>(cells, "mutex_3_12");
}

}  // namespace convoy
