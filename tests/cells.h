// cells.h — Every policy times every scenario that applies to it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "locks/policies.h"
#include "tests/cell.h"
#include "tests/scenarios.h"
#include "tests/spinning_scenarios.h"

namespace convoy {

// How large the scenarios are: small for the explorer, large for real threads.
struct CellSizes {
  ScenarioSize two;
  ScenarioSize three;
  int steals;
};

inline std::string file_name_of(std::string_view policy) {
  std::string name(policy);
  std::replace(name.begin(), name.end(), '-', '_');
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

template <Host W, class Lock>
void add_cells(std::vector<Cell>& cells, const CellSizes& sizes) {
  const auto add = [&]<class S>(const char* name, ScenarioSize size, std::type_identity<S>,
                                std::vector<std::string> witnesses) {
    cells.push_back(
        {file_name_of(Lock::kTraits.name), name, [size] { return std::make_unique<S>(size); }, std::move(witnesses)});
  };
  using std::type_identity;
  add("mutual_exclusion_2", sizes.two, type_identity<MutualExclusion<W, Lock>>{}, {});
  add("mutual_exclusion_3", sizes.three, type_identity<MutualExclusion<W, Lock>>{}, {});
  add("try_lock", sizes.two, type_identity<TryLock<W, Lock>>{}, {"a try that got the lock", "a try that failed"});
  add("two_locks_one_queue", sizes.three, type_identity<TwoLocksOneQueue<W, Lock>>{}, {});
  add("hold_two", sizes.two, type_identity<HoldTwo<W, Lock>>{}, {"the first lock again under the second"});
  if constexpr (TimedLockable<Lock>) {
    add("leave_at_deadline", sizes.three, type_identity<LeaveAtDeadline<W, Lock>>{}, {"a waiter that left"});
  }
  const ScenarioSize steals{2, sizes.steals};
  if constexpr (Lock::kTraits.name == "bounded") {
    const std::vector<std::string> all = {"all accepted thefts", "a hand-off"};
    add("steal_then_handoff_0", steals, type_identity<StealThenHandoff<W, Lock, 0>>{}, all);
    add("steal_then_handoff_1", steals, type_identity<StealThenHandoff<W, Lock, 1>>{}, all);
    add("steal_then_handoff_2", steals, type_identity<StealThenHandoff<W, Lock, 2>>{}, all);
  } else if constexpr (Lock::kTraits.name == "handoff") {
    add("steal_then_handoff_0", steals, type_identity<StealThenHandoff<W, Lock, 0>>{},
        {"all accepted thefts", "a hand-off"});
  } else if constexpr (Lock::kTraits.name == "eventual") {
    using Late = LateWorld<W>;
    add("steal_then_time_is_up", steals, type_identity<StealThenHandoff<W, Lock, kWhileTimeIsLeft>>{},
        {"a hand-off", "a hand-off after a theft", "barging after a theft"});
    add("time_is_always_up", steals, type_identity<StealThenHandoff<Late, Eventual<Late>, 0>>{},
        {"all accepted thefts", "a hand-off"});
  } else if constexpr (Lock::kTraits.name == "barging") {
    add("steal_without_bound", steals, type_identity<StealThenHandoff<W, Lock, 1>>{},
        {"more thefts than bounded would accept"});
  } else if constexpr (Lock::kTraits.name == "qspinlock") {
    add("pending_then_queue", ScenarioSize{4, sizes.three.rounds}, type_identity<PendingThenQueue<W, Lock>>{},
        {"all by the fast path", "one by the pending bit, one by the queue", "two in the queue"});
  }
}

template <Host W, class... Locks>
std::vector<Cell> cells_of(PolicyList<Locks...>, const CellSizes& sizes) {
  std::vector<Cell> cells;
  (add_cells<W, Locks>(cells, sizes), ...);
  return cells;
}

}  // namespace convoy
