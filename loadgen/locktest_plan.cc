// locktest_plan.cc — What a run of locktest is made with: options that were looked at, and the world to run in.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_plan.h"

#include <algorithm>
#include <ctime>

#include "common/process_cpu.h"
#include "loadgen/http_result.h"
#include "loadgen/locktest_result.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

// "unfairness, spin", or "none".
std::string knob_names(const PolicyTraits& traits) {
  std::vector<std::string_view> names;
  for (const Knob knob : traits.knobs) names.push_back(info(knob).name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Result<void> take_knobs(const LocktestOptions& options, LocktestPlan& plan) {
  const PolicyTraits& traits = plan.policy->traits;
  for (std::size_t k = 0; k < kKnobCount; ++k) {
    if (!options.knobs[k]) continue;
    const auto knob = static_cast<Knob>(k);
    if (std::find(traits.knobs.begin(), traits.knobs.end(), knob) == traits.knobs.end()) {
      return fail("{}: {} is not allowed; the knobs of {}: {}", info(knob).name, *options.knobs[k], traits.name,
                  knob_names(traits));
    }
    plan.load.knobs.emplace_back(knob, *options.knobs[k]);
  }
  return {};
}

}  // namespace

std::vector<std::string> locktest_policy_names() {
  std::vector<std::string> names;
  for (const auto& policy : real_locktest_policies()) names.emplace_back(policy.traits.name);
  return names;
}

std::vector<std::string> locktest_sweep_keys() {
  static constexpr std::string_view kOfEverySweep[] = {"threads", "duration", "repeat", "seed",
                                                       "label",   "json",     "csv",    "quiet"};
  LocktestOptions options;
  std::vector<std::string> keys;
  for (const Setting& setting : Settings::of(options)) {
    if (std::find(std::begin(kOfEverySweep), std::end(kOfEverySweep), setting.key) == std::end(kOfEverySweep))
      keys.push_back(setting.key);
  }
  return keys;
}

Result<LocktestPlan> plan_locktest(const LocktestOptions& options) {
  LocktestPlan plan;
  const auto& policies = real_locktest_policies();
  plan.policy = &*std::find_if(policies.begin(), policies.end(),
                               [&](const LocktestPolicy& policy) { return policy.traits.name == options.lock; });
  plan.load.read_percent = options.read_percent.value_or(plan.policy->shared ? 50 : 0);
  if (plan.load.read_percent > 0 && !plan.policy->shared) {
    return fail("read-percent: {} is not allowed; 0, since {} has no shared mode", plan.load.read_percent,
                options.lock);
  }
  plan.load.load = options.load;
  plan.load.duration_ns = static_cast<std::uint64_t>(options.duration.count());
  plan.load.seed = options.seed;
  plan.load.pinned = options.pin;
  if (auto taken = take_knobs(options, plan); !taken) return tl::unexpected(taken.error());
  return plan;
}

Result<Run> run_locktest_plan(const LocktestPlan& plan, std::uint32_t threads) {
  LocktestLoad load = plan.load;
  load.threads = threads;
  Run run;
  run.world = "real";
  run.started_at = utc_text(std::time(nullptr));
  const ProcessCpu before = own_cpu();
  const auto outcome = run_on_real_threads(*plan.policy, load);
  if (!outcome) return tl::unexpected(outcome.error());
  const ProcessCpu used = own_cpu() - before;
  run.cpu.client_user_s = used.user_s;
  run.cpu.client_sys_s = used.sys_s;
  describe_locktest(*plan.policy, load, *outcome, run);
  run.interrupted = stop_signal::received() != 0;
  return run;
}

}  // namespace convoy
