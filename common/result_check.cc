// result_check.cc — What must hold in every result, whatever was measured.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/parse.h"
#include "common/result_schema.h"

namespace convoy {
namespace {

std::uint64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

std::uint64_t count_of(const Counts& counts, const std::string& name) {
  const auto found = counts.find(name);
  return found == counts.end() ? 0 : found->second;
}

// Statuses whose first digit is `digit`.
std::uint64_t status_sum(const Counts& status, char digit) {
  std::uint64_t sum = 0;
  for (const auto& [code, count] : status)
    if (code.front() == digit) sum += count;
  return sum;
}

Result<void> check_requests(const Run& run, const std::string& path) {
  const auto failed = run.failed();
  if (run.started != run.transactions + failed + run.in_flight_at_end)
    return fail("{}.started: {} is not transactions + failed + in_flight_at_end = {} + {} + {}", path, run.started,
                run.transactions, failed, run.in_flight_at_end);
  for (const auto& [name, count] : run.errors)
    if (std::find(kErrorClasses.begin(), kErrorClasses.end(), name) == kErrorClasses.end())
      return fail("{}.errors: {} is no class of errors; one of {}", path, quote(name), fmt::join(kErrorClasses, ", "));
  if (!(run.duration_s >= 0) || !(run.warmup_s >= 0))
    return fail("{}.duration_s: {} after a warm-up of {} is negative", path, run.duration_s, run.warmup_s);
  if (run.transactions_per_second.has_value() != (run.duration_s > 0))
    return fail("{}.transactions_per_second: is null exactly when duration_s is 0", path);
  if (!run.transactions_per_second) return {};
  constexpr double kRounding = 0.001;
  const double expected = static_cast<double>(run.transactions) / run.duration_s;
  if (std::abs(*run.transactions_per_second - expected) > kRounding * std::max(expected, 1.0))
    return fail("{}.transactions_per_second: {} is not transactions / duration_s = {}", path,
                *run.transactions_per_second, expected);
  return {};
}

// Answers of a run over HTTP: below 400 they are the transactions, from 400 on failures of two classes.
Result<void> check_status(const Run& run, const std::string& path) {
  for (const auto& [code, count] : run.status)
    if (code.size() != 3 || code[0] < '1' || code[0] > '5')
      return fail("{}.status: {} is no HTTP status", path, quote(code));
  if (run.workload != "http") return {};
  const auto answered = status_sum(run.status, '1') + status_sum(run.status, '2') + status_sum(run.status, '3');
  if (answered != run.transactions)
    return fail("{}.status: {} answers below 400, but {} transactions", path, answered, run.transactions);
  for (const char digit : {'4', '5'}) {
    const auto name = fmt::format("http_{}xx", digit);
    if (status_sum(run.status, digit) != count_of(run.errors, name))
      return fail("{}.status: {} answers of {}xx, but errors.{} is {}", path, status_sum(run.status, digit), digit,
                  name, count_of(run.errors, name));
  }
  return {};
}

Result<void> check_latency(const Latency& latency, std::uint64_t count, const std::string& path) {
  const std::array<std::pair<const char*, std::optional<double>>, 6> rising{{{"min", latency.min},
                                                                             {"p50", latency.p50},
                                                                             {"p90", latency.p90},
                                                                             {"p99", latency.p99},
                                                                             {"p999", latency.p999},
                                                                             {"max", latency.max}}};
  double before = 0;
  for (const auto& [name, value] : rising) {
    if (value.has_value() != (count > 0)) return fail("{}.{}: is null exactly when nothing was measured", path, name);
    if (value && *value < before) return fail("{}.{}: {} is below the value before it, {}", path, name, *value, before);
    before = value.value_or(0);
  }
  if (latency.mean.has_value() != (count > 0)) return fail("{}.mean: is null exactly when nothing was measured", path);
  if (latency.mean && (*latency.mean < *latency.min || *latency.mean > *latency.max))
    return fail("{}.mean: {} is outside of [{}, {}]", path, *latency.mean, *latency.min, *latency.max);
  std::uint64_t sum = 0;
  for (const auto& bucket : latency.histogram) {
    if (bucket.low > bucket.high || !latency.min || bucket.low < *latency.min || bucket.high > *latency.max)
      return fail("{}.histogram: the bucket from {} to {} is not within [min, max]", path, bucket.low, bucket.high);
    sum += bucket.count;
  }
  if (sum != count) return fail("{}.histogram: {} values, but {} were measured", path, sum, count);
  return {};
}

Result<void> check_per_user(const Run& run, const std::string& path) {
  const auto& share = run.per_user;
  if (share.min && share.mean && share.max && !(*share.min <= *share.mean && *share.mean <= *share.max))
    return fail("{}.per_user: min <= mean <= max does not hold: {}, {}, {}", path, *share.min, *share.mean, *share.max);
  constexpr double kRounding = 1e-9;
  if (share.jain && !(*share.jain >= 0 && *share.jain <= 1 + kRounding))
    return fail("{}.per_user.jain: {} is not between 0 and 1", path, *share.jain);
  if (run.connections.served > run.connections.requested)
    return fail("{}.connections.served: {} is more than requested, {}", path, run.connections.served,
                run.connections.requested);
  return {};
}

Result<void> check_timeline(const Run& run, const std::string& path) {
  std::uint64_t transactions = 0, errors = 0;
  double before = 0;
  for (const auto& bin : run.timeline) {
    if (!(bin.t_s > before)) return fail("{}.timeline: t_s {} does not rise above {}", path, bin.t_s, before);
    before = bin.t_s;
    transactions += bin.transactions;
    errors += bin.errors;
  }
  if (run.timeline.empty()) return {};
  if (transactions != run.transactions)
    return fail("{}.timeline: {} transactions, but the run has {}", path, transactions, run.transactions);
  if (errors != run.failed()) return fail("{}.timeline: {} errors, but the run has {}", path, errors, run.failed());
  return {};
}

Result<void> check_run(const Run& run, const std::string& path) {
  if (run.world != "real" && run.world != "machine")
    return fail("{}.world: {} is not real or machine", path, quote(run.world));
  if (run.convoy.stood_share && !(*run.convoy.stood_share >= 0 && *run.convoy.stood_share <= 1))
    return fail("{}.convoy.stood_share: {} is not between 0 and 1", path, *run.convoy.stood_share);
  if (run.acquisitions_per_transaction && !(*run.acquisitions_per_transaction >= 0))
    return fail("{}.acquisitions_per_transaction: {} is negative", path, *run.acquisitions_per_transaction);
  for (const auto time : {run.cpu.server_user_s, run.cpu.server_sys_s, run.cpu.client_user_s, run.cpu.client_sys_s})
    if (time && !(*time >= 0)) return fail("{}.cpu: a time of {} s is negative", path, *time);
  if (auto done = check_requests(run, path); !done) return done;
  if (auto done = check_status(run, path); !done) return done;
  // locktest times no transaction: the clock would cost more than the lock.
  const auto timed = run.workload == "locktest" ? 0 : run.transactions;
  if (auto done = check_latency(run.latency_us, timed, path + ".latency_us"); !done) return done;
  if (auto done = check_latency(run.failed_latency_us, run.failed(), path + ".failed_latency_us"); !done) return done;
  if (auto done = check_per_user(run, path); !done) return done;
  return check_timeline(run, path);
}

}  // namespace

std::uint64_t Run::failed() const { return sum_of(errors); }

Result<void> check_result(const ResultFile& file) {
  if (file.schema != kResultSchema) return fail("schema: {} is not {}", quote(file.schema), kResultSchema);
  for (std::size_t i = 0; i < file.runs.size(); ++i)
    if (auto done = check_run(file.runs[i], fmt::format("runs[{}]", i)); !done) return done;
  for (std::size_t i = 0; i < file.variants.size(); ++i)
    if (auto done = check_run(file.variants[i], fmt::format("variants[{}]", i)); !done) return done;
  return {};
}

}  // namespace convoy
