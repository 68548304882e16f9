// locktest_plan.cc — What a run of locktest is made with: options that were looked at, and the world to run in.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_plan.h"

#include <algorithm>
#include <ctime>

#include "common/files.h"
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

// The clock of a machine ends: a run, and the operations that are under way when its time is up, must fit.
Result<void> check_time(const LocktestOptions& options, const MachineSpec& spec) {
  const double operation = static_cast<double>(options.load) * spec.work_unit * spec.smt_slowdown;
  const auto threads = *std::max_element(options.threads.begin(), options.threads.end());
  const auto duration = static_cast<double>(options.duration.count());
  if (duration > kLongestMachineRunNs)
    return fail("duration: {} is not allowed; at most {:g} h with --machine", format_duration(options.duration),
                kLongestMachineRunNs / 3.6e12);
  const double run = duration + threads * operation;
  if (run <= kLongestMachineRunNs) return {};
  return fail(
      "load: {} is not allowed; {} threads with so many units of {:g} ns, and the duration, may take {:g} h of "
      "virtual time in all",
      options.load, threads, spec.work_unit, kLongestMachineRunNs / 3.6e12);
}

Result<void> take_machine(const LocktestOptions& options, LocktestPlan& plan) {
  if (!options.trace.empty()) {
    const auto runs = options.threads.size() * options.repeat;
    if (options.machine.empty()) return fail("trace: {} is not allowed without --machine", quote(options.trace));
    if (runs > 1)
      return fail("trace: {} is not allowed; it is of one run, and these are {}", quote(options.trace), runs);
    if (options.trace == "-") return fail("trace: '-' is not allowed; a file");
    if (auto ok = check_writable(options.trace); !ok) return fail("trace: {}", ok.error().message);
    plan.trace = options.trace;
  }
  if (options.machine.empty()) {
    if (!options.machine_set.empty())
      return fail("machine-set: {} is not allowed without --machine", quote(options.machine_set.front()));
    if (options.stats) return fail("stats: not allowed without --machine");
    return {};
  }
  auto machine = read_machine_file(options.machine);
  if (!machine) return fail("machine: {}", machine.error().message);
  if (auto set = set_machine_numbers(*machine, options.machine_set); !set) return tl::unexpected(set.error());
  const auto threads = *std::max_element(options.threads.begin(), options.threads.end());
  if (threads >= kMaxSlots)
    return fail("threads: {} is not allowed; at most {} with --machine", threads, kMaxSlots - 1);
  plan.machine = std::move(*machine);
  return check_time(options, plan.machine->spec);
}

// What simulating cost. Accesses are those that went through the cost model; a poll is one when the line has been lost.
std::string stats_text(const MachineStats& stats, double cpu_s) {
  return fmt::format(
      "Simulated {:.3f} s in {:.2f} s of processor time: {} accesses, {:.1f} million a second; {} misses, {} events, "
      "{} fibre switches\n",
      static_cast<double>(stats.virtual_time) / 1e12, cpu_s, stats.accesses,
      static_cast<double>(stats.accesses) / 1e6 / std::max(cpu_s, 1e-9), stats.misses, stats.events,
      stats.fiber_switches);
}

}  // namespace

std::vector<std::string> locktest_policy_names() {
  std::vector<std::string> names;
  for (const auto& policy : real_locktest_policies()) names.emplace_back(policy.traits.name);
  return names;
}

std::vector<std::string> locktest_sweep_keys() {
  static constexpr std::string_view kOfEverySweep[] = {"threads", "duration", "repeat", "seed",  "label",
                                                       "json",    "csv",      "quiet",  "stats", "trace"};
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
  if (auto taken = take_machine(options, plan); !taken) return tl::unexpected(taken.error());
  const auto& policies = plan.machine ? machine_locktest_policies() : real_locktest_policies();
  const auto found = std::find_if(policies.begin(), policies.end(),
                                  [&](const LocktestPolicy& policy) { return policy.traits.name == options.lock; });
  if (found == policies.end()) return fail("lock: {} is not allowed; it runs on real threads only", options.lock);
  plan.policy = &*found;
  plan.load.read_percent = options.read_percent.value_or(plan.policy->shared ? 50 : 0);
  if (plan.load.read_percent > 0 && !plan.policy->shared) {
    return fail("read-percent: {} is not allowed; 0, since {} has no shared mode", plan.load.read_percent,
                options.lock);
  }
  plan.load.load = options.load;
  plan.load.duration_ns = static_cast<std::uint64_t>(options.duration.count());
  plan.load.seed = options.seed;
  plan.load.pinned = options.pin || plan.machine;
  plan.load.cut_short = &stop_signal::flag();
  plan.stats = options.stats;
  if (auto taken = take_knobs(options, plan); !taken) return tl::unexpected(taken.error());
  return plan;
}

Result<LocktestReport> run_locktest_plan(const LocktestPlan& plan, std::uint32_t threads) {
  LocktestLoad load = plan.load;
  load.threads = threads;
  LocktestReport report;
  report.run.started_at = utc_text(std::time(nullptr));
  MachineStats stats;
  const ProcessCpu before = own_cpu();
  auto outcome = plan.machine ? run_on_machine(*plan.policy, load, plan.machine->spec, plan.trace, stats, report.traced)
                              : run_on_real_threads(*plan.policy, load);
  if (!outcome) return tl::unexpected(outcome.error());
  const ProcessCpu used = own_cpu() - before;
  describe_locktest(*plan.policy, load, *outcome, report.run);
  report.run.interrupted = stop_signal::received() != 0;
  report.text = locktest_text(*plan.policy, load, report.run);
  report.outcome = std::move(*outcome);
  if (!plan.machine) {
    report.run.cpu.client_user_s = used.user_s;
    report.run.cpu.client_sys_s = used.sys_s;
    return report;
  }
  report.run.world = "machine";
  report.run.machine = plan.machine->described();
  report.run.trace_hash = fmt::format("{:016x}", stats.trace_hash);
  report.text += fmt::format("Simulated machine = {}, trace hash = {}\n", *report.run.machine, *report.run.trace_hash);
  if (plan.stats) report.text += stats_text(stats, used.user_s + used.sys_s);
  return report;
}

}  // namespace convoy
