// http_summary.cc — What `http` prints: siege's summary lines and a table of levels.
// SPDX-License-Identifier: MIT
#include "loadgen/http_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace convoy {
namespace {

constexpr double kMega = 1024.0 * 1024.0;  // siege's MB.

double ratio(double a, double b) { return b > 0 ? a / b : 0; }

// The median of what there is; nothing if there is nothing.
template <class Get>
std::optional<double> median_of(const std::vector<const Run*>& runs, Get get) {
  std::vector<double> values;
  for (const auto* run : runs) {
    if (const std::optional<double> value = get(*run)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

std::string cell(std::optional<double> value, double scale, int decimals) {
  return value ? fmt::format("{:.{}f}", *value * scale, decimals) : "-";
}

}  // namespace

std::string siege_summary(const std::vector<Run>& runs) {
  double transactions = 0, failed = 0, answered = 0, elapsed = 0, bytes = 0, busy_s = 0, longest_s = 0;
  std::optional<double> shortest_s;
  for (const auto& run : runs) {
    const auto count = static_cast<double>(run.transactions);
    transactions += count;
    failed += static_cast<double>(run.failed());
    for (const auto& [status, answers] : run.status) answered += static_cast<double>(answers);
    elapsed += run.duration_s;
    bytes += static_cast<double>(run.bytes);
    busy_s += run.latency_us.mean.value_or(0) * count / 1e6;
    longest_s = std::max(longest_s, run.latency_us.max.value_or(0) / 1e6);
    if (run.latency_us.min) shortest_s = std::min(shortest_s.value_or(1e9), *run.latency_us.min / 1e6);
  }
  std::string text;
  const auto line = [&](const char* name, double value, int decimals, const char* unit) {
    text += fmt::format("{:<24} {:>14.{}f}{}\n", name, value, decimals, unit);
  };
  line("Transactions:", transactions, 0, " hits");
  // Answers of any status count as available; only a request without an answer does not.
  line("Availability:", 100 * ratio(answered, transactions + failed), 2, " %");
  line("Elapsed time:", elapsed, 2, " secs");
  line("Data transferred:", bytes / kMega, 2, " MB");
  line("Response time:", ratio(busy_s, transactions), 6, " secs");
  line("Transaction rate:", ratio(transactions, elapsed), 2, " trans/sec");
  line("Throughput:", ratio(bytes / kMega, elapsed), 2, " MB/sec");
  line("Concurrency:", ratio(busy_s, elapsed), 2, "");
  line("Successful transactions:", transactions, 0, "");
  line("Failed transactions:", failed, 0, "");
  line("Longest transaction:", longest_s, 6, "");
  line("Shortest transaction:", shortest_s.value_or(0), 6, "");
  return text;
}

std::string level_table(const std::vector<Run>& runs) {
  std::vector<std::uint64_t> levels;
  std::size_t most_repeats = 0;
  for (const auto& run : runs) {
    if (std::find(levels.begin(), levels.end(), run.users) == levels.end()) levels.push_back(run.users);
  }
  std::string text = fmt::format("{:>7} {:>5} {:>14} {:>10} {:>10} {:>10} {:>6} {:>10}\n", "users", "runs",
                                 "transactions/s", "p50 ms", "p99 ms", "max ms", "Jain", "failed");
  for (const auto users : levels) {
    std::vector<const Run*> level;
    std::uint64_t failed = 0;
    std::optional<double> longest;
    for (const auto& run : runs) {
      if (run.users != users) continue;
      level.push_back(&run);
      failed += run.failed();
      if (run.latency_us.max) longest = std::max(longest.value_or(0), *run.latency_us.max);
    }
    most_repeats = std::max(most_repeats, level.size());
    const auto rate = median_of(level, [](const Run& run) { return run.transactions_per_second; });
    const auto p50 = median_of(level, [](const Run& run) { return run.latency_us.p50; });
    const auto p99 = median_of(level, [](const Run& run) { return run.latency_us.p99; });
    const auto jain = median_of(level, [](const Run& run) { return run.per_user.jain; });
    text += fmt::format("{:>7} {:>5} {:>14} {:>10} {:>10} {:>10} {:>6} {:>10}\n", users, level.size(), cell(rate, 1, 1),
                        cell(p50, 1e-3, 3), cell(p99, 1e-3, 3), cell(longest, 1e-3, 3), cell(jain, 1, 3), failed);
  }
  if (most_repeats > 1) text += "Medians over the runs of a level; the longest of all; failed requests added up.\n";
  return text;
}

}  // namespace convoy
