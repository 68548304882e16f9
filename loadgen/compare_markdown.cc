// compare_markdown.cc — The comparison as Markdown tables.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <functional>

#include "loadgen/compare.h"
#include "loadgen/compare_format.h"
#include "loadgen/table.h"

namespace convoy {
namespace {

// A bar would end the field, a line break the row.
std::string field(const std::string& text) {
  std::string safe;
  for (const char c : fitted(text, text.size())) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe;
}

// A table of labels by user levels.
std::string table(const Group& group, const std::string& title, bool with_baseline,
                  const std::function<std::string(const std::optional<Cell>&)>& text_of) {
  std::string text = fmt::format("{}\n\n| {} |", title, level_noun(group)), rule = "\n|---|";
  for (const auto& level : group.levels) {
    text += fmt::format(" {} |", level.users);
    rule += "--:|";
  }
  text += rule + "\n";
  for (std::size_t i = 0; i < group.labels.size(); ++i) {
    if (i == group.baseline && !with_baseline) continue;
    text += fmt::format("| {} |", field(group.labels[i]));
    for (const auto& level : group.levels) text += fmt::format(" {} |", text_of(level.cells[i]));
    text += "\n";
  }
  return text + "\n";
}

std::string group_markdown(const Group& group, const Metric& metric) {
  std::string text;
  for (const auto& line : group.heading) text += field(line) + "  \n";
  text += "\n";
  text += table(group, metric_title(metric) + " (median)", true,
                [](const std::optional<Cell>& cell) { return cell ? figure(cell->summary.median) : std::string("-"); });
  text += table(group, ratio_title(group), false, [](const std::optional<Cell>& cell) {
    auto ratio = ratio_text(cell);
    if (ratio.back() == '*') ratio.insert(ratio.size() - 1, "\\");  // an asterisk would start emphasis
    return ratio;
  });
  if (has_p99(group)) {
    text += table(group, "p99 in milliseconds (median)", true, [](const std::optional<Cell>& cell) {
      return cell && cell->p99_ms ? figure(*cell->p99_ms) : std::string("-");
    });
  }
  if (has_jain(group)) {
    text += table(group, "Jain's index (median)", true, [](const std::optional<Cell>& cell) {
      return cell && cell->jain ? fmt::format("{:.2f}", *cell->jain) : std::string("-");
    });
  }
  for (const auto& level : group.levels)
    for (std::size_t i = 0; i < group.labels.size(); ++i)
      if (level.cells[i] && level.cells[i]->bimodal)
        text += fmt::format("* {} {}: {}\n", level.users, level_noun(group),
                            bimodal_text(field(group.labels[i]), *level.cells[i]->bimodal));
  if (group.workload != "csv") text += "* " + field(failed_text(group)) + "\n";
  if (has_marks(group)) text += "* \\* differs, ~ cannot be told apart, no mark: too few runs.\n";
  if (const auto needed = runs_needed_text(group); !needed.empty()) text += "* " + needed + "\n";
  for (const auto& note : group.notes) text += "* " + field(note) + "\n";
  return text;
}

}  // namespace

std::string comparison_markdown(const Comparison& comparison) {
  std::string text;
  if (!comparison.not_alike.empty()) {
    text += "Not like for like:\n\n";
    for (const auto& entry : comparison.not_alike) text += "* " + field(entry) + "\n";
    text += "\n";
  }
  for (std::size_t i = 0; i < comparison.groups.size(); ++i)
    text += (i == 0 ? "" : "\n") + group_markdown(comparison.groups[i], *comparison.metric);
  return text;
}

}  // namespace convoy
