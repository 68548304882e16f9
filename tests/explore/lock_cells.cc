// lock_cells.cc — The chosen policies of every world times every scenario that applies, in ExploreWorld.
// SPDX-License-Identifier: MIT
#include <utility>

#include "sim/explore_world.h"
#include "tests/cells.h"
#include "tests/chosen_policies.h"
#include "tests/knob_policies.h"

namespace convoy {
namespace {

static_assert(World<ExploreWorld> && Host<ExploreWorld>);

const AddCells adder([] {
  auto cells = cells_of<ExploreWorld>(Chosen<TestedPolicies<ExploreWorld>>{}, CellSizes{{2, 2}, {3, 1}, 5});
  for (Cell& cell : queue_cells_of<ExploreWorld>(Chosen<WorldPolicies<SleepersWorld<ExploreWorld>>>{}))
    cells.push_back(std::move(cell));
  return cells;
});

}  // namespace
}  // namespace convoy
