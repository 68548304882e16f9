// calibrate_command.cc — `convoy-loadgen calibrate`: measures this host and writes a machine file.
// SPDX-License-Identifier: MIT
#include "loadgen/calibrate_command.h"

#include <ctime>

#include "common/command_line.h"
#include "common/files.h"
#include "common/host_info.h"
#include "common/log.h"
#include "loadgen/clock.h"
#include "loadgen/cpu_list.h"
#include "loadgen/host_machine.h"
#include "loadgen/http_command.h"
#include "loadgen/http_result.h"
#include "loadgen/stats.h"
#include "loadgen/table.h"
#include "sim/machine_file.h"

namespace convoy {
namespace {

constexpr std::int64_t kMicro = 1000;
// Sleeps before a wake-up, and how often each.
struct Sleep {
  std::int64_t idle_ns;
  int events;
};
constexpr Sleep kSleeps[] = {{20 * kMicro, 1000},  {50 * kMicro, 1000},   {100 * kMicro, 1000}, {200 * kMicro, 1000},
                             {500 * kMicro, 1000}, {1000 * kMicro, 1000}, {3000 * kMicro, 300}, {10'000 * kMicro, 200}};

// Which processors do what: one alone, and the two that are farthest apart.
struct Places {
  int one, other;
};

Places places_of(const HostTopology& topology) {
  for (const auto nearness : {Nearness::kCross, Nearness::kSocket, Nearness::kCluster, Nearness::kSmt}) {
    if (const auto pair = topology.pair_of(nearness)) return {pair->first, pair->second};
  }
  return {topology.cpus.front().number, topology.cpus.front().number};
}

HostCosts measure(const HostTopology& topology, bool quiet) {
  const auto say = [quiet](const char* what) {
    if (!quiet) log_info("measuring {}", what);
  };
  const auto [one, other] = places_of(topology);
  HostCosts costs;
  say("loads, stores, atomics, pauses, system calls");
  costs.load = load_costs(one);
  costs.store = store_costs(one);
  costs.atomic = atomic_costs(one);
  costs.pause = pause_costs(one);
  costs.syscall = syscall_costs(one);
  say("memory");
  costs.memory = memory_costs(one);
  say("transfers of a line");
  for (std::size_t kind = 0; kind < costs.transfer.size(); ++kind) {
    if (const auto pair = topology.pair_of(static_cast<Nearness>(kind)))
      costs.transfer[kind] = transfer_costs(pair->first, pair->second);
  }
  if (const auto siblings = topology.pair_of(Nearness::kSmt))
    costs.slowdown = slowdowns(siblings->first, siblings->second);
  say("wake-ups after short and long sleeps");
  for (const auto& sleep : kSleeps) {
    costs.wakes.push_back({sleep.idle_ns, wake_costs(one, other, sleep.idle_ns, sleep.events)});
  }
  say("context switches and time slices");
  costs.switches = switch_costs(one);
  costs.slice = slice_costs(one);
  costs.tick_ns = tick_ns();
  costs.scheduler = scheduler_info(read_host_info().kernel);
  return costs;
}

std::vector<std::string> row(std::string name, const Costs& costs) {
  if (costs.empty()) return {std::move(name), "-", "-", "-", "-", "0"};
  const Summary all = summarize(costs);
  const auto text = [](double value) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 0); };
  return {std::move(name), text(all.median), text(all.q1), text(all.q3), text(all.min), fmt::format("{}", all.n)};
}

std::string table_of(const HostCosts& costs) {
  TextTable table;
  table.add({"nanoseconds", "median", "quartile", "quartile", "least", "n"});
  table.add(row("load, hit", costs.load));
  table.add(row("store, hit", costs.store));
  table.add(row("atomic, hit", costs.atomic));
  table.add(row("load from memory", costs.memory));
  for (std::size_t kind = 0; kind < costs.transfer.size(); ++kind) {
    if (!costs.transfer[kind].empty())
      table.add(row(fmt::format("line, {}", kNearnessNames[kind]), costs.transfer[kind]));
  }
  table.add(row("pause", costs.pause));
  table.add(row("system call", costs.syscall));
  table.add(row("FUTEX_WAKE, other core", costs.wakes.front().costs.call));
  table.add(row("FUTEX_WAKE, same core", costs.switches.call));
  table.add(row("turn on one core", costs.switches.turn));
  for (const auto& [idle_ns, wake] : costs.wakes)
    table.add(row(fmt::format("wake-up, {} us of sleep", idle_ns / kMicro), wake.latency));
  table.add(row("time slice", costs.slice));
  return table.text();
}

}  // namespace

int run_calibrate(const CalibrateOptions& options, const std::vector<std::string>& command) {
  if (auto ok = check_writable(options.out); !ok) {
    return usage_error("convoy-loadgen", "calibrate", fmt::format("--out: {}", ok.error().message));
  }
  const auto cpus = usable_cpus();
  if (cpus.size() < 2) {
    log_error("calibrate needs two processors; this process may use {}", cpus.size());
    return kAbortedExit;
  }
  const auto topology = read_host_topology(cpus);
  const auto begin = now_ns();
  const HostCosts costs = measure(topology, options.quiet);
  for (const auto& wake : costs.wakes) {
    if (!wake.costs.latency.empty()) continue;
    log_error("no sleep of {} us was ended by the other thread: the machine is too busy", wake.idle_ns / kMicro);
    return kAbortedExit;
  }
  const HostInfo host = read_host_info();
  const auto text =
      machine_file_text(host_numbers(costs, topology),
                        {"Question: what do this host's costs make of a lock?",
                         fmt::format("Run: convoy-loadgen locktest --machine {} --lock bounded --threads 4",
                                     options.out == "-" ? "host.toml" : options.out),
                         fmt::format("Written by: {}", fmt::join(command, " ")),
                         fmt::format("{}, {}, {}{}", host.cpu, host.kernel, utc_text(std::time(nullptr)),
                                     host.virtualised ? ", virtualised" : "")});
  if (auto read = parse_machine_file(text, options.out); !read) {
    log_error("what was measured makes no machine file: {}", read.error().message);
    return kAbortedExit;
  }
  const auto table = table_of(costs);
  auto written = options.out == "-" ? Result<void>{} : write_text_file("-", table);
  if (written) written = write_text_file(options.out, text);
  if (!written) {
    log_error("{}", written.error().message);
    return kAbortedExit;
  }
  if (!options.quiet) log_info("{} written after {:.0f} s", options.out, seconds(now_ns() - begin));
  return kOkExit;
}

}  // namespace convoy
