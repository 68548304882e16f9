// cells.h — Every policy times every scenario that applies to it.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "locks/policies.h"
#include "tests/cell.h"
#include "tests/deadline_scenarios.h"
#include "tests/scenarios.h"
#include "tests/shared_scenarios.h"
#include "tests/sleepers_world.h"
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

// Policies whose threads spin before they sleep, and the rwsems: every end of a spin is a choice, and so is each
// time-out of a hand-off. Their cells are dear: the explorer stops them early.
constexpr bool is_dear(std::string_view policy) {
  return policy.starts_with("rwsem") || policy.starts_with("mutex") || policy.ends_with("-spin");
}
constexpr std::uint64_t max_schedules_of(std::string_view policy) {
  return is_dear(policy) ? 5'000 : kExhaustiveSchedules;
}

// Adds cells of one policy. S is built from the arguments that follow its witnesses.
template <class Lock>
class CellAdder {
 public:
  explicit CellAdder(std::vector<Cell>& cells) : cells_(cells) {}
  template <class S, class... Arguments>
  void add(const std::string& name, std::vector<std::string> witnesses, Arguments... arguments) {
    cells_.push_back({file_name_of(Lock::kTraits.name), name, [=] { return std::make_unique<S>(arguments...); },
                      std::move(witnesses), 0, max_schedules_of(Lock::kTraits.name)});
  }

 private:
  std::vector<Cell>& cells_;
};

// "2" or "3" behind the name: the number of threads.
inline std::string with_threads(const char* name, const ScenarioSize& size) {
  return std::string(name) + "_" + std::to_string(size.threads);
}

template <Host W, class Lock>
void add_exclusive_cells(std::vector<Cell>& cells, const CellSizes& sizes) {
  CellAdder<Lock> to(cells);
  const bool sleeps = !Lock::kTraits.needs_core_per_thread;
  const std::vector<std::string> a_sleeper =
      sleeps ? std::vector<std::string>{"a waiter slept"} : std::vector<std::string>{};
  for (const ScenarioSize size : {sizes.two, sizes.three}) {
    const std::vector<Mode> writers(static_cast<std::size_t>(size.threads), Mode::kExclusive);
    to.template add<MutualExclusion<W, Lock>>(with_threads("mutual_exclusion", size), {}, size);
    to.template add<TryLock<W, Lock>>(with_threads("try_lock", size), {"a try that got the lock", "a try that failed"},
                                      size);
    to.template add<TwoLocksOneQueue<W, Lock>>(with_threads("two_locks_one_queue", size), {}, size);
    to.template add<HoldTwo<W, Lock>>(with_threads("hold_two", size), {"the first lock again under the second"}, size);
    to.template add<PingPong<W, Lock>>(with_threads("ping_pong", size), {"a look out of turn"}, size, Mode::kExclusive);
    to.template add<LostWakeup<W, Lock>>(with_threads("lost_wakeup", size), a_sleeper, writers, size.rounds);
    to.template add<NodeDiesAfterUnlock<W, Lock>>(with_threads("node_dies_after_unlock", size), {}, writers,
                                                  size.rounds);
  }
}

// What a writer that waits has to suffer, by the name of the policy: how many readers that were barred may still pass
// it. None: no promise. One of rwsem-3.12: a writer bars readers a moment before it stands in the queue.
constexpr std::optional<int> most_passes_of(std::string_view policy) {
  if (policy == "qrwlock" || policy == "qrwlock-waiting-bit" || policy == "qrwlock-2013-fair-readers") return 0;
  if (policy == "rwsem-3.12") return 1;
  return std::nullopt;
}

template <Host W, class Lock>
void add_shared_cells(std::vector<Cell>& cells, const CellSizes& sizes) {
  CellAdder<Lock> to(cells);
  constexpr Mode kReads = Mode::kShared, kWrites = Mode::kExclusive;
  using Modes = std::vector<Mode>;
  for (const ScenarioSize size : {sizes.two, sizes.three}) {
    to.template add<ReadersShare<W, Lock>>(with_threads("readers_share", size), {"readers meet inside"}, size);
    to.template add<WriterExcluded<W, Lock>>(with_threads("writer_excluded", size),
                                             {"a reader before the writers", "a reader behind a writer"}, size, 1);
    to.template add<ReadThenWrite<W, Lock>>(with_threads("read_then_write", size), {"another wrote in between"}, size);
    to.template add<TryLockShared<W, Lock>>(with_threads("try_lock_shared", size),
                                            {"a shared try that got the lock", "a shared try that failed"}, size);
    to.template add<PingPong<W, Lock>>(with_threads("look_then_pass_on", size), {"a look out of turn"}, size, kReads);
  }
  to.template add<WriterExcluded<W, Lock>>("two_writers_one_reader", {}, sizes.three, 2);
  to.template add<ModesExclude<W, Lock>>("modes_exclude", {});
  constexpr std::optional<int> most_passes = most_passes_of(Lock::kTraits.name);
  to.template add<ConspiringReaders<W, Lock>>(
      "conspiring_readers", {most_passes ? "a reader was barred" : "a reader passed a waiting writer"},
      std::max(sizes.two.rounds, 2), most_passes);
  const int once = sizes.three.rounds;
  const std::pair<const char*, Modes> orders[] = {{"writer_reader", {kWrites, kReads}},
                                                  {"reader_writer", {kReads, kWrites}},
                                                  {"writer_reader_reader", {kWrites, kReads, kReads}},
                                                  {"reader_writer_reader", {kReads, kWrites, kReads}},
                                                  {"writer_writer_reader", {kWrites, kWrites, kReads}}};
  for (const auto& [name, modes] : orders) {
    to.template add<LostWakeup<W, Lock>>(std::string("lost_wakeup_") + name, {}, modes, once);
  }
  to.template add<NodeDiesAfterUnlock<W, Lock>>("node_dies_after_reader_2", {}, Modes{kWrites, kReads}, once);
  to.template add<NodeDiesAfterUnlock<W, Lock>>("node_dies_after_reader_3", {}, Modes{kWrites, kReads, kReads}, once);
}

template <Host W, class Lock>
void add_theft_cells(std::vector<Cell>& cells, int steals) {
  CellAdder<Lock> to(cells);
  const ScenarioSize size{2, steals};
  const std::vector<std::string> all = {"all accepted thefts", "a hand-off"};
  if constexpr (Lock::kTraits.name == "bounded") {
    to.template add<StealThenHandoff<W, Lock, 0>>("steal_then_handoff_0", all, size);
    to.template add<StealThenHandoff<W, Lock, 1>>("steal_then_handoff_1", all, size);
    to.template add<StealThenHandoff<W, Lock, 2>>("steal_then_handoff_2", all, size);
  } else if constexpr (Lock::kTraits.name == "handoff") {
    to.template add<StealThenHandoff<W, Lock, 0>>("steal_then_handoff_0", all, size);
  } else if constexpr (Lock::kTraits.name == "eventual") {
    using Late = LateWorld<W>;
    to.template add<StealThenHandoff<W, Lock, kWhileTimeIsLeft>>(
        "steal_then_time_is_up", {"a hand-off", "a hand-off after a theft", "barging after a theft"}, size);
    to.template add<StealThenHandoff<Late, Eventual<Late>, 0>>("time_is_always_up", all, size);
  } else if constexpr (Lock::kTraits.name == "barging") {
    to.template add<StealThenHandoff<W, Lock, 1>>("steal_without_bound", {"more thefts than bounded would accept"},
                                                  size);
  }
}

// Waiters that leave a queue whose order is known. Requires: W is a SleepersWorld, and Lock a lock of W.
template <Host W, class Lock>
void add_queue_cells(std::vector<Cell>& cells) {
  if constexpr (TimedLockable<Lock>) {
    using Queue = LeaveQueue<W, Lock>;
    constexpr Mode kReads = Mode::kShared, kWrites = Mode::kExclusive;
    CellAdder<Lock> to(cells);
    const auto add = [&](const char* name, typename Queue::Plan plan) {
      std::vector<std::string> witnesses = {"a waiter that left"};
      if (!plan.until_last_is_in) witnesses.push_back("a waiter that had the lock as its time ran out");
      to.template add<Queue>(name, std::move(witnesses), std::move(plan));
    };
    add("leave_alone", {kWrites, {{kWrites, true}}});
    add("leave_first", {kWrites, {{kWrites, true}, {kWrites}}});
    add("leave_last", {kWrites, {{kWrites}, {kWrites, true}}});
    add("leave_middle", {kWrites, {{kWrites}, {kWrites, true}, {kWrites}}});
    if constexpr (SharedTimedLockable<Lock>) {
      add("leave_writer_before_reader", {kWrites, {{kWrites, true}, {kReads}}});
      add("leave_writer_behind_reader", {kWrites, {{kReads}, {kWrites, true}}});
      add("leave_writer_beside_reader", {kReads, {{kWrites, true}, {kReads}}, true});
      add("leave_reader_alone", {kWrites, {{kReads, true}}});
      add("leave_reader_first", {kWrites, {{kReads, true}, {kWrites}}});
      add("leave_reader_middle", {kWrites, {{kWrites}, {kReads, true}, {kReads}}});
      add("leave_reader_last", {kWrites, {{kWrites}, {kReads, true}}});
    }
  }
}

template <Host W, class Lock>
void add_cells(std::vector<Cell>& cells, const CellSizes& sizes) {
  add_exclusive_cells<W, Lock>(cells, sizes);
  if constexpr (SharedLockable<Lock>) add_shared_cells<W, Lock>(cells, sizes);
  if constexpr (TimedLockable<Lock>) {
    CellAdder<Lock> to(cells);
    to.template add<LeaveAtDeadline<W, Lock>>("leave_at_deadline", {"a waiter that left"}, sizes.three);
  }
  add_theft_cells<W, Lock>(cells, sizes.steals);
  if constexpr (Lock::kTraits.name == "qspinlock") {
    CellAdder<Lock> to(cells);
    to.template add<PendingThenQueue<W, Lock>>(
        "pending_then_queue", {"all by the fast path", "one by the pending bit, one by the queue", "two in the queue"},
        ScenarioSize{4, sizes.three.rounds});
  }
}

template <Host W, class... Locks>
std::vector<Cell> cells_of(PolicyList<Locks...>, const CellSizes& sizes) {
  std::vector<Cell> cells;
  (add_cells<W, Locks>(cells, sizes), ...);
  return cells;
}

// Queues in order. The policies are those of SleepersWorld<W>.
template <Host W, class... Locks>
std::vector<Cell> queue_cells_of(PolicyList<Locks...>) {
  std::vector<Cell> cells;
  (add_queue_cells<SleepersWorld<W>, Locks>(cells), ...);
  return cells;
}

}  // namespace convoy
