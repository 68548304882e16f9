// spinning_scenarios.h — What only some spinning locks are asked.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "tests/scenarios.h"

namespace convoy {

// As many threads as it takes for a holder, one who has the pending bit, one who queues and one who comes late: each
// takes the lock once. Goal: every way into a qspinlock is gone, and each is counted once.
template <Host W, class Lock>
class PendingThenQueue : public Scenario {
 public:
  explicit PendingThenQueue(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int) override {
    for (int round = 0; round < size_.rounds; ++round) {
      const Guard<W, Lock> guard(lock_, kScenarioSite);
      count_ = count_ + 1;
    }
  }
  void finish() override {
    const std::uint64_t pending = class_.total(Event::kLockPending);
    const std::uint64_t queued = class_.total(Event::kLockSlowpath);
    W::require(count_ == size_.threads * size_.rounds, "every count under the lock is kept");
    W::require(pending + queued < static_cast<std::uint64_t>(count_), "whoever came first took the free word");
    if (pending == 0 && queued == 0) W::witness("all by the fast path");
    if (pending == 1 && queued == 1) W::witness("one by the pending bit, one by the queue");
    if (queued == 2) W::witness("two in the queue");
    claim_free<W>(lock_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
};

}  // namespace convoy
