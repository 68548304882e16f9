// stats.h — Small-sample statistics: medians, fairness, and an exact test of two groups of runs.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace convoy {

// What one group of runs gave. All in the unit of the values.
struct Summary {
  std::size_t n = 0;
  double min = 0, q1 = 0, median = 0, q3 = 0, max = 0, mean = 0;
  std::optional<double> std_dev;  // of the sample; unknown from a single value
};

// Quartiles by linear interpolation between order statistics. All 0 when there is no value.
Summary summarize(std::vector<double> values);

// Returns the median. Requires: at least one value.
double median(std::vector<double> values);

// Jain's index (sum x)^2 / (n sum x^2): 1 when all shares are equal, 1/n when one has everything. Nothing when there is
// no share or all are 0.
std::optional<double> jain_index(const std::vector<double>& shares);

// Returns the two-sided p of Mann and Whitney's test: how often a random split of all values into groups of these sizes
// would give a rank sum at least as far from its mean. Exact, ties included, for up to kExactValues values in all
// (counts of subsets by rank sum); above, by the normal approximation with the correction for ties. 1 when a group is
// empty.
double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b);
inline constexpr std::size_t kExactValues = 100;

struct RatioEstimate {
  double estimate = 1;  // Hodges and Lehmann: the median of all ratios a_i / b_j, taken on logarithms
  double low = 1;       // the smallest and the largest of these ratios
  double high = 1;
  // The confidence interval: the ratios that the exact Mann-Whitney test on logarithms does not reject. Nothing when
  // the groups are too small for that confidence.
  std::optional<double> interval_low, interval_high;
};

// Estimates the ratio of group a to group b. Nothing when a group is empty or a value is not above 0.
std::optional<RatioEstimate> hodges_lehmann_ratio(const std::vector<double>& a, const std::vector<double>& b);

// Returns Holm's corrected p for each of several tests, in their order: what stays below alpha may be called different
// with the chance of even one wrong call below alpha.
std::vector<double> holm_adjust(const std::vector<double>& p);

// Returns the least number of runs a side with which the test can find a difference at all, at level alpha after Holm's
// correction for that many comparisons: the smallest n whose least p, 2 / C(2n, n), is at most alpha / comparisons.
unsigned runs_needed(unsigned comparisons, double alpha = 0.05);

}  // namespace convoy
