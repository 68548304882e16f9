// cache_cells.cc — The page cache in ExploreWorld.
// SPDX-License-Identifier: MIT
#include "sim/explore_world.h"
#include "tests/cache_scenarios.h"
#include "tests/cell.h"

namespace convoy {
namespace {

const AddCells adder([] {
  std::vector<Cell> cells;
  add_cache_cells<ExploreWorld>(cells);
  return cells;
});

}  // namespace
}  // namespace convoy
