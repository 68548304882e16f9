// contract.cc — Runs one cell (policy, scenario) on real threads, again and again.
// SPDX-License-Identifier: MIT
//
// usage: contract --list | --ctest PROGRAM LABEL ENVIRONMENT | POLICY SCENARIO
//
// Goal: the policies keep their contract on this processor, and under the sanitizers. Method: the explorer's scenarios,
// larger, on threads that start together, until 100 runs or a quarter of a second, whichever is later than the first
// five runs; the C++ library's mutexes too. A claim that fails ends the process by abort.
#include <barrier>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "locks/policies.h"
#include "tests/cache_scenarios.h"
#include "tests/cell_program.h"
#include "tests/cells.h"
#include "tests/knob_policies.h"
#include "tests/mutex_scenarios.h"
#include "tests/osq_scenarios.h"
#include "tests/quiescence_scenarios.h"
#include "tests/rwsem_scenarios.h"

namespace convoy {
namespace {

std::vector<Cell> real_cells() {
  auto cells = cells_of<RealWorld>(TestedPolicies<RealWorld>{}, CellSizes{{2, 500}, {3, 300}, 2000});
  for (Cell& cell : queue_cells_of<RealWorld>(TestedPolicies<SleepersWorld<RealWorld>>{}))
    cells.push_back(std::move(cell));
  add_cache_cells<RealWorld>(cells);
  add_quiescence_cells<RealWorld>(cells, 200);
  add_osq_cells<RealWorld>(cells, 1000);
  add_mutex_cells<RealWorld>(cells, 1000);
  add_rwsem_cells<RealWorld>(cells, {300, 300});
  return cells;
}

void run_once(const Cell& cell) {
  const std::unique_ptr<Scenario> scenario = cell.make();
  std::barrier start(scenario->threads());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < scenario->threads(); ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        scenario->run(i);
      });
    }
  }
  scenario->finish();
}

int run(const Cell& cell) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(250);
  int runs = 0;
  while (runs < 5 || (runs < 100 && Clock::now() < end)) {
    run_once(cell);
    ++runs;
  }
  std::printf("real threads: %s %s: %d runs kept the contract\n", cell.policy.c_str(), cell.scenario.c_str(), runs);
  return 0;
}

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return cell_program("contract", "real", "", real_cells(), arguments, [](const Cell& cell) { return run(cell); });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
