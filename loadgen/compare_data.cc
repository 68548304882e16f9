// compare_data.cc — The comparison for programs: JSON and CSV.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/result_schema.h"
#include "loadgen/compare.h"

namespace convoy {
namespace {

// null for what is absent or not finite.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNone:
      return "none";
    case Verdict::kTooFew:
      return "too few runs";
    case Verdict::kSame:
      return "cannot be told apart";
    case Verdict::kDiffers:
      return "differs";
  }
  return "none";
}

Json ratio_json(const Cell& cell) {
  if (!cell.ratio) return nullptr;
  return {{"estimate", number(cell.ratio->estimate)},
          {"low", number(cell.ratio->low)},
          {"high", number(cell.ratio->high)},
          {"interval_low", number(cell.ratio->interval_low)},
          {"interval_high", number(cell.ratio->interval_high)}};
}

Json bimodal_json(const Cell& cell) {
  if (!cell.bimodal) return nullptr;
  return {{"runs_without", cell.bimodal->runs_without},
          {"median_without", number(cell.bimodal->median_without)},
          {"runs_with", cell.bimodal->runs_with},
          {"median_with", number(cell.bimodal->median_with)}};
}

Json cell_json(const std::string& label, const Cell& cell) {
  Json json{{"label", label},
            {"runs", cell.values.size()},
            {"median", number(cell.summary.median)},
            {"mean", number(cell.summary.mean)},
            {"std_dev", number(cell.summary.std_dev)},
            {"min", number(cell.summary.min)},
            {"q1", number(cell.summary.q1)},
            {"q3", number(cell.summary.q3)},
            {"max", number(cell.summary.max)},
            {"values", Json::array()},
            {"p99_ms", number(cell.p99_ms)},
            {"jain", number(cell.jain)},
            {"failed", cell.failed},
            {"verdict", verdict_name(cell.verdict)},
            {"p", number(cell.p)},
            {"ratio", ratio_json(cell)},
            {"bimodal", bimodal_json(cell)}};
  for (const double value : cell.values) json["values"].push_back(number(value));
  return json;
}

Json group_json(const Group& group) {
  Json json{{"workload", group.workload},
            {"target", group.target},
            {"case", group.case_label ? Json(*group.case_label) : Json(nullptr)},
            {"baseline", group.labels[group.baseline]},
            {"heading", group.heading},
            {"runs_needed", group.runs_needed},
            {"notes", group.notes},
            {"levels", Json::array()}};
  for (const auto& level : group.levels) {
    Json cells = Json::array();
    for (std::size_t i = 0; i < group.labels.size(); ++i)
      if (level.cells[i]) cells.push_back(cell_json(group.labels[i], *level.cells[i]));
    json["levels"].push_back({{"users", level.users}, {"cells", std::move(cells)}});
  }
  return json;
}

}  // namespace

std::string comparison_json(const Comparison& comparison) {
  Json json{{"schema", "convoy.comparison/1"},
            {"metric", std::string(comparison.metric->name)},
            {"higher_is_better", comparison.metric->higher_is_better},
            {"not_like_for_like", comparison.not_alike},
            {"groups", Json::array()}};
  for (const auto& group : comparison.groups) json["groups"].push_back(group_json(group));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string comparison_csv(const Comparison& comparison) {
  std::string text =
      "workload,target,case,users,label,baseline,metric,runs,median,mean,std_dev,min,q1,q3,max,ratio,ratio_low,"
      "ratio_high,interval_low,interval_high,p,verdict,p99_ms,jain,failed\n";
  const auto shown = [](const std::optional<double>& value) {
    return value && std::isfinite(*value) ? fmt::format("{}", *value) : std::string();
  };
  for (const auto& group : comparison.groups)
    for (const auto& level : group.levels)
      for (std::size_t i = 0; i < group.labels.size(); ++i) {
        if (!level.cells[i]) continue;
        const auto& cell = *level.cells[i];
        const auto& all = cell.summary;
        const auto ratio = cell.ratio;
        const std::optional<double> none;
        const std::vector<std::string> fields{group.workload,
                                              group.target,
                                              group.case_label.value_or(""),
                                              fmt::format("{}", level.users),
                                              group.labels[i],
                                              group.labels[group.baseline],
                                              std::string(comparison.metric->name),
                                              fmt::format("{}", cell.values.size()),
                                              shown(all.median),
                                              shown(all.mean),
                                              shown(all.std_dev),
                                              shown(all.min),
                                              shown(all.q1),
                                              shown(all.q3),
                                              shown(all.max),
                                              shown(ratio ? std::optional(ratio->estimate) : none),
                                              shown(ratio ? std::optional(ratio->low) : none),
                                              shown(ratio ? std::optional(ratio->high) : none),
                                              shown(ratio ? ratio->interval_low : none),
                                              shown(ratio ? ratio->interval_high : none),
                                              shown(cell.p),
                                              std::string(verdict_name(cell.verdict)),
                                              shown(cell.p99_ms),
                                              shown(cell.jain),
                                              fmt::format("{}", cell.failed)};
        text += csv_line(fields);
      }
  return text;
}

}  // namespace convoy
