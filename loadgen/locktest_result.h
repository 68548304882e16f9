// locktest_result.h — A run of locktest as a row of a result, and in the words of the published ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/workloads/locktest_policies.h"

namespace convoy {

// The number without its fraction as "112,409", whatever the locale.
std::string grouped(double number);

// Fills in what follows from the load and its outcome; label, repeat, times of day and the world are the caller's.
void describe_locktest(const LocktestPolicy& policy, const LocktestLoad& load, const LocktestOutcome& outcome,
                       Run& run);

// "Running locktest with rwsem [runtime = 15 s, r% = 50%, load = 100]" and two lines more, as the kernel module prints
// them, then each event that was counted as NAME=N. The runtime is what was asked for, the rates are over what it was.
std::string locktest_text(const LocktestPolicy& policy, const LocktestLoad& load, const Run& run);

// One row for each number of threads, over its repeats. Requires: `runs` are of one policy and load.
std::string locktest_table_text(const std::vector<Run>& runs);

}  // namespace convoy
