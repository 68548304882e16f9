// locktest_real.cc — locktest on real threads: every policy, compiled for RealWorld.
// SPDX-License-Identifier: MIT
#include <system_error>

#include "loadgen/cpu_list.h"
#include "loadgen/locktest_worlds.h"
#include "locks/policies.h"

namespace convoy {

const std::vector<LocktestPolicy>& real_locktest_policies() {
  static const auto policies = locktest_table<RealWorld>(AllPolicies<RealWorld>{});
  return policies;
}

Result<LocktestOutcome> run_on_real_threads(const LocktestPolicy& policy, LocktestLoad load) {
  const std::vector<int> cpus = load.pinned ? usable_cpus() : std::vector<int>{};
  // A processor that has gone meanwhile: the thread runs where it may.
  load.on_thread = [&cpus](std::uint32_t number) {
    if (!cpus.empty()) (void)pin_to_cpus({cpus[number % cpus.size()]});
  };
  try {
    return policy.run(load);
  } catch (const std::system_error& error) {
    return fail("threads: {} cannot be had: {}", load.threads, error.what());
  }
}

}  // namespace convoy
