// locktest_command.cc — `convoy-loadgen locktest`: threads that take one lock again and again.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_command.h"

#include <utility>

#include "common/command_line.h"
#include "common/host_info.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/http_command.h"
#include "loadgen/locktest_plan.h"
#include "loadgen/locktest_result.h"
#include "loadgen/result_outputs.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr const char* kProgram = "convoy-loadgen";
constexpr const char* kCommand = "locktest";

ResultOutputs outputs_of(const LocktestOptions& options) { return {options.json, options.csv, options.quiet}; }

// Makes the runs one after the other and prints each; returns the exit code.
int make_runs(const LocktestOptions& options, const LocktestPlan& plan, ResultFile& result) {
  const auto runs = std::uint64_t{options.repeat} * options.threads.size();
  bool silent = false, trace_failed = false;
  for (std::uint32_t repeat = 1; repeat <= options.repeat; ++repeat) {
    for (const auto threads : options.threads) {
      if (!options.quiet && runs > 1)
        log_info("run {} of {}: {} thread{}", result.runs.size() + 1, runs, threads, threads == 1 ? "" : "s");
      auto report = run_locktest_plan(plan, threads);
      if (!report) {
        log_error("{}", report.error().message);
        return kAbortedExit;
      }
      if (!report->traced) {
        log_error("{}", report->traced.error().message);
        trace_failed = true;
      }
      Run& run = report->run;
      run.label = options.label;
      run.repeat = repeat;
      silent = silent || (run.transactions == 0 && !run.interrupted);
      const auto printed = print_text(outputs_of(options), report->text + "\n");
      result.runs.push_back(std::move(run));
      if (result.runs.back().interrupted) return 128 + stop_signal::received();
      if (!printed) {
        log_error("{}", printed.error().message);
        return kAbortedExit;
      }
    }
  }
  if (trace_failed) return kAbortedExit;
  return silent ? kFailedExit : kOkExit;
}

}  // namespace

int run_locktest_command(const LocktestOptions& options, const std::vector<std::string>& command) {
  const auto plan = plan_locktest(options);
  if (!plan) return usage_error(kProgram, kCommand, "--" + plan.error().message);
  const std::vector<std::pair<std::string, std::string>> others{{"--machine", options.machine},
                                                                {"--trace", options.trace}};
  if (auto ok = check_outputs(outputs_of(options), others); !ok)
    return usage_error(kProgram, kCommand, ok.error().message);
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
  const auto table = result.runs.size() > 1 ? locktest_table_text(result.runs) : std::string();
  if (auto ok = put_out(outputs_of(options), table, result); !ok) {
    log_error("{}", ok.error().message);
    if (code < 128) code = kAbortedExit;
  }
  return code;
}

}  // namespace convoy
