// locktest_machine.cc — locktest on a simulated machine: every policy, compiled for MachineWorld.
// SPDX-License-Identifier: MIT
#include <memory>
#include <utility>

#include "common/log.h"
#include "loadgen/locktest_worlds.h"
#include "locks/policies.h"
#include "sim/machine_world.h"

namespace convoy {

const std::vector<LocktestPolicy>& machine_locktest_policies() {
  static const auto policies = locktest_table<MachineWorld>(WorldPolicies<MachineWorld>{});
  return policies;
}

Result<LocktestOutcome> run_on_machine(const LocktestPolicy& policy, const LocktestLoad& load, const MachineSpec& spec,
                                       const std::string& trace, MachineStats& stats, Result<void>& traced) {
  std::unique_ptr<MachineTrace> timeline;
  if (!trace.empty()) {
    auto opened = MachineTrace::open(trace);
    if (!opened) return tl::unexpected(opened.error());
    timeline = std::move(*opened);
  }
  MachineOptions options;
  options.seed = load.seed;
  options.max_threads = load.threads;
  options.trace = timeline.get();
  Machine machine(spec, options);
  LocktestOutcome outcome;
  machine.run([&] { outcome = policy.run(load); });
  stats = machine.stats();
  if (!timeline) return outcome;
  traced = timeline->close();
  if (const auto cut_at = timeline->cut_at())
    log_warning("--trace {}: it ends after {} events, at {:g} s of {:g}", trace, MachineTrace::kMostEvents,
                static_cast<double>(*cut_at) / 1e12, static_cast<double>(stats.virtual_time) / 1e12);
  return outcome;
}

}  // namespace convoy
