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

#include "tests/cell.h"
#include "tests/cell_program.h"

namespace convoy {
namespace {

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
  return cell_program("contract", "real", "", all_cells(), arguments, [](const Cell& cell) { return run(cell); });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
