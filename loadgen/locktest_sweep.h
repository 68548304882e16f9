// locktest_sweep.h — A sweep with workload = "locktest": no server, the policies take turns in this process.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "common/result.h"
#include "loadgen/sweep_file.h"
#include "loadgen/sweep_results.h"

namespace convoy {

// Finds out before the first run whether locktest accepts everything. Errors name case and policy.
Result<void> check_locktest_sweep(const SweepFile& file);

// Makes all runs, repeat by repeat; `results` are saved after each policy's. Returns an exit code if it cannot go on.
// Requires: check_locktest_sweep() found nothing.
std::optional<int> run_locktest_sweep(const SweepFile& file, SweepResults& results, bool quiet);

}  // namespace convoy
