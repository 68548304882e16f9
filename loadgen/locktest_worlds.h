// locktest_worlds.h — Where locktest runs: what a world has to offer, one entry a world.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "loadgen/workloads/locktest_policies.h"
#include "sim/machine.h"
#include "sim/machine_spec.h"

namespace convoy {

// Every policy of real threads, those of the C++ library among them.
const std::vector<LocktestPolicy>& real_locktest_policies();

// Makes a run on real threads. When pinned, they take the processors that the process may use in turn. Error: the
// system gives no further thread.
Result<LocktestOutcome> run_on_real_threads(const LocktestPolicy& policy, LocktestLoad load);

// Those of every world.
const std::vector<LocktestPolicy>& machine_locktest_policies();

// Makes a run on a simulated machine, threads pinned to its processors in turn. `trace`: the file of a timeline, or
// empty; the error is that it cannot be opened, `traced` that it is not whole.
Result<LocktestOutcome> run_on_machine(const LocktestPolicy& policy, const LocktestLoad& load, const MachineSpec& spec,
                                       const std::string& trace, MachineStats& stats, Result<void>& traced);

}  // namespace convoy
