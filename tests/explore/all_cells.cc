// all_cells.cc — The groups together.
// SPDX-License-Identifier: MIT
#include <utility>

#include "tests/explore/explored_cells.h"

namespace convoy {

std::vector<Cell> explored_cells() {
  std::vector<Cell> all;
  for (const auto group : {lock_cells, cache_cells, quiescence_cells, mutex_cells, rwsem_cells}) {
    for (Cell& cell : group()) all.push_back(std::move(cell));
  }
  return all;
}

}  // namespace convoy
