// sweep_report.cc — The comparison that a sweep ends with.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_report.h"

#include "loadgen/http_summary.h"

namespace convoy {

std::string sweep_report(const SweepFile& file, const std::vector<ResultFile>& results) {
  std::string text;
  for (const auto& one : file.cases) {
    for (const auto& result : results) {
      if (result.runs.front().case_label.value_or("") != one.label) continue;
      if (!one.label.empty()) text += "case " + one.label + ", ";
      text += result.runs.front().label + "\n" + level_table(result.runs) + "\n";
    }
  }
  return text;
}

}  // namespace convoy
