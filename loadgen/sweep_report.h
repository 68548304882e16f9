// sweep_report.h — The comparison that a sweep ends with.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/sweep_file.h"

namespace convoy {

// One comparison a case, under the case's name if the sweep has cases.
std::string sweep_report(const SweepFile& file, const std::vector<ResultFile>& results);

}  // namespace convoy
