// lock_cells.cc — Every policy of every world times every scenario that applies, in ExploreWorld.
// SPDX-License-Identifier: MIT
#include <utility>

#include "sim/explore_world.h"
#include "tests/cells.h"
#include "tests/explore/explored_cells.h"
#include "tests/knob_policies.h"

namespace convoy {

static_assert(World<ExploreWorld> && Host<ExploreWorld>);

std::vector<Cell> lock_cells() {
  auto cells = cells_of<ExploreWorld>(TestedPolicies<ExploreWorld>{}, CellSizes{{2, 2}, {3, 1}, 5});
  for (Cell& cell : queue_cells_of<ExploreWorld>(TestedPolicies<SleepersWorld<ExploreWorld>>{}))
    cells.push_back(std::move(cell));
  return cells;
}

}  // namespace convoy
