// sweep_command.cc — `convoy-loadgen sweep FILE`: policies x users x repeats, interleaved.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_command.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/command_line.h"
#include "common/files.h"
#include "common/log.h"
#include "loadgen/clock.h"
#include "loadgen/descriptor_limit.h"
#include "loadgen/http_command.h"
#include "loadgen/http_runner.h"
#include "loadgen/live_switch.h"
#include "loadgen/locktest_sweep.h"
#include "loadgen/server_process.h"
#include "loadgen/stop_signal.h"
#include "loadgen/sweep_file.h"
#include "loadgen/sweep_report.h"
#include "loadgen/sweep_results.h"

namespace convoy {
namespace {

std::string place_of(const SweepFile& file, const SweepCase& one, const SweepPolicy& policy) {
  const auto where = one.label.empty() ? "" : fmt::format("case {}, ", quote(one.label));
  return fmt::format("{}: {}policy {}", file.path, where, quote(policy.label));
}

// The target as it is on a server at `endpoint`, its address not yet looked up.
Result<Target> target_of(const SweepFile& file, const SweepCase& one, const std::string& endpoint) {
  TargetSpec spec;
  spec.keep_alive = one.keys.connection == "keep-alive";
  spec.headers = one.headers;
  // Names the server; what is asked for may stand elsewhere.
  spec.url = "http://" + endpoint + (one.keys.url.empty() ? "/" : one.keys.url);
  spec.urls = one.urls;
  if (!one.keys.url_file.empty()) {
    const std::filesystem::path path = one.keys.url_file;
    spec.url_file =
        path.is_absolute() ? path.string() : (std::filesystem::path(file.path).parent_path() / path).string();
  }
  return make_target(spec);
}

// The same with its address.
Result<Target> resolved_target(const SweepFile& file, const SweepCase& one, const ServerProcess& server) {
  auto target = target_of(file, one, server.endpoint());
  if (!target) return target;
  const auto address = resolve(target->origin);
  if (!address) return tl::unexpected(address.error());
  target->address = *address;
  return target;
}

// One command's sweep. Its steps return an exit code if the sweep cannot go on.
class Sweep {
 public:
  Sweep(const SweepFile& file, std::string program, SweepResults& results, Progress& progress)
      : file_(file), program_(std::move(program)), results_(results), progress_(progress) {}

  // Makes all runs, repeat by repeat.
  std::optional<int> run() {
    std::uint32_t repeats = 0;
    for (const auto& one : file_.cases) repeats = std::max(repeats, one.keys.repeat);
    for (std::uint32_t repeat = 1; repeat <= repeats; ++repeat) {
      for (const auto& one : file_.cases) {
        if (repeat > one.keys.repeat) continue;
        const auto order = policy_order(file_.policies.size(), one.keys.seed, repeat);
        if (const auto code =
                one.keys.switching == "live" ? run_live(one, order, repeat) : run_each(one, order, repeat))
          return code;
      }
    }
    return std::nullopt;
  }

  bool has_failed() const { return server_failed_ || results_.failed_requests() > 0; }

 private:
  // A server for each policy in turn.
  std::optional<int> run_each(const SweepCase& one, const std::vector<std::size_t>& order, std::uint32_t repeat) {
    for (const auto place : order) {
      const auto& policy = file_.policies[place];
      auto server = ServerProcess::start(program_, server_settings(one, policy));
      if (!server) return abort(place_of(file_, one, policy), server.error());
      auto target = resolved_target(file_, one, *server);
      auto code = target ? run_levels(one, policy, repeat, *server, *target)
                         : abort(place_of(file_, one, policy), target.error());
      end(*server, place_of(file_, one, policy), code);
      if (code) return code;
    }
    return std::nullopt;
  }

  // One server that goes from policy to policy while it runs.
  std::optional<int> run_live(const SweepCase& one, const std::vector<std::size_t>& order, std::uint32_t repeat) {
    const auto& first = file_.policies[order.front()];
    auto server = ServerProcess::start(program_, server_settings(one, first));
    if (!server) return abort(place_of(file_, one, first), server.error());
    std::optional<int> code;
    auto target = resolved_target(file_, one, *server);
    auto live = target ? LiveSwitch::begin(*target, file_.policies) : tl::unexpected(target.error());
    if (!live) code = abort(place_of(file_, one, first), live.error());
    for (std::size_t i = 0; i < order.size() && !code; ++i) {
      const auto& policy = file_.policies[order[i]];
      const auto applied = live->apply(policy);
      code = applied ? run_levels(one, policy, repeat, *server, *target)
                     : abort(place_of(file_, one, policy), applied.error());
    }
    end(*server, place_of(file_, one, first), code);
    return code;
  }

  // Ends the server and saves what has been measured.
  void end(ServerProcess& server, const std::string& place, std::optional<int>& code) {
    if (auto stopped = server.stop(); !stopped && !code) {
      server_failed_ = true;
      log_error("{}: {}", place, stopped.error().message);
    }
    if (auto saved = results_.save(); !saved) {
      log_error("{}", saved.error().message);
      code = code.value_or(kAbortedExit);
    }
  }

  // Runs all levels of users.
  std::optional<int> run_levels(const SweepCase& one, const SweepPolicy& policy, std::uint32_t repeat,
                                const ServerProcess& server, const Target& target) {
    progress_.set_prefix(one.label.empty() ? policy.label : one.label + ", " + policy.label);
    HttpRunner runner(target, server.pid(), progress_);
    if (auto met = runner.meet_server(); !met) return abort(place_of(file_, one, policy), met.error());
    for (const auto users : one.keys.users) {
      auto report = runner.run(order_of(one, policy, repeat, users));
      if (!report) return abort(place_of(file_, one, policy), report.error());
      // A run cut short is no repeat of the others.
      if (report->interrupted) return 128 + stop_signal::received();
      results_.add(one, policy, runner.server(), std::move(report->run));
    }
    return std::nullopt;
  }

  static HttpRunOrder order_of(const SweepCase& one, const SweepPolicy& policy, std::uint32_t repeat,
                               std::uint32_t users) {
    HttpRunOrder order;
    order.load.users = users;
    order.load.threads = one.keys.threads;
    order.load.duration_ns = one.keys.duration.count();
    order.load.warmup_ns = one.keys.warmup.count();
    order.load.timeout_ns = one.keys.timeout.count();
    order.load.keep_alive = one.keys.connection == "keep-alive";
    order.load.seed = one.keys.seed;
    order.label = policy.label;
    if (!one.label.empty()) order.case_label = one.label;
    order.repeat = repeat;
    return order;
  }

  static int abort(const std::string& place, const Error& error) {
    if (stop_signal::received() != 0) return 128 + stop_signal::received();
    log_error("{}: {}", place, error.message);
    return kAbortedExit;
  }

  const SweepFile& file_;
  std::string program_;
  SweepResults& results_;
  Progress& progress_;
  bool server_failed_ = false;
};

Result<void> try_policy(const SweepFile& file, const SweepCase& one, const SweepPolicy& policy,
                        const std::string& program) {
  auto server = ServerProcess::start(program, server_settings(one, policy));
  if (!server) return tl::unexpected(server.error());
  Result<void> tried;
  if (one.keys.switching == "live") {
    const auto target = resolved_target(file, one, *server);
    if (!target) return tl::unexpected(target.error());
    auto live = LiveSwitch::begin(*target, file.policies);
    tried = live ? live->apply(policy) : tl::unexpected(live.error());
  }
  (void)server->stop();  // How it ends is looked at after each real run.
  return tried;
}

// Finds out before the first run whether everything can be asked for and the server accepts all settings, by starting
// it once with each. Returns an exit code if not.
std::optional<int> try_everything(const SweepFile& file, const std::string& program) {
  std::uint32_t most_users = 0;
  for (const auto& one : file.cases) {
    most_users = std::max(most_users, *std::max_element(one.keys.users.begin(), one.keys.users.end()));
    if (auto target = target_of(file, one, "127.0.0.1:1"); !target) {
      return usage_error("convoy-loadgen", "sweep", file.path + ": " + target.error().message);
    }
  }
  if (auto allowed = allow_descriptors(most_users); !allowed) {
    log_error("{}", allowed.error().message);
    return kAbortedExit;
  }
  if (::access(program.c_str(), X_OK) != 0) {
    return usage_error("convoy-loadgen", "sweep",
                       fmt::format("--server: {} is no program that can be run", quote(program)));
  }
  for (const auto& one : file.cases) {
    for (const auto& policy : file.policies) {
      const auto tried = try_policy(file, one, policy, program);
      if (stop_signal::received() != 0) return 128 + stop_signal::received();
      if (!tried) {
        return usage_error("convoy-loadgen", "sweep", place_of(file, one, policy) + ": " + tried.error().message);
      }
    }
  }
  return std::nullopt;
}

// How many runs there are and how long they take, servers' starts apart.
struct Extent {
  std::uint64_t runs = 0;
  double seconds = 0;
};

Extent extent_of(const SweepFile& file) {
  Extent extent;
  for (const auto& one : file.cases) {
    const auto runs = one.keys.users.size() * file.policies.size() * one.keys.repeat;
    extent.runs += runs;
    extent.seconds += static_cast<double>(runs) * seconds((one.keys.duration + one.keys.warmup).count());
  }
  return extent;
}

// Prints and saves the comparison of what there is.
Result<void> report(const SweepFile& file, const SweepResults& results) {
  const auto all = results.files();
  if (all.empty()) return {};
  const std::string text = sweep_report(file, all);
  const auto printed = write_text_file("-", text);
  const auto saved = results.save_report(text);
  return printed ? saved : printed;
}

}  // namespace

int run_sweep(const SweepOptions& options, const std::vector<std::string>& command) {
  const auto file = read_sweep_file(options.file.front());
  if (!file) return usage_error("convoy-loadgen", "sweep", file.error().message);
  stop_signal::install();
  const auto program = options.server.empty() ? default_server_program() : options.server;
  if (file->is_locktest()) {
    if (auto ok = check_locktest_sweep(*file); !ok) return usage_error("convoy-loadgen", "sweep", ok.error().message);
  } else if (const auto code = try_everything(*file, program)) {
    return *code;
  }
  const auto folder = options.out.empty() ? default_results_folder(file->name) : options.out;
  auto results = SweepResults::create(folder, *file, command);
  if (!results) {
    log_error("{}", results.error().message);
    return kAbortedExit;
  }
  const auto extent = extent_of(*file);
  if (!options.quiet) {
    log_info("sweep {}: {} policies, {} runs of about {:.0f} s in all, results in {}", file->name,
             file->policies.size(), extent.runs, extent.seconds, folder);
  }
  Progress progress(options.quiet, extent.runs);
  progress.set_run_seconds(extent.seconds / static_cast<double>(extent.runs));
  Sweep sweep(*file, program, *results, progress);
  const auto ended_by = file->is_locktest() ? run_locktest_sweep(*file, *results, options.quiet) : sweep.run();
  auto saved = results->save();
  if (saved) saved = report(*file, *results);
  if (!saved) {
    log_error("{}", saved.error().message);
    return ended_by.value_or(kAbortedExit);
  }
  if (!options.quiet) log_info("results in {}", folder);
  return ended_by.value_or(sweep.has_failed() ? kFailedExit : kOkExit);
}

}  // namespace convoy
