// sweep_report.cc — The comparison that a sweep ends with.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_report.h"

#include <optional>

#include "loadgen/compare.h"
#include "loadgen/http_summary.h"

namespace convoy {
namespace {

std::string case_of(const ResultFile& result) { return result.runs.front().case_label.value_or(""); }

// Tables of levels instead of a comparison, which one policy alone does not give.
std::string tables(const std::vector<ResultFile>& results) {
  std::string text;
  for (const auto& result : results) text += result.runs.front().label + "\n" + level_table(result.runs) + "\n";
  return text;
}

}  // namespace

std::string sweep_report(const SweepFile& file, const std::vector<ResultFile>& results) {
  std::string text;
  for (const auto& one : file.cases) {
    std::vector<ResultFile> here;
    for (const auto& result : results) {
      if (case_of(result) == one.label) here.push_back(result);
    }
    if (here.empty()) continue;
    // Without a baseline in the file it is the first policy's label; an interrupted sweep may have no runs of it.
    const auto& baseline = one.keys.baseline.empty() ? file.policies.front().label : one.keys.baseline;
    auto comparison = compare_results(here, "tps", baseline);
    if (!comparison) comparison = compare_results(here, "tps", std::nullopt);
    if (!text.empty()) text += "\n";
    text += comparison ? comparison_text(*comparison) : tables(here);
  }
  return text;
}

}  // namespace convoy
