// lock_cells.cc — The chosen policies times every scenario that applies, on real threads.
// SPDX-License-Identifier: MIT
#include <utility>

#include "tests/cells.h"
#include "tests/chosen_policies.h"
#include "tests/knob_policies.h"

namespace convoy {
namespace {

const AddCells adder([] {
  auto cells = cells_of<RealWorld>(Chosen<TestedPolicies<RealWorld>>{}, CellSizes{{2, 500}, {3, 300}, 2000});
  for (Cell& cell : queue_cells_of<RealWorld>(Chosen<WorldPolicies<SleepersWorld<RealWorld>>>{}))
    cells.push_back(std::move(cell));
  return cells;
});

}  // namespace
}  // namespace convoy
