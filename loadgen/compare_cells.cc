// compare_cells.cc — From runs to cells to verdicts.
// SPDX-License-Identifier: MIT
#include "loadgen/compare_cells.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "common/panic.h"
#include "common/parse.h"
#include "loadgen/compare_facts.h"

namespace convoy {
namespace {

std::optional<double> milliseconds(const std::optional<double>& us) {
  return us ? std::optional<double>(*us / 1000) : std::nullopt;
}

std::optional<double> tps_of(const Run& run) { return run.transactions_per_second; }
std::optional<double> p50_of(const Run& run) { return milliseconds(run.latency_us.p50); }
std::optional<double> p99_of(const Run& run) { return milliseconds(run.latency_us.p99); }
std::optional<double> jain_of(const Run& run) { return run.per_user.jain; }

std::optional<double> cpu_of(const Run& run) {
  if (!run.cpu.server_user_s || !run.cpu.server_sys_s || run.server_requests.value_or(0) == 0) return std::nullopt;
  return (*run.cpu.server_user_s + *run.cpu.server_sys_s) * 1e6 / static_cast<double>(*run.server_requests);
}

constexpr std::array<Metric, 5> kMetrics{{{"tps", "Transactions Per Second", true, tps_of},
                                          {"p50", "Latency p50, Milliseconds", false, p50_of},
                                          {"p99", "Latency p99, Milliseconds", false, p99_of},
                                          {"jain", "Fairness Among Users, Jain's Index", true, jain_of},
                                          {"cpu", "Server CPU Per Transaction, Microseconds", false, cpu_of}}};

constexpr double kNoConvoy = 0.2;     // stood_share below: a run without a convoy
constexpr double kStoodConvoy = 0.8;  // and above: one in which it stood

std::vector<double> values_of(const std::vector<const Run*>& runs, std::optional<double> (*of)(const Run&)) {
  std::vector<double> values;
  for (const auto* run : runs)
    if (const auto value = of(*run)) values.push_back(*value);
  return values;
}

std::optional<double> median_of(const std::vector<const Run*>& runs, std::optional<double> (*of)(const Run&)) {
  const auto values = values_of(runs, of);
  return values.empty() ? std::nullopt : std::optional<double>(median(values));
}

std::optional<Bimodal> bimodal_of(const std::vector<const Run*>& runs, const Metric& metric) {
  std::vector<double> without, with;
  for (const auto* run : runs) {
    const auto value = metric.of(*run);
    const auto share = run->convoy.stood_share;
    if (!value || !share) continue;
    if (*share < kNoConvoy) without.push_back(*value);
    if (*share > kStoodConvoy) with.push_back(*value);
  }
  if (without.empty() || with.empty()) return std::nullopt;
  return Bimodal{without.size(), with.size(), median(without), median(with)};
}

std::optional<Cell> cell_of(const std::vector<const Run*>& runs, const Metric& metric) {
  Cell cell;
  cell.values = values_of(runs, metric.of);
  if (cell.values.empty()) return std::nullopt;
  cell.summary = summarize(cell.values);
  cell.p99_ms = median_of(runs, p99_of);
  cell.jain = median_of(runs, jain_of);
  cell.bimodal = bimodal_of(runs, metric);
  for (const auto* run : runs) {
    cell.failed += run->failed();
    for (const auto& [name, count] : run->errors) cell.errors[name] += count;
  }
  return cell;
}

// Compares every cell of a level to the baseline's; raises `needed` to the runs a side that its verdicts need.
void judge(Level& level, std::size_t baseline, std::size_t& needed) {
  if (!level.cells[baseline]) return;
  const auto& base = level.cells[baseline]->values;
  std::vector<Cell*> others;
  for (std::size_t i = 0; i < level.cells.size(); ++i)
    if (i != baseline && level.cells[i]) others.push_back(&*level.cells[i]);
  if (others.empty()) return;
  const auto least = std::max<std::size_t>(kFewestRuns, runs_needed(static_cast<unsigned>(others.size())));
  needed = std::max(needed, least);
  std::vector<double> p;
  for (const auto* cell : others) p.push_back(mann_whitney_p(cell->values, base));
  const auto adjusted = holm_adjust(p);
  constexpr double kAlpha = 0.05;
  for (std::size_t i = 0; i < others.size(); ++i) {
    auto& cell = *others[i];
    cell.ratio = hodges_lehmann_ratio(cell.values, base);
    cell.verdict = Verdict::kTooFew;
    if (std::min(cell.values.size(), base.size()) < least) continue;
    cell.p = adjusted[i];
    cell.verdict = adjusted[i] <= kAlpha ? Verdict::kDiffers : Verdict::kSame;
  }
}

// Fills labels and levels from the runs of one group.
void fill(Group& group, const std::vector<LabelledRun>& runs, const Metric& metric) {
  for (const auto& run : runs)
    if (std::find(group.labels.begin(), group.labels.end(), run.label) == group.labels.end())
      group.labels.push_back(run.label);
  std::map<std::uint64_t, std::map<std::string, std::vector<const Run*>>> by_users;
  for (const auto& run : runs) by_users[run.run->users][run.label].push_back(run.run);
  group.fewest_runs = runs.size();
  for (const auto& [users, by_label] : by_users) {
    Level level{users, {}};
    for (const auto& label : group.labels) {
      const auto found = by_label.find(label);
      level.cells.push_back(found == by_label.end() ? std::nullopt : cell_of(found->second, metric));
      if (level.cells.back()) group.fewest_runs = std::min(group.fewest_runs, level.cells.back()->values.size());
    }
    group.levels.push_back(std::move(level));
  }
}

bool has_pair(const Group& group) {
  return std::any_of(group.levels.begin(), group.levels.end(), [](const Level& level) {
    return std::count_if(level.cells.begin(), level.cells.end(), [](const auto& cell) { return cell.has_value(); }) > 1;
  });
}

// Returns the index of the label that was asked for, else of the one that a sweep names, else of the first.
std::size_t baseline_of(const Group& group, const std::vector<LabelledRun>& runs,
                        const std::optional<std::string>& asked) {
  const auto& sweep = runs[0].file->sweep;
  for (const auto& label : {asked, sweep ? sweep->baseline : std::nullopt}) {
    const auto found = label ? std::find(group.labels.begin(), group.labels.end(), *label) : group.labels.end();
    if (found != group.labels.end()) return static_cast<std::size_t>(found - group.labels.begin());
  }
  return 0;
}

std::string bound_note(const std::vector<LabelledRun>& runs) {
  const auto bound = std::count_if(runs.begin(), runs.end(), [](const auto& run) { return run.run->generator_bound; });
  if (bound == 0) return "";
  return fmt::format("Generator-bound: in {} of {} runs the generator used a whole core and may be the limit.", bound,
                     runs.size());
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const auto& metric : kMetrics) names.emplace_back(metric.name);
  return names;
}

const Metric& metric_named(std::string_view name) {
  for (const auto& metric : kMetrics)
    if (metric.name == name) return metric;
  panic("compare: no metric {}", quote(name));
}

Result<Comparison> compare_results(const std::vector<ResultFile>& files, std::string_view metric_name,
                                   const std::optional<std::string>& baseline) {
  Comparison comparison;
  comparison.metric = &metric_named(metric_name);
  const auto runs = label_runs(files);
  // In the order of their first run.
  std::vector<std::pair<std::tuple<std::string, std::string, std::optional<std::string>>, std::vector<LabelledRun>>>
      by_group;
  std::vector<std::string> labels;
  for (const auto& run : runs) {
    const std::tuple key{run.run->workload, run.run->target, run.run->case_label};
    auto found = std::find_if(by_group.begin(), by_group.end(), [&](const auto& group) { return group.first == key; });
    if (found == by_group.end()) found = by_group.insert(found, {key, {}});
    found->second.push_back(run);
    if (std::find(labels.begin(), labels.end(), run.label) == labels.end()) labels.push_back(run.label);
  }
  if (baseline && std::find(labels.begin(), labels.end(), *baseline) == labels.end())
    return fail("baseline: {} is no label of these runs; one of {}", quote(*baseline), fmt::join(labels, ", "));
  for (const auto& [key, group_runs] : by_group) {
    Group group;
    std::tie(group.workload, group.target, group.case_label) = key;
    fill(group, group_runs, *comparison.metric);
    if (!has_pair(group)) continue;
    group.baseline = baseline_of(group, group_runs, baseline);
    for (auto& level : group.levels) judge(level, group.baseline, group.runs_needed);
    group.heading = heading_of(group_runs, group);
    if (comparison.metric->name == "tps") group.notes = shape_notes(group);
    if (const auto note = bound_note(group_runs); !note.empty()) group.notes.push_back(note);
    for (const auto& entry : differences_of(group_runs))
      if (std::find(comparison.not_alike.begin(), comparison.not_alike.end(), entry) == comparison.not_alike.end())
        comparison.not_alike.push_back(entry);
    comparison.groups.push_back(std::move(group));
  }
  if (comparison.groups.empty())
    return fail(
        "nothing is comparable: no user level of a workload and target has runs of two labels with a figure for "
        "{}; labels: {}",
        metric_name, labels.empty() ? "none" : fmt::format("{}", fmt::join(labels, ", ")));
  return comparison;
}

}  // namespace convoy
