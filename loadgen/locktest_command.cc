// locktest_command.cc — `convoy-loadgen locktest`: threads that take one lock again and again.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_command.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "common/command_line.h"
#include "common/files.h"
#include "common/host_info.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/http_command.h"
#include "loadgen/locktest_plan.h"
#include "loadgen/locktest_result.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr const char* kProgram = "convoy-loadgen";
constexpr const char* kCommand = "locktest";

// JSON or CSV on stdout has it to itself.
bool stdout_is_taken(const LocktestOptions& options) { return options.json == "-" || options.csv == "-"; }

Result<void> print(const LocktestOptions& options, const std::string& text) {
  if (!stdout_is_taken(options)) return write_text_file("-", text);
  if (!options.quiet) std::fputs(text.c_str(), stderr);
  return {};
}

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
      const auto printed = print(options, report->text + "\n");
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

// The error names both options that have the same file.
Result<void> check_distinct(const LocktestOptions& options) {
  const std::pair<const char*, const std::string&> files[] = {
      {"machine", options.machine}, {"json", options.json}, {"csv", options.csv}, {"trace", options.trace}};
  for (std::size_t i = 0; i < std::size(files); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      const auto& [name, path] = files[i];
      std::error_code none;
      const bool same = path == files[k].second || std::filesystem::equivalent(path, files[k].second, none);
      if (!path.empty() && path != "-" && same)
        return fail("--{}: {} is not allowed; it is the file of --{}", name, quote(path), files[k].first);
    }
  }
  return {};
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

int run_locktest_command(const LocktestOptions& options, const std::vector<std::string>& command) {
  const auto plan = plan_locktest(options);
  if (!plan) {
    const auto& message = plan.error().message;
    return usage_error(kProgram, kCommand, message.starts_with("--") ? message : "--" + message);
  }
  if (options.json == "-" && options.csv == "-") {
    return usage_error(kProgram, kCommand, "--json - and --csv -: stdout takes one of them");
  }
  if (auto ok = check_distinct(options); !ok) return usage_error(kProgram, kCommand, ok.error().message);
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
