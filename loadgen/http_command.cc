// http_command.cc — `convoy-loadgen http URL`: closed-loop load on a running server.
// SPDX-License-Identifier: MIT
#include "loadgen/http_command.h"

#include <algorithm>
#include <utility>

#include "common/command_line.h"
#include "common/host_info.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/clock.h"
#include "loadgen/descriptor_limit.h"
#include "loadgen/http_runner.h"
#include "loadgen/http_summary.h"
#include "loadgen/result_outputs.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr auto kDefaultDuration = std::chrono::seconds(10);
constexpr auto kDefaultWarmup = std::chrono::seconds(1);

// What all runs of the command share.
struct Plan {
  HttpLoad load;
  Target target;
  std::vector<MarkOrder> marks;
};

Result<Plan> make_plan(const HttpOptions& options) {
  Plan plan;
  const bool limited = options.requests.has_value();
  const Duration duration = options.duration.value_or(limited ? Duration::zero() : kDefaultDuration);
  plan.load.duration_ns = duration.count();
  plan.load.warmup_ns = options.warmup.value_or(limited ? Duration::zero() : kDefaultWarmup).count();
  plan.load.requests = options.requests.value_or(0);
  plan.load.threads = options.threads;
  plan.load.keep_alive = options.connection == "keep-alive";
  plan.load.timeout_ns = options.timeout.count();
  plan.load.seed = options.seed;
  for (const auto& text : options.at) {
    auto mark = parse_mark(text);
    if (!mark) return tl::unexpected(mark.error());
    if (duration.count() > 0 && mark->at_ns >= duration.count()) {
      return fail("--at: {} is not inside the window of {}", quote(text), format_duration(duration));
    }
    plan.marks.push_back(std::move(*mark));
  }
  TargetSpec spec;
  if (!options.url.empty()) spec.url = options.url.front();
  spec.url_file = options.url_file;
  spec.headers = options.header;
  spec.keep_alive = plan.load.keep_alive;
  auto target = make_target(spec);
  if (!target) return tl::unexpected(target.error());
  plan.target = std::move(*target);
  return plan;
}

std::string resolved_line(const HttpOptions& options, const Plan& plan) {
  const auto duration = plan.load.duration_ns > 0 ? format_duration(Duration(plan.load.duration_ns)) : "no time limit";
  const auto requests = plan.load.requests > 0 ? fmt::format(", {} requests", plan.load.requests) : "";
  return fmt::format("GET {} of {}: users {}, {}{} after a warm-up of {}, {} run{} a level, {}", plan.target.name,
                     host_header(plan.target.origin), format_unsigned_list(options.users), duration, requests,
                     format_duration(Duration(plan.load.warmup_ns)), options.repeat, options.repeat == 1 ? "" : "s",
                     options.connection);
}

ResultOutputs outputs_of(const HttpOptions& options) { return {options.json, options.csv, options.quiet}; }

std::string text_of(const HttpOptions& options, const ResultFile& result) {
  const bool single_level = options.users.size() == 1;
  return (single_level && !result.runs.empty() ? siege_summary(result.runs) + "\n" : "") + level_table(result.runs);
}

// Makes the runs one after the other; returns the exit code. `result` then holds those that were made.
int make_runs(const HttpOptions& options, const Plan& plan, ResultFile& result) {
  Progress progress(options.quiet, std::uint64_t{options.repeat} * options.users.size());
  if (options.repeat * options.users.size() > 1) {
    progress.set_run_seconds(seconds(plan.load.warmup_ns + plan.load.duration_ns));
  }
  std::optional<pid_t> pid;
  if (options.server_pid) pid = static_cast<pid_t>(*options.server_pid);
  HttpRunner runner(plan.target, pid, progress);
  bool failed = false;
  for (std::uint32_t repeat = 1; repeat <= options.repeat; ++repeat) {
    for (const auto users : options.users) {
      if (auto met = runner.meet_server(); !met) {
        if (const int signal = stop_signal::received(); signal != 0) return 128 + signal;
        log_error("{}", met.error().message);
        return kAbortedExit;
      }
      result.server = runner.server();
      HttpRunOrder order;
      order.load = plan.load;
      order.load.users = users;
      order.label = options.label;
      order.repeat = repeat;
      order.marks = plan.marks;
      auto report = runner.run(std::move(order));
      if (!report) {
        log_error("{}", report.error().message);
        return kAbortedExit;
      }
      // A run in which nothing was answered shows no failure, and is one.
      const bool silent = report->run.transactions == 0 && !report->interrupted;
      failed = failed || report->marks_failed || report->run.failed() > 0 || silent;
      report->run.interrupted = report->interrupted;
      result.runs.push_back(std::move(report->run));
      if (report->interrupted) return 128 + stop_signal::received();
    }
  }
  return failed ? kFailedExit : kOkExit;
}

}  // namespace

int run_http(const HttpOptions& options, const std::vector<std::string>& command) {
  auto plan = make_plan(options);
  if (!plan) return usage_error("convoy-loadgen", "http", plan.error().message);
  if (auto ok = check_outputs(outputs_of(options)); !ok)
    return usage_error("convoy-loadgen", "http", ok.error().message);
  if (!options.cpus.empty()) {
    if (auto pinned = pin_to_cpus(*parse_cpu_list(options.cpus)); !pinned) {
      return usage_error("convoy-loadgen", "http", pinned.error().message);
    }
  }
  const auto most_users = *std::max_element(options.users.begin(), options.users.end());
  auto prepared = allow_descriptors(most_users);
  if (prepared) {
    auto address = resolve(plan->target.origin);
    if (address) plan->target.address = *address;
    if (!address) prepared = tl::unexpected(address.error());
  }
  if (!prepared) {
    log_error("{}", prepared.error().message);
    return kAbortedExit;
  }
  stop_signal::install();
  if (!options.quiet) log_info("{}", resolved_line(options, *plan));
  ResultFile result;
  result.tool = ToolInfo{std::string(kVersion), std::string(kCommit)};
  result.command = command;
  result.host = read_host_info();
  int code = make_runs(options, *plan, result);
  if (code == kAbortedExit && result.runs.empty()) return code;
  if (auto ok = put_out(outputs_of(options), text_of(options, result), result); !ok) {
    log_error("{}", ok.error().message);
    if (code < 128) code = kAbortedExit;
  }
  return code;
}

}  // namespace convoy
