// compare_format.cc — Figures and sentences of the reports.
// SPDX-License-Identifier: MIT
#include "loadgen/compare_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace convoy {
namespace {

// "0.38", "1.00", "12.3", "123".
std::string estimate_text(double ratio) {
  return ratio < 9.995 ? fmt::format("{:.2f}", ratio) : fmt::format("{:.{}f}", ratio, ratio < 99.95 ? 1 : 0);
}

// As the estimate, but for the 0 before the point: ".36".
std::string bound_text(double ratio) {
  const auto text = estimate_text(ratio);
  return text.compare(0, 2, "0.") == 0 ? text.substr(1) : text;
}

template <class Predicate>
bool any_cell(const Group& group, Predicate holds) {
  return std::any_of(group.levels.begin(), group.levels.end(), [&](const Level& level) {
    return std::any_of(level.cells.begin(), level.cells.end(),
                       [&](const std::optional<Cell>& cell) { return cell && holds(*cell); });
  });
}

bool is_too_few(const Cell& cell) { return cell.verdict == Verdict::kTooFew; }

}  // namespace

std::string figure(double value) {
  if (value == 0) return "0";
  const double size = value < 0 ? -value : value;
  const int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string ratio_text(const std::optional<Cell>& cell) {
  if (!cell) return "-";
  const bool judged = cell->verdict == Verdict::kSame || cell->verdict == Verdict::kDiffers;
  std::string text = "-";
  if (const auto& ratio = cell->ratio) {
    text = estimate_text(ratio->estimate);
    if (judged && ratio->interval_low)
      text += fmt::format("[{}-{}]", bound_text(*ratio->interval_low), bound_text(*ratio->interval_high));
    if (!judged && ratio->low < ratio->high)
      text += fmt::format("[{}-{}]", bound_text(ratio->low), bound_text(ratio->high));
  }
  if (judged) text += cell->verdict == Verdict::kDiffers ? "*" : "~";
  return text;
}

std::string ratio_title(const Group& group) {
  const auto to = fmt::format("Ratio to {}", group.labels[group.baseline]);
  const bool some_few = any_cell(group, is_too_few);
  const bool some_judged = has_marks(group);
  if (!some_few) return to + ", Hodges-Lehmann [95 % interval]";
  if (some_judged) return to + ", Hodges-Lehmann [95 % interval; range where unmarked]";
  const bool single = !any_cell(group, [](const Cell& cell) { return cell.values.size() > 1; });
  return to + (single ? " (single run: no ranking)" : ", Hodges-Lehmann [range] (too few runs: no verdict)");
}

std::string metric_title(const Metric& metric) {
  return fmt::format("{} > {} Is Better", metric.title, metric.higher_is_better ? "Higher" : "Lower");
}

std::string bimodal_text(const std::string& label, const Bimodal& bimodal) {
  const auto runs = [](std::size_t count) { return fmt::format("{} run{}", count, count == 1 ? "" : "s"); };
  return fmt::format("{} is bimodal: {} in {} without a convoy, {} in {} with one.", label,
                     figure(bimodal.median_without), runs(bimodal.runs_without), figure(bimodal.median_with),
                     runs(bimodal.runs_with));
}

std::string failed_text(const Group& group) {
  std::string text;
  for (std::size_t i = 0; i < group.labels.size(); ++i) {
    Counts errors;
    std::uint64_t failed = 0;
    for (const auto& level : group.levels) {
      if (!level.cells[i]) continue;
      failed += level.cells[i]->failed;
      for (const auto& [name, count] : level.cells[i]->errors)
        if (count > 0) errors[name] += count;
    }
    if (failed == 0) continue;
    text += fmt::format("{}{} {} (", text.empty() ? "" : "; ", group.labels[i], failed);
    for (auto error = errors.begin(); error != errors.end(); ++error)
      text += fmt::format("{}{} {}", error == errors.begin() ? "" : ", ", error->first, error->second);
    text += ")";
  }
  return fmt::format("Failed requests: {}.", text.empty() ? "0" : text);
}

std::string runs_needed_text(const Group& group) {
  if (!any_cell(group, is_too_few)) return "";
  const bool single = !any_cell(group, [](const Cell& cell) { return cell.values.size() > 1; });
  return fmt::format("{} A verdict needs {} runs a side in a cell.",
                     single ? "Single run: no ranking." : "Too few runs for a verdict where there is no mark.",
                     group.runs_needed);
}

bool has_marks(const Group& group) {
  return any_cell(group,
                  [](const Cell& cell) { return cell.verdict == Verdict::kSame || cell.verdict == Verdict::kDiffers; });
}

bool has_p99(const Group& group) {
  return any_cell(group, [](const Cell& cell) { return cell.p99_ms.has_value(); });
}
bool has_jain(const Group& group) {
  return any_cell(group, [](const Cell& cell) { return cell.jain.has_value(); });
}

std::string_view level_noun(const Group& group) { return group.workload == "locktest" ? "threads" : "users"; }

}  // namespace convoy
