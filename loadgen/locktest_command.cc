// locktest_command.cc — `convoy-loadgen locktest`: threads that take one lock again and again.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_command.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <utility>

#include "common/command_line.h"
#include "common/files.h"
#include "common/host_info.h"
#include "common/log.h"
#include "common/process_cpu.h"
#include "common/version.h"
#include "loadgen/http_command.h"
#include "loadgen/http_result.h"
#include "loadgen/locktest_result.h"
#include "loadgen/locktest_worlds.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr const char* kProgram = "convoy-loadgen";
constexpr const char* kCommand = "locktest";

// What all runs of the command share.
struct Plan {
  const LocktestPolicy* policy = nullptr;
  LocktestLoad load;  // threads are filled in
};

// "unfairness, spin", or "none".
std::string knob_names(const PolicyTraits& traits) {
  std::vector<std::string_view> names;
  for (const Knob knob : traits.knobs) names.push_back(info(knob).name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

Result<void> take_knobs(const LocktestOptions& options, Plan& plan) {
  const PolicyTraits& traits = plan.policy->traits;
  for (std::size_t k = 0; k < kKnobCount; ++k) {
    if (!options.knobs[k]) continue;
    const auto knob = static_cast<Knob>(k);
    if (std::find(traits.knobs.begin(), traits.knobs.end(), knob) == traits.knobs.end()) {
      return fail("--{}: {} is not allowed; the knobs of {}: {}", info(knob).name, *options.knobs[k], traits.name,
                  knob_names(traits));
    }
    plan.load.knobs.emplace_back(knob, *options.knobs[k]);
  }
  return {};
}

Result<Plan> make_plan(const LocktestOptions& options) {
  Plan plan;
  const auto& policies = real_locktest_policies();
  plan.policy = &*std::find_if(policies.begin(), policies.end(),
                               [&](const LocktestPolicy& policy) { return policy.traits.name == options.lock; });
  plan.load.read_percent = options.read_percent.value_or(plan.policy->shared ? 50 : 0);
  if (plan.load.read_percent > 0 && !plan.policy->shared) {
    return fail("--read-percent: {} is not allowed; 0, since {} has no shared mode", plan.load.read_percent,
                options.lock);
  }
  plan.load.load = options.load;
  plan.load.duration_ns = static_cast<std::uint64_t>(options.duration.count());
  plan.load.seed = options.seed;
  plan.load.pinned = options.pin;
  if (auto taken = take_knobs(options, plan); !taken) return tl::unexpected(taken.error());
  return plan;
}

// One run; the caller's thread sleeps meanwhile. Error: it could not be made.
Result<Run> make_run(const Plan& plan, std::uint32_t threads) {
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
  return run;
}

// JSON or CSV on stdout has it to itself.
bool stdout_is_taken(const LocktestOptions& options) { return options.json == "-" || options.csv == "-"; }

Result<void> print(const LocktestOptions& options, const std::string& text) {
  if (!stdout_is_taken(options)) return write_text_file("-", text);
  if (!options.quiet) std::fputs(text.c_str(), stderr);
  return {};
}

// Makes the runs one after the other and prints each; returns the exit code.
int make_runs(const LocktestOptions& options, const Plan& plan, ResultFile& result) {
  const auto runs = std::uint64_t{options.repeat} * options.threads.size();
  bool silent = false;
  for (std::uint32_t repeat = 1; repeat <= options.repeat; ++repeat) {
    for (const auto threads : options.threads) {
      if (!options.quiet && runs > 1)
        log_info("run {} of {}: {} thread{}", result.runs.size() + 1, runs, threads, threads == 1 ? "" : "s");
      auto run = make_run(plan, threads);
      if (!run) {
        log_error("{}", run.error().message);
        return kAbortedExit;
      }
      const int signal = stop_signal::received();
      run->label = options.label;
      run->repeat = repeat;
      run->interrupted = signal != 0;
      silent = silent || (run->transactions == 0 && signal == 0);
      LocktestLoad load = plan.load;
      load.threads = threads;
      const auto printed = print(options, locktest_text(*plan.policy, load, *run) + "\n");
      result.runs.push_back(std::move(*run));
      if (signal != 0) return 128 + signal;
      if (!printed) {
        log_error("{}", printed.error().message);
        return kAbortedExit;
      }
    }
  }
  return silent ? kFailedExit : kOkExit;
}

// One that cannot be written does not keep the others from being written.
Result<void> put_out(const LocktestOptions& options, const ResultFile& result) {
  Result<void> table{}, json{}, csv{};
  if (result.runs.size() > 1) table = print(options, locktest_table_text(result.runs));
  if (!options.json.empty()) json = write_text_file(options.json, result_text(result));
  if (!options.csv.empty()) csv = write_text_file(options.csv, result_csv({result}));
  if (!table) return table;
  return json ? csv : json;
}

}  // namespace

std::vector<std::string> locktest_policy_names() {
  std::vector<std::string> names;
  for (const auto& policy : real_locktest_policies()) names.emplace_back(policy.traits.name);
  return names;
}

int run_locktest_command(const LocktestOptions& options, const std::vector<std::string>& command) {
  const auto plan = make_plan(options);
  if (!plan) return usage_error(kProgram, kCommand, plan.error().message);
  if (options.json == "-" && options.csv == "-") {
    return usage_error(kProgram, kCommand, "--json - and --csv -: stdout takes one of them");
  }
  for (const auto& [name, path] : {std::pair{"--json", options.json}, std::pair{"--csv", options.csv}}) {
    if (path.empty()) continue;
    if (auto ok = check_writable(path); !ok) {
      return usage_error(kProgram, kCommand, fmt::format("{}: {}", name, ok.error().message));
    }
  }
  stop_signal::install();
  if (!options.quiet) {
    log_info("locktest with {}: threads {}, {}, {} run{} a level", options.lock, format_unsigned_list(options.threads),
             format_duration(options.duration), options.repeat, options.repeat == 1 ? "" : "s");
  }
  ResultFile result;
  result.tool = ToolInfo{std::string(kVersion), std::string(kCommit)};
  result.command = command;
  result.host = read_host_info();
  int code = make_runs(options, *plan, result);
  if (code == kAbortedExit && result.runs.empty()) return code;
  if (auto ok = put_out(options, result); !ok) {
    log_error("{}", ok.error().message);
    if (code < 128) code = kAbortedExit;
  }
  return code;
}

}  // namespace convoy
