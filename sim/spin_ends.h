// spin_ends.h — How an explored spin ends while what it waits for does not come.
// SPDX-License-Identifier: MIT
//
// Its time may be up at any moment. A core that is lost costs a preemption, as any other; but a thread that sleeps has
// no core for certain, and a spin that only a lost core can end has one when nobody else can go on.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "locks/world.h"
#include "sim/explorer.h"

namespace convoy {

inline bool owner_sleeps(Explorer& explorer, const SpinLimit& limit) {
  return limit.owner != kNobody && explorer.asleep(static_cast<int>(limit.owner.index));
}

inline bool is_timed(const SpinLimit& limit) { return limit.polls != SpinLimit{}.polls || limit.until != kNever; }

// How long a spin waits for its step, which is also ready when owner_sleeps().
inline Explorer::Patience patience_of(const SpinLimit& limit) {
  if (is_timed(limit)) return Explorer::Patience::kMayTimeOut;
  const bool may_lose = limit.owner != kNobody || limit.optimistic;
  return may_lose ? Explorer::Patience::kMayGiveUp : Explorer::Patience::kUntilReady;
}

// One of the ends that the limits allow. The caller passes the deadline of kTimeIsUp.
inline Spin end_of_spin(Explorer& explorer, const SpinLimit& limit, Loc loc) {
  std::array<Spin, 2> ends{};
  int count = 0;
  const auto add = [&](Spin end) { ends[static_cast<std::size_t>(count++)] = end; };
  if (limit.owner != kNobody)
    explorer.atomic_read(explorer.park_object(static_cast<int>(limit.owner.index)), false, loc);
  const bool may_lose = limit.owner != kNobody || limit.optimistic;
  if (owner_sleeps(explorer, limit)) {
    add(Spin::kOwnerSlept);
  } else if (is_timed(limit) && !(may_lose && explorer.lose_core())) {
    if (limit.polls != SpinLimit{}.polls) add(Spin::kBudgetSpent);
    if (limit.until != kNever) add(Spin::kTimeIsUp);
  } else {
    if (limit.owner != kNobody) add(Spin::kOwnerSlept);
    if (limit.optimistic) add(Spin::kMustYield);
  }
  const Spin end = ends[static_cast<std::size_t>(explorer.choose(count))];
  if (explorer.tracing()) {
    constexpr const char* kNames[] = {"satisfied", "budget spent", "time is up", "owner slept", "must yield"};
    explorer.trace(loc, fmt::format("spin ends: {}", kNames[static_cast<std::size_t>(end)]));
  }
  return end;
}

}  // namespace convoy
