// quiescence_cells.cc — Swaps of the policy in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/explore/explored_cells.h"
#include "tests/quiescence_scenarios.h"

namespace convoy {

std::vector<Cell> quiescence_cells() {
  std::vector<Cell> cells;
  add_quiescence_cells<ExploreWorld>(cells, 1);
  return cells;
}

}  // namespace convoy
