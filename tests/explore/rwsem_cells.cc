// rwsem_cells.cc — The rwsems in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/cell.h"
#include "tests/rwsem_scenarios.h"

namespace convoy {
namespace {

const AddCells adder([] {
  std::vector<Cell> cells;
  add_rwsem_cells<ExploreWorld>(cells, {2, 3});
  return cells;
});

}  // namespace
}  // namespace convoy
