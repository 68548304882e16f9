// other_cells.cc — What is no lock, on real threads: the page cache, swaps of the policy, the queue of spinners.
// SPDX-License-Identifier: MIT
#include "locks/policies.h"
#include "tests/cache_scenarios.h"
#include "tests/cell.h"
#include "tests/mutex_scenarios.h"
#include "tests/osq_scenarios.h"
#include "tests/quiescence_scenarios.h"
#include "tests/rwsem_scenarios.h"

namespace convoy {
namespace {

const AddCells adder([] {
  std::vector<Cell> cells;
  add_cache_cells<RealWorld>(cells);
  add_quiescence_cells<RealWorld>(cells, 200);
  add_osq_cells<RealWorld>(cells, 1000);
  add_mutex_cells<RealWorld>(cells, 1000);
  add_rwsem_cells<RealWorld>(cells, {300, 300});
  return cells;
});

}  // namespace
}  // namespace convoy
