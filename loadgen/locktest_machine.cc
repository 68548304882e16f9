// locktest_machine.cc — locktest on a simulated machine: every policy, compiled for MachineWorld.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "loadgen/locktest_worlds.h"
#include "locks/policies.h"
#include "sim/machine_world.h"

namespace convoy {

const std::vector<LocktestPolicy>& machine_locktest_policies() {
  static const auto policies = locktest_table<MachineWorld>(WorldPolicies<MachineWorld>{});
  return policies;
}

LocktestOutcome run_on_machine(const LocktestPolicy& policy, const LocktestLoad& load, const MachineSpec& spec,
                               MachineStats& stats) {
  MachineOptions options;
  options.seed = load.seed;
  options.max_threads = load.threads;
  Machine machine(spec, options);
  LocktestOutcome outcome;
  machine.run([&] { outcome = policy.run(load); });
  stats = machine.stats();
  return outcome;
}

}  // namespace convoy
