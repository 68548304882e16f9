// host_machine.cc — What was measured on this host as a machine file.
// SPDX-License-Identifier: MIT
#include "loadgen/host_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "loadgen/stats.h"
#include "locks/world_real.h"

namespace convoy {
namespace {

constexpr double kRise = 1.2;  // of the latency of a wake-up: what is less is spread

std::string figure(double value) { return fmt::format("{:.{}f}", value, value < 100 ? 2 : 0); }

// The numbers in the order of a machine file, with the words that all have in common.
class Numbers {
 public:
  void add(std::string key, std::string value, std::string mark, std::string source) {
    numbers_.push_back({std::move(key), std::move(value), std::move(mark), std::move(source)});
  }
  void measured(std::string key, const Costs& costs, const std::string& how) {
    add(std::move(key), figure(costs.empty() ? 0 : median(costs)), "measured", how + ": " + spread_text(costs));
  }
  void derived(std::string key, double value, std::string arithmetic) {
    add(std::move(key), figure(std::max(value, 0.0)), "derived", std::move(arithmetic));
  }
  void text(std::string key, std::string_view word, std::string mark, std::string source) {
    add(std::move(key), fmt::format("\"{}\"", word), std::move(mark), std::move(source));
  }
  std::vector<HostNumber> take() { return std::move(numbers_); }

 private:
  std::vector<HostNumber> numbers_;
};

void add_shape(Numbers& numbers, const HostCosts& costs, const HostTopology& topology) {
  const std::string source = fmt::format("/sys, of the {} processors that calibrate might use", topology.cpus.size());
  numbers.text("mode", "user", "derived", "calibrate measures programs");
  numbers.text("spin-lock", "qspinlock", "borrowed", "not used in user mode");
  numbers.text("scheduler", costs.scheduler.eevdf ? "eevdf" : "cfs", "measured", "the kernel's release: 6.6 or not");
  numbers.add("sockets", fmt::format("{}", topology.sockets()), "measured", source);
  numbers.add("clusters-per-socket", fmt::format("{}", topology.clusters_per_socket()), "measured", source);
  numbers.add("cores-per-cluster", fmt::format("{}", topology.cores_per_cluster()), "measured", source);
  numbers.add("threads-per-core", fmt::format("{}", topology.threads_per_core()), "measured", source);
}

// The kind that was measured and is the least farther than `kind`, or else the least nearer.
std::size_t like_which(const HostCosts& costs, std::size_t kind) {
  for (std::size_t far = kind; far < costs.transfer.size(); ++far) {
    if (!costs.transfer[far].empty()) return far;
  }
  while (kind > 0 && costs.transfer[kind].empty()) --kind;
  return kind;
}

// A kind of which there is no pair is never asked for.
void add_transfers(Numbers& numbers, const HostCosts& costs) {
  constexpr std::array<const char*, 4> kKeys{"line-transfer-smt-ns", "line-transfer-cluster-ns",
                                             "line-transfer-socket-ns", "line-transfer-cross-ns"};
  for (std::size_t kind = 0; kind < kKeys.size(); ++kind) {
    if (!costs.transfer[kind].empty()) {
      numbers.measured(kKeys[kind], costs.transfer[kind],
                       fmt::format("CAS ping-pong, one way, {}", kNearnessNames[kind]));
      continue;
    }
    const std::size_t like = like_which(costs, kind);
    numbers.derived(
        kKeys[kind], costs.transfer[like].empty() ? 0 : median(costs.transfer[like]),
        fmt::format("no two processors here are of this kind ({}); as {}", kNearnessNames[kind], kNearnessNames[like]));
  }
}

void add_lines(Numbers& numbers, const HostCosts& costs) {
  numbers.measured("hit-load-ns", costs.load, "dependent loads of 64 lines");
  numbers.measured("hit-store-ns", costs.store, "stores to one line");
  numbers.measured("hit-atomic-ns", costs.atomic, "atomic additions to a line of its own");
  add_transfers(numbers, costs);
  numbers.measured("memory-local-ns", costs.memory, "dependent loads through 128 MiB");
  numbers.derived("memory-remote-ns", costs.memory.empty() ? 0 : median(costs.memory),
                  "as memory-local-ns: not measured apart");
  numbers.add("line-read-occupancy-ns", "10", "borrowed",
              "about one access to a last-level cache; no two readers can be timed on few processors");
  numbers.text("line-service", "fifo", "borrowed", "the simplest; not measured");
  numbers.add("nearest-window-ns", "0", "borrowed", "not used with fifo");
  numbers.measured("pause-ns", costs.pause, "pause instructions");
  numbers.measured("work-unit-ns", costs.pause, "one pause, as locktest on real threads");
  if (costs.slowdown.empty()) {
    numbers.add("smt-slowdown", "1", "derived", "no two processors share a core");
  } else {
    numbers.add("smt-slowdown", figure(std::max(median(costs.slowdown), 1.0)), "measured",
                "pauses beside a sibling that pauses, ratio: " + spread_text(costs.slowdown));
  }
}

// A core in the first state, which it is in at once, needs `exit_ns` to leave it.
void add_idle_states(Numbers& numbers, const HostCosts& costs, double exit_ns) {
  const auto after = [](const HostCosts::Idle& wake) {
    return fmt::format("after {} us of sleep, {}", wake.idle_ns / 1000, spread_text(wake.costs.latency));
  };
  numbers.derived(
      "idle-1-exit-ns", exit_ns,
      fmt::format("wake-up elsewhere {}; less FUTEX_WAKE elsewhere and switch-in", after(costs.wakes.front())));
  numbers.derived("idle-1-residency-ns", 0, "the shortest sleep measured; a core that polls would show in the exit");
  const auto rise = idle_rise(costs);
  numbers.derived("idle-2-exit-ns", rise ? std::max(exit_ns, 0.0) + rise->exit_ns : 0,
                  rise ? fmt::format("idle-1-exit-ns and what a wake-up takes longer {}", after(costs.wakes.back()))
                       : "none: a wake-up after a long sleep takes no fifth longer");
  numbers.derived("idle-2-residency-ns", rise ? static_cast<double>(rise->idle_ns) : 0,
                  rise ? "the shortest sleep measured after which a wake-up takes over half of that longer" : "none");
  numbers.add("idle-3-exit-ns", "0", "derived", "none: two ends were measured, one rise is left");
  numbers.add("idle-3-residency-ns", "0", "derived", "none");
}

void add_sleeping(Numbers& numbers, const HostCosts& costs) {
  const double syscall = median(costs.syscall);
  const Costs& call = costs.wakes.front().costs.call;
  const Costs& latency = costs.wakes.front().costs.latency;
  const Costs& near_call = costs.switches.call;
  // A turn on one core: the call that wakes, the call that sleeps, out and in.
  const double out_and_in = std::max(median(costs.switches.turn) - median(costs.switches.call) - syscall, 0.0);
  numbers.measured("syscall-ns", costs.syscall, "getppid");
  numbers.derived("wake-ns", median(near_call) - syscall,
                  fmt::format("FUTEX_WAKE of a sleeper on the same core, {}; less a syscall", spread_text(near_call)));
  numbers.derived("wake-interrupt-ns", median(call) - median(near_call),
                  fmt::format("FUTEX_WAKE of a sleeper elsewhere, {}; less one on the same core", spread_text(call)));
  numbers.add("wake-awake-ns", "0", "derived", "in user mode an unpark of a thread that is awake is no system call");
  numbers.derived("ipi-ns", 0, "in idle-1-exit-ns: the two cannot be told apart");
  const auto half =
      fmt::format("half of a turn of futex ping-pong on one core, {}, less its FUTEX_WAKE, {}, and a syscall",
                  spread_text(costs.switches.turn), spread_text(costs.switches.call));
  numbers.derived("sleep-ns", out_and_in / 2, half);
  numbers.derived("switch-in-ns", out_and_in / 2, half);
  add_idle_states(numbers, costs, median(latency) - median(call) - out_and_in / 2);
}

void add_scheduler(Numbers& numbers, const HostCosts& costs) {
  const double hz = costs.tick_ns > 0 ? std::clamp(std::round(1e9 / costs.tick_ns), 100.0, 1000.0) : 250;
  const double slice = costs.slice.empty() ? 3e6 : median(costs.slice);
  const double scale = 1 + std::floor(std::log2(std::min(costs.scheduler.processors, 8u)));
  numbers.add("hz", fmt::format("{:.0f}", hz), "measured", "resolution of CLOCK_MONOTONIC_COARSE");
  if (costs.scheduler.eevdf) {
    numbers.add("sched-latency-ns", "0", "derived", "not used with eevdf");
    numbers.derived("min-granularity-ns", 0.7e6 * scale,
                    fmt::format("base slice of Linux: 0.7 ms x (1 + log2 of {} processors, at most 8); seen beside one "
                                "that is always ready, to the next tick: {}",
                                costs.scheduler.processors, spread_text(costs.slice)));
    numbers.add("wakeup-granularity-ns", "0", "derived", "not used with eevdf");
  } else {
    numbers.derived("sched-latency-ns", 2 * slice, "two slices: two threads that are always ready take turns");
    if (costs.slice.empty()) {
      numbers.add("min-granularity-ns", figure(slice), "borrowed", "CFS on 8 CPUs and more; no turn was seen");
    } else {
      numbers.measured("min-granularity-ns", costs.slice, "run of a thread beside one that is always ready");
    }
    numbers.derived("wakeup-granularity-ns", 1e6 * scale,
                    fmt::format("CFS: 1 ms x (1 + log2 of {} processors, at most 8)", costs.scheduler.processors));
  }
  auto& tuning = RealWorld::tuning();
  numbers.add("spin-budget-ns", fmt::format("{}", tuning.spin_budget_ns.load()), "derived", "RealWorld's default");
  numbers.add("yield-after", fmt::format("{}", tuning.yield_after.load()), "derived", "RealWorld's default");
}

}  // namespace

std::string spread_text(const Costs& costs) {
  if (costs.empty()) return "not measured";
  const Summary all = summarize(costs);
  return fmt::format("median {}, middle half {} to {}, n = {}", figure(all.median), figure(all.q1), figure(all.q3),
                     all.n);
}

std::optional<IdleRise> idle_rise(const HostCosts& costs) {
  const double shortest = median(costs.wakes.front().costs.latency);
  const double longest = median(costs.wakes.back().costs.latency);
  if (longest < kRise * shortest) return std::nullopt;
  for (const auto& wake : costs.wakes) {
    if (median(wake.costs.latency) > (shortest + longest) / 2) return IdleRise{wake.idle_ns, longest - shortest};
  }
  return std::nullopt;
}

std::vector<HostNumber> host_numbers(const HostCosts& costs, const HostTopology& topology) {
  Numbers numbers;
  add_shape(numbers, costs, topology);
  add_lines(numbers, costs);
  add_sleeping(numbers, costs);
  add_scheduler(numbers, costs);
  return numbers.take();
}

std::string machine_file_text(const std::vector<HostNumber>& numbers, const std::vector<std::string>& comment) {
  std::string text;
  for (const auto& line : comment) text += fmt::format("# {}\n", line);
  text += "\n";
  for (const auto& number : numbers) {
    text += fmt::format("{} = {{ value = {}, mark = \"{}\", source = \"{}\" }}\n", number.key, number.value,
                        number.mark, number.source);
  }
  return text;
}

}  // namespace convoy
