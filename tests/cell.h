// cell.h — What a test program of cells runs: one policy under one scenario.
// SPDX-License-Identifier: MIT
#pragma once

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
};

}  // namespace convoy
