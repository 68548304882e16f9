// locktest_plan.h — What a run of locktest is made with: options that were looked at, and the world to run in.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/result_schema.h"
#include "loadgen/locktest_options.h"
#include "loadgen/locktest_worlds.h"
#include "sim/machine_file.h"

namespace convoy {

struct LocktestPlan {
  const LocktestPolicy* policy = nullptr;  // of the world
  LocktestLoad load;                       // threads are filled in
  std::optional<MachineFile> machine;      // none: real threads
  std::string trace;                       // a file; empty: none
  bool stats = false;
};

struct LocktestReport {
  Run run;
  LocktestOutcome outcome;
  std::string text;       // as locktest_text(), and what there is to say of the world
  Result<void> traced{};  // whether the timeline is whole, if one was asked for
};

// Errors begin with the name of the option and say its value and what is allowed.
Result<LocktestPlan> plan_locktest(const LocktestOptions& options);

// Makes one run; the caller's thread sleeps meanwhile. Label and repeat are the caller's. A signal ends it early and
// marks it. Error: it could not be made.
Result<LocktestReport> run_locktest_plan(const LocktestPlan& plan, std::uint32_t threads);

}  // namespace convoy
