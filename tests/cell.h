// cell.h — What a test program of cells runs: one policy under one scenario.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/scenario.h"

namespace convoy {

// One policy under one scenario.
struct Cell {
  std::string policy;  // as its file is called
  std::string scenario;
  ScenarioFactory make;
  std::vector<std::string> witnesses;  // what an exhaustive exploration must have seen
  int fewer_preemptions = 0;  // than usual: what keeps a cell of many choices small enough
  std::uint64_t max_schedules = 2'000'000;
};

}  // namespace convoy
