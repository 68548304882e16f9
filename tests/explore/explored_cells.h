// explored_cells.h — Every cell of the explorer, in groups that compile apart: a twin is built with its own group only.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "tests/cell.h"

namespace convoy {

// What the program that is linked with it explores.
std::vector<Cell> explored_cells();

std::vector<Cell> lock_cells();
std::vector<Cell> cache_cells();
std::vector<Cell> quiescence_cells();
std::vector<Cell> mutex_cells();
std::vector<Cell> rwsem_cells();

}  // namespace convoy
