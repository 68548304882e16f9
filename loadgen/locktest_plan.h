// locktest_plan.h — What a run of locktest is made with: options that were looked at, and the world to run in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "common/result_schema.h"
#include "loadgen/locktest_options.h"
#include "loadgen/locktest_worlds.h"

namespace convoy {

struct LocktestPlan {
  const LocktestPolicy* policy = nullptr;
  LocktestLoad load;  // threads are filled in
};

// Errors begin with the name of the option and say its value and what is allowed.
Result<LocktestPlan> plan_locktest(const LocktestOptions& options);

// Makes one run; the caller's thread sleeps meanwhile. Label and repeat are the caller's. A signal ends it early and
// marks it. Error: it could not be made.
Result<Run> run_locktest_plan(const LocktestPlan& plan, std::uint32_t threads);

}  // namespace convoy
