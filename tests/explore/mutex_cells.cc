// mutex_cells.cc — The mutexes and their queue of spinners in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/cell.h"
#include "tests/mutex_scenarios.h"
#include "tests/osq_scenarios.h"

namespace convoy {
namespace {

const AddCells adder([] {
  std::vector<Cell> cells;
  add_mutex_cells<ExploreWorld>(cells, 2);
  add_osq_cells<ExploreWorld>(cells, 2);
  return cells;
});

}  // namespace
}  // namespace convoy
