// rwsem_cells.cc — The rwsems in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/explore/explored_cells.h"
#include "tests/rwsem_scenarios.h"

namespace convoy {

std::vector<Cell> rwsem_cells() {
  std::vector<Cell> cells;
  add_rwsem_cells<ExploreWorld>(cells, {2, 3});
  return cells;
}

}  // namespace convoy
