// http_summary.h — What `http` prints: siege's summary lines and a table of levels.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result_schema.h"

namespace convoy {

// siege's lines, in its order and with its names and units, over all runs given (those of one level). Times that
// nothing was measured of are 0, as siege has them.
std::string siege_summary(const std::vector<Run>& runs);

// One row a level: users, transactions per second, p50, p99 and the longest, Jain's index, failed requests. Over the
// repeats of a level these are medians, but the longest of all and the sum of failures. "-" is nothing measured.
std::string level_table(const std::vector<Run>& runs);

}  // namespace convoy
