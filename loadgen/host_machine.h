// host_machine.h — What was measured on this host as a machine file.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "loadgen/host_costs.h"
#include "loadgen/host_topology.h"

namespace convoy {

// Everything that calibrate measures. Costs in nanoseconds, a value a round or event.
struct HostCosts {
  Costs load, store, atomic, pause, syscall, memory, slice;
  SwitchCosts switches;
  std::array<Costs, 4> transfer;  // by Nearness; empty where there is no such pair
  Costs slowdown;                 // empty where no two processors share a core
  struct Idle {
    std::int64_t idle_ns;
    WakeCosts costs;
  };
  std::vector<Idle> wakes;  // of a sleeper on another processor, from the shortest sleep to the longest
  double tick_ns = 0;
  SchedulerInfo scheduler;
};

// One number of the machine file.
struct HostNumber {
  std::string key, value, mark, source;
};

// "47.3 ns, middle half 46.1 to 52.0, 21 rounds": median, quartiles, how many.
std::string spread_text(const Costs& costs);

// Where the latency of a wake-up rises as the sleep before it grows. None: it does not rise by a fifth.
struct IdleRise {
  std::int64_t idle_ns;  // the shortest sleep whose median lies above the middle of both ends
  double exit_ns;        // what the longest sleep costs more than the shortest
};
std::optional<IdleRise> idle_rise(const HostCosts& costs);

// Every number that a machine file has (sim/machine_spec.h), in user mode.
std::vector<HostNumber> host_numbers(const HostCosts& costs, const HostTopology& topology);

// The file; `comment` stands above, a line each.
std::string machine_file_text(const std::vector<HostNumber>& numbers, const std::vector<std::string>& comment);

}  // namespace convoy
