// compare_cells.h — Runs sorted into cells, with summaries, ratios and verdicts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/result_schema.h"
#include "loadgen/stats.h"

namespace convoy {

// What a comparison compares: a figure of each run.
struct Metric {
  std::string_view name;   // on the command line
  std::string_view title;  // above the bars
  bool higher_is_better;
  std::optional<double> (*of)(const Run&);  // nothing when the run does not have it
};

std::vector<std::string> metric_names();

// Returns the metric of this name; panics when there is none.
const Metric& metric_named(std::string_view name);

// What may be said about a cell and the baseline's cell at the same user level.
enum class Verdict {
  kNone,     // it is the baseline, or the baseline has no runs here
  kTooFew,   // too few runs a side for a verdict
  kSame,     // cannot be told apart
  kDiffers,  // differs at .05 after Holm's correction over the labels of the level
};

// A cell whose repeats fall into two kinds: with a convoy that stood (stood_share above 0.8), and without (below 0.2).
struct Bimodal {
  std::size_t runs_without = 0, runs_with = 0;
  double median_without = 0, median_with = 0;  // of the metric
};

// The runs of one label at one user level.
struct Cell {
  std::vector<double> values;  // of the metric, in the order of the runs
  Summary summary;
  std::optional<double> p99_ms, jain;  // medians over the runs
  std::uint64_t failed = 0;
  Counts errors;
  std::optional<Bimodal> bimodal;
  std::optional<RatioEstimate> ratio;  // to the baseline
  std::optional<double> p;             // after Holm's correction; only with enough runs
  Verdict verdict = Verdict::kNone;
};

struct Level {
  std::uint64_t users = 0;
  std::vector<std::optional<Cell>> cells;  // by label, as Group::labels
};

// All cells of one workload, target and case.
struct Group {
  std::string workload, target;
  std::optional<std::string> case_label;
  std::vector<std::string> labels;
  std::size_t baseline = 0;          // index of a label
  std::vector<std::string> heading;  // what was asked for, of which server, how often
  std::vector<Level> levels;         // in the order of users
  std::vector<std::string> notes;    // shapes and warnings, a sentence each
  std::size_t fewest_runs = 0;       // a cell
  std::size_t runs_needed = 0;       // a side, for verdicts
};

struct Comparison {
  const Metric* metric = nullptr;
  std::vector<std::string> not_alike;  // settings that differ besides the policy, one entry each
  std::vector<Group> groups;
};

// Fewer runs a side get no verdict, whatever the test says.
inline constexpr std::size_t kFewestRuns = 5;

// Sorts the runs of all files into cells and compares each to the baseline: the label `baseline`, else the one that
// their sweep names, else the first one of a group. Fails when no cell has two labels, or no group has the baseline;
// the error lists the labels.
Result<Comparison> compare_results(const std::vector<ResultFile>& files, std::string_view metric = "tps",
                                   const std::optional<std::string>& baseline = {});

// A run with the file that it came from and the label that it goes by.
struct LabelledRun {
  const ResultFile* file;
  const Run* run;
  std::string label;
};

// Returns all runs. One without a label goes by the policy and knobs in which the runs differ.
std::vector<LabelledRun> label_runs(const std::vector<ResultFile>& files);

}  // namespace convoy
