// cell.h — What a test program of cells runs: policies under scenarios, from the files that it is linked from.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/scenario.h"

namespace convoy {

inline constexpr std::uint64_t kExhaustiveSchedules = 2'000'000;

// One policy under one scenario.
struct Cell {
  std::string policy;  // as its file is called
  std::string scenario;
  ScenarioFactory make;
  std::vector<std::string> witnesses;  // what an exhaustive exploration must have seen
  int fewer_preemptions = 0;           // than usual: what keeps a cell of many choices small enough
  // Fewer than usual: the explorer raises the bound one by one, up to that many schedules of each.
  std::uint64_t max_schedules = kExhaustiveSchedules;
};

// A function of each file that has cells: a program runs those of the files that it is linked from.
using CellGroup = std::vector<Cell> (*)();
inline std::vector<CellGroup>& cell_groups() {
  static std::vector<CellGroup> groups;
  return groups;
}
struct AddCells {
  explicit AddCells(CellGroup group) { cell_groups().push_back(group); }
};
inline std::vector<Cell> all_cells() {
  std::vector<Cell> all;
  for (const CellGroup group : cell_groups()) {
    for (Cell& cell : group()) all.push_back(std::move(cell));
  }
  return all;
}

}  // namespace convoy
