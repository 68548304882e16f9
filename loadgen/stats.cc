// stats.cc — Exact distributions of rank sums by counting subsets.
// SPDX-License-Identifier: MIT
#include "loadgen/stats.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace convoy {
namespace {

// Interpolates in sorted values at `share` of the way from the first to the last.
double at_share(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto above = std::min(below + 1, sorted.size() - 1);
  // Equal neighbours give exactly themselves, without a rounding error.
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Twice the rank of each value, so that the mean rank of tied values is a whole number. The values of a come first.
std::vector<unsigned> doubled_ranks(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::vector<double> sorted(all);
  std::sort(sorted.begin(), sorted.end());
  std::vector<unsigned> ranks;
  for (const double value : all) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
    ranks.push_back(static_cast<unsigned>((first - sorted.begin()) + 1 + (last - sorted.begin())));
  }
  return ranks;
}

// Returns, for each sum, the share of the subsets of `size` ranks that have it.
std::vector<double> rank_sum_distribution(const std::vector<unsigned>& ranks, std::size_t size) {
  const auto largest = std::accumulate(ranks.begin(), ranks.end(), std::size_t{0});
  // ways[k][s]: subsets of k of the ranks seen so far whose sum is s.
  std::vector<std::vector<double>> ways(size + 1, std::vector<double>(largest + 1));
  ways[0][0] = 1;
  std::size_t reached = 0;
  for (const auto rank : ranks) {
    reached += rank;
    for (std::size_t k = size; k > 0; --k)
      for (std::size_t sum = reached; sum + 1 > rank; --sum) ways[k][sum] += ways[k - 1][sum - rank];
  }
  auto distribution = std::move(ways[size]);
  const double all = std::accumulate(distribution.begin(), distribution.end(), 0.0);
  for (auto& share : distribution) share /= all;
  return distribution;
}

// The shares are sums of fractions: what is equal in truth may differ by this.
constexpr double kRounding = 1e-12;

double exact_p(const std::vector<unsigned>& ranks, std::size_t size_a) {
  const auto distribution = rank_sum_distribution(ranks, size_a);
  const auto sum = std::accumulate(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(size_a), 0.0);
  const double mean = static_cast<double>(size_a) * static_cast<double>(ranks.size() + 1);  // of doubled ranks
  double p = 0;
  for (std::size_t s = 0; s < distribution.size(); ++s)
    if (std::abs(static_cast<double>(s) - mean) >= std::abs(sum - mean)) p += distribution[s];
  return p > 1 - kRounding ? 1 : p;
}

double approximate_p(const std::vector<unsigned>& ranks, std::size_t size_a) {
  const auto n = static_cast<double>(size_a);
  const auto all = static_cast<double>(ranks.size());
  const double mean = n * (all + 1);
  double sum = 0, squares = 0;  // of doubled ranks; their spread holds the correction for ties
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i < size_a) sum += ranks[i];
    squares += (ranks[i] - (all + 1)) * (ranks[i] - (all + 1));
  }
  const double variance = n * (all - n) / (all * (all - 1)) * squares;
  if (variance <= 0) return 1;
  const double continuity = 1;  // half a rank, doubled
  const double distance = std::max(std::abs(sum - mean) - continuity, 0.0);
  return std::erfc(distance / std::sqrt(2 * variance));
}

// Returns the largest c with P(U <= c) <= 0.025 for groups of n and m values without ties; -1 when there is none.
std::ptrdiff_t critical_value(std::size_t n, std::size_t m) {
  constexpr double kLevel = 0.025;                       // half of what a 95 % interval leaves out
  constexpr double kNormalQuantile = 1.959963984540054;  // of 1 - kLevel
  if (n + m > kExactValues) {
    const auto nm = static_cast<double>(n * m);
    return static_cast<std::ptrdiff_t>(
        std::floor(nm / 2 - kNormalQuantile * std::sqrt(nm * static_cast<double>(n + m + 1) / 12) - 0.5));
  }
  std::vector<unsigned> ranks(n + m);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i] = static_cast<unsigned>(i + 1);
  const auto distribution = rank_sum_distribution(ranks, n);
  const std::size_t least_sum = n * (n + 1) / 2;
  double below = 0;
  std::ptrdiff_t c = -1;
  for (std::size_t u = 0; u <= n * m; ++u) {
    below += distribution[least_sum + u];
    if (below > kLevel + kRounding) break;
    c = static_cast<std::ptrdiff_t>(u);
  }
  return c;
}

}  // namespace

Summary summarize(std::vector<double> values) {
  Summary summary;
  summary.n = values.size();
  if (values.empty()) return summary;
  std::sort(values.begin(), values.end());
  summary.min = values.front();
  summary.max = values.back();
  summary.q1 = at_share(values, 0.25);
  summary.median = at_share(values, 0.5);
  summary.q3 = at_share(values, 0.75);
  const auto n = static_cast<double>(values.size());
  summary.mean = std::clamp(std::accumulate(values.begin(), values.end(), 0.0) / n, summary.min, summary.max);
  if (values.size() < 2) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.std_dev = std::sqrt(squares / (n - 1));
  return summary;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return at_share(values, 0.5);
}

std::optional<double> jain_index(const std::vector<double>& shares) {
  double sum = 0, squares = 0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  if (squares <= 0) return std::nullopt;
  return std::min(sum * sum / (static_cast<double>(shares.size()) * squares), 1.0);
}

double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty() || b.empty()) return 1;
  const auto ranks = doubled_ranks(a, b);
  return ranks.size() <= kExactValues ? exact_p(ranks, a.size()) : approximate_p(ranks, a.size());
}

std::optional<RatioEstimate> hodges_lehmann_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (const double x : a)
    for (const double y : b) {
      if (!(x > 0) || !(y > 0)) return std::nullopt;
      differences.push_back(std::log(x) - std::log(y));
    }
  if (differences.empty()) return std::nullopt;
  std::sort(differences.begin(), differences.end());
  RatioEstimate ratio;
  ratio.estimate = std::exp(at_share(differences, 0.5));
  ratio.low = std::exp(differences.front());
  ratio.high = std::exp(differences.back());
  const auto c = critical_value(a.size(), b.size());
  if (c < 0) return ratio;
  ratio.interval_low = std::exp(differences[static_cast<std::size_t>(c)]);
  ratio.interval_high = std::exp(differences[differences.size() - 1 - static_cast<std::size_t>(c)]);
  return ratio;
}

std::vector<double> holm_adjust(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

unsigned runs_needed(unsigned comparisons, double alpha) {
  unsigned n = 1;
  double splits = 2;  // C(2n, n)
  while (2 / splits > alpha / std::max(comparisons, 1u)) {
    ++n;
    splits *= 2.0 * (2.0 * n - 1) / n;
  }
  return n;
}

}  // namespace convoy
