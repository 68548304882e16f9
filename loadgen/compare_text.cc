// compare_text.cc — The comparison for a terminal of 80 columns.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>

#include "loadgen/compare.h"
#include "loadgen/compare_format.h"
#include "loadgen/table.h"

namespace convoy {
namespace {

std::string level_bars(const Group& group, const Level& level, const Metric& metric) {
  std::vector<Bar> bars;
  double scale = 0;
  std::string bimodal;
  for (std::size_t i = 0; i < group.labels.size(); ++i) {
    const auto& cell = level.cells[i];
    if (!cell) {
      bars.push_back({group.labels[i], "-", 0});
      continue;
    }
    bars.push_back({group.labels[i], figure(cell->summary.median), cell->summary.median});
    scale = std::max(scale, cell->summary.median);
    if (cell->bimodal) bimodal += wrapped(bimodal_text(group.labels[i], *cell->bimodal), 2);
  }
  return fmt::format("{}: {}\n{}\n{}{}\n", group.workload == "locktest" ? "Threads" : "Concurrent Users", level.users,
                     metric_title(metric), bar_lines(bars, scale), bimodal);
}

std::vector<std::string> heading_row(const Group& group, std::string first) {
  std::vector<std::string> row{std::move(first)};
  for (const auto& level : group.levels) row.push_back(fmt::format("{}", level.users));
  return row;
}

std::string ratio_table(const Group& group) {
  TextTable table(1);
  table.add(heading_row(group, std::string(level_noun(group))));
  for (std::size_t i = 0; i < group.labels.size(); ++i) {
    if (i == group.baseline) continue;
    std::vector<std::string> row{group.labels[i]};
    for (const auto& level : group.levels) row.push_back(ratio_text(level.cells[i]));
    table.add(std::move(row));
  }
  return wrapped(ratio_title(group)) + table.text() + "\n";
}

// Latency and fairness, which a ratio of throughputs does not show.
std::string latency_table(const Group& group) {
  if (!has_p99(group) && !has_jain(group)) return "";
  TextTable p99(2), jain(2);
  p99.add(heading_row(group, "p99 ms"));
  jain.add(heading_row(group, "Jain"));
  for (std::size_t i = 0; i < group.labels.size(); ++i) {
    std::vector<std::string> p99_row{group.labels[i]}, jain_row{group.labels[i]};
    for (const auto& level : group.levels) {
      const auto& cell = level.cells[i];
      const auto ms = cell ? cell->p99_ms : std::nullopt;
      p99_row.push_back(ms ? fmt::format("{:.{}f}", *ms, *ms < 0.1 ? 2 : 1) : "-");
      jain_row.push_back(cell && cell->jain ? fmt::format("{:.2f}", *cell->jain) : "-");
    }
    p99.add(std::move(p99_row));
    jain.add(std::move(jain_row));
  }
  return (has_p99(group) ? p99.beside(jain) : jain.text()) + "\n";
}

std::string group_text(const Group& group, const Metric& metric) {
  std::string text;
  for (const auto& line : group.heading) text += wrapped(line, 2);
  text += "\n";
  for (const auto& level : group.levels) text += level_bars(group, level, metric);
  text += ratio_table(group) + latency_table(group);
  if (group.workload != "csv") text += wrapped(failed_text(group), 2);
  if (has_marks(group)) text += "* differs   ~ cannot be told apart   (no mark: too few runs)\n";
  if (const auto needed = runs_needed_text(group); !needed.empty()) text += wrapped(needed, 2);
  for (const auto& note : group.notes) text += wrapped(note, 2);
  return text;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  std::string text;
  if (!comparison.not_alike.empty()) {
    text += "not like for like:\n";
    for (const auto& entry : comparison.not_alike) text += wrapped(entry, 4, 2);
    text += "\n";
  }
  for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    text += (i == 0 ? "" : "\n") + group_text(comparison.groups[i], *comparison.metric);
  return text;
}

}  // namespace convoy
