// locktest_worlds.h — Where locktest runs: what a world has to offer, one entry a world.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "loadgen/workloads/locktest_policies.h"

namespace convoy {

// Every policy of real threads, those of the C++ library among them.
const std::vector<LocktestPolicy>& real_locktest_policies();

// Makes a run on real threads. When pinned, they take the processors that the process may use in turn. A signal ends it
// early (stop_signal.h). Error: the system gives no further thread.
Result<LocktestOutcome> run_on_real_threads(const LocktestPolicy& policy, LocktestLoad load);

}  // namespace convoy
