// quiescence_cells.cc — Swaps of the policy in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/cell.h"
#include "tests/quiescence_scenarios.h"

namespace convoy {
namespace {

const AddCells adder([] {
  std::vector<Cell> cells;
  add_quiescence_cells<ExploreWorld>(cells, 1);
  return cells;
});

}  // namespace
}  // namespace convoy
