// torture.cc — Runs one policy under torture on real threads, for CONVOY_TORTURE_SECONDS (1 without it).
// SPDX-License-Identifier: MIT
//
// usage: torture --list | --ctest PROGRAM LABEL ENVIRONMENT | POLICY torture
//
// Four threads; as many as cores, and at least two, where the policy needs a core per thread. Prints the seed, the
// least and the most acquisitions of a thread, and the longest waits. A claim that fails ends the process by abort.
#include "tests/torture/torture.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/cell_program.h"
#include "tests/cells.h"
#include "tests/knob_policies.h"

namespace convoy {
namespace {

struct Victim {
  Cell cell;
  std::function<std::string(std::chrono::milliseconds)> torture;
};

template <class... Locks>
std::vector<Victim> victims_of(PolicyList<Locks...>) {
  const int cores = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
  return {Victim{{file_name_of(Locks::kTraits.name), "torture", {}, {}}, [cores](std::chrono::milliseconds duration) {
                   Torture<Locks> torture({Locks::kTraits.needs_core_per_thread ? cores : 4, duration});
                   torture.run();
                   return torture.summary();
                 }}...};
}

int main(int argc, char** argv) {
  std::chrono::milliseconds duration{1000};
  if (const char* seconds = std::getenv("CONVOY_TORTURE_SECONDS"); seconds != nullptr) {
    char* end = nullptr;
    const long value = std::strtol(seconds, &end, 10);
    if (end == seconds || *end != '\0' || value < 1 || value > 86'400) {
      std::fprintf(stderr, "torture: CONVOY_TORTURE_SECONDS must be a whole number from 1 to 86400\n");
      return 2;
    }
    duration = std::chrono::seconds(value);
  }
  const auto victims = victims_of(TestedPolicies<RealWorld>{});
  std::vector<Cell> cells;
  for (const Victim& victim : victims) cells.push_back(victim.cell);
  return cell_program("torture", "real", "", cells, {argv + 1, argv + argc}, [&](const Cell& cell) {
    const auto victim = std::find_if(victims.begin(), victims.end(),
                                     [&](const Victim& other) { return other.cell.policy == cell.policy; });
    std::printf("torture: %s: %s\n", cell.policy.c_str(), victim->torture(duration).c_str());
    return 0;
  });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
