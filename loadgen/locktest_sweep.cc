// locktest_sweep.cc — A sweep with workload = "locktest": no server, the policies take turns in this process.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_sweep.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/log.h"
#include "loadgen/http_command.h"
#include "loadgen/locktest_plan.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

// A machine file's path is one from the sweep file's folder.
Result<LocktestPlan> plan_of(const SweepFile& file, const SweepCase& one, const SweepPolicy& policy) {
  LocktestOptions options;
  Settings settings = Settings::of(options);
  const auto allowed = locktest_sweep_keys();
  for (const auto& [key, text] : server_settings(one, policy)) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return fail("{}: is no setting of locktest; one of {}", key, fmt::join(allowed, ", "));
    }
    if (auto set = settings.set(key, text); !set) return tl::unexpected(set.error());
  }
  if (!options.machine.empty())
    options.machine = (std::filesystem::path(file.path).parent_path() / options.machine).lexically_normal().string();
  options.duration = one.keys.duration;
  options.seed = one.keys.seed;
  return plan_locktest(options);
}

std::string place_of(const SweepFile& file, const SweepCase& one, const SweepPolicy& policy) {
  const auto where = one.label.empty() ? "" : fmt::format("case {}, ", quote(one.label));
  return fmt::format("{}: {}policy {}", file.path, where, quote(policy.label));
}

std::optional<int> fail_with(const Error& error) {
  log_error("{}", error.message);
  return kAbortedExit;
}

// All levels of one policy.
std::optional<int> run_levels(const SweepFile& file, const SweepCase& one, const SweepPolicy& policy,
                              std::uint32_t repeat, SweepResults& results) {
  const auto plan = plan_of(file, one, policy);
  if (!plan) return fail_with(plan.error());
  for (const auto threads : one.keys.users) {
    auto report = run_locktest_plan(*plan, threads);
    if (!report) return fail_with(report.error());
    Run* const run = &report->run;
    // A run cut short is no repeat of the others.
    if (run->interrupted) return 128 + stop_signal::received();
    run->label = policy.label;
    if (!one.label.empty()) run->case_label = one.label;
    run->repeat = repeat;
    results.add(one, policy, std::nullopt, std::move(*run));
  }
  if (auto saved = results.save(); !saved) return fail_with(saved.error());
  return std::nullopt;
}

}  // namespace

Result<void> check_locktest_sweep(const SweepFile& file) {
  for (const auto& one : file.cases) {
    const auto threads = *std::max_element(one.keys.users.begin(), one.keys.users.end());
    if (threads > kMostLockThreads) {
      return fail("{}: users: {} is not allowed; at most {}", file.path, threads, kMostLockThreads);
    }
    for (const auto& policy : file.policies) {
      if (auto plan = plan_of(file, one, policy); !plan)
        return fail("{}: {}", place_of(file, one, policy), plan.error().message);
    }
  }
  return {};
}

std::optional<int> run_locktest_sweep(const SweepFile& file, SweepResults& results, bool quiet) {
  std::uint32_t repeats = 0;
  for (const auto& one : file.cases) repeats = std::max(repeats, one.keys.repeat);
  for (std::uint32_t repeat = 1; repeat <= repeats; ++repeat) {
    for (const auto& one : file.cases) {
      if (repeat > one.keys.repeat) continue;
      for (const auto place : policy_order(file.policies.size(), one.keys.seed, repeat)) {
        const auto& policy = file.policies[place];
        if (!quiet) {
          log_info("repeat {} of {}: {}{}", repeat, one.keys.repeat, one.label.empty() ? "" : one.label + ", ",
                   policy.label);
        }
        if (const auto code = run_levels(file, one, policy, repeat, results)) return code;
      }
    }
  }
  return std::nullopt;
}

}  // namespace convoy
