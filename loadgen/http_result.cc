// http_result.cc — The counts of a run as a row of a result.
// SPDX-License-Identifier: MIT
#include "loadgen/http_result.h"

#include <algorithm>
#include <array>
#include <ctime>

#include "common/log.h"
#include "loadgen/clock.h"

namespace convoy {
namespace {

constexpr double kBound = 0.95;  // Of a core: above it the generator, not the server, may set the rate.
// Buckets per doubling in a result: at most 1/128 of the value wide, which keeps files small.
constexpr unsigned kBucketsPerOctave = 128;

double micros(std::uint64_t ns) { return static_cast<double>(ns) / 1e3; }

Latency describe_latency(const Histogram& histogram) {
  Latency latency;
  if (histogram.empty()) return latency;
  const auto at = [&](double quantile) { return micros(histogram.value_at(quantile)); };
  latency.min = micros(histogram.min_ns());
  latency.max = micros(histogram.max_ns());
  latency.mean = std::clamp(histogram.mean_ns() / 1e3, *latency.min, *latency.max);
  latency.p50 = at(0.5);
  latency.p90 = at(0.9);
  latency.p99 = at(0.99);
  latency.p999 = at(0.999);
  for (const auto& bucket : histogram.buckets(kBucketsPerOctave)) {
    latency.histogram.push_back({micros(bucket.low_ns), micros(bucket.high_ns), bucket.count});
  }
  return latency;
}

PerUser describe_users(const std::vector<std::uint64_t>& per_user) {
  PerUser share;
  if (per_user.empty()) return share;
  double sum = 0, squares = 0;
  for (const auto count : per_user) {
    sum += static_cast<double>(count);
    squares += static_cast<double>(count) * static_cast<double>(count);
  }
  if (sum == 0) return share;
  const auto users = static_cast<double>(per_user.size());
  share.min = static_cast<double>(*std::min_element(per_user.begin(), per_user.end()));
  share.max = static_cast<double>(*std::max_element(per_user.begin(), per_user.end()));
  share.mean = std::clamp(sum / users, *share.min, *share.max);
  share.jain = std::min(sum * sum / (users * squares), 1.0);
  return share;
}

std::vector<TimelineBin> describe_timeline(const HttpOutcome& outcome) {
  std::vector<TimelineBin> bins;
  const double end = seconds(outcome.window_ns);
  for (const auto& second : outcome.tally.timeline) {
    const auto next = static_cast<double>(bins.size() + 1);
    bins.push_back({std::min(next, end), second.transactions, second.errors});
  }
  return bins;
}

}  // namespace

void describe_outcome(const HttpLoad& load, const HttpOutcome& outcome, Run& run) {
  const Tally& tally = outcome.tally;
  run.workload = "http";
  run.target = load.target->name;
  run.connection = load.keep_alive ? "keep-alive" : "close";
  run.seed = load.seed;
  run.users = load.users;
  run.warmup_s = seconds(load.warmup_ns);
  run.duration_s = seconds(outcome.window_ns);
  run.started = tally.started;
  run.transactions = tally.transactions;
  run.in_flight_at_end = tally.in_flight_at_end;
  if (outcome.window_ns > 0) run.transactions_per_second = static_cast<double>(tally.transactions) / run.duration_s;
  run.bytes = tally.bytes;
  for (std::size_t i = 0; i < kFailures; ++i) {
    if (tally.failures[i] > 0) run.errors[std::string(kFailureNames[i])] = tally.failures[i];
  }
  for (std::size_t status = 0; status < tally.status.size(); ++status) {
    if (tally.status[status] > 0) run.status[std::to_string(status)] = tally.status[status];
  }
  run.latency_us = describe_latency(tally.latency);
  run.failed_latency_us = describe_latency(tally.failed_latency);
  run.per_user = describe_users(tally.per_user);
  run.connections.requested = load.users;
  run.connections.opened = tally.connections_opened;
  run.connections.served = static_cast<std::uint64_t>(
      std::count_if(tally.per_user.begin(), tally.per_user.end(), [](std::uint64_t count) { return count > 0; }));
  run.timeline = describe_timeline(outcome);
  run.cpu.client_user_s = seconds(tally.cpu_user_ns);
  run.cpu.client_sys_s = seconds(tally.cpu_sys_ns);
  run.generator_bound = tally.busiest_thread > kBound;
}

std::string utc_text(std::int64_t epoch_s) {
  const auto time = static_cast<std::time_t>(epoch_s);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

void warn_of_doubts(const HttpLoad& load, const HttpOutcome& outcome, const Run& run) {
  const Tally& tally = outcome.tally;
  const auto users = fmt::format("{} user{}", load.users, load.users == 1 ? "" : "s");
  if (run.generator_bound) {
    log_warning(
        "{}: generator_bound: the busiest generator thread used {:.0f} % of a core; the rate may be ours, not the "
        "server's",
        users, 100 * tally.busiest_thread);
  }
  const bool enough_requests = load.requests == 0 || load.requests >= load.users;
  if (!outcome.interrupted && enough_requests && run.connections.served < load.users) {
    log_warning("{}: only {} of {} users were served; {} connected", users, run.connections.served, load.users,
                tally.users_connected);
  }
  if (tally.failures[static_cast<std::size_t>(Failure::kAddressExhausted)] > 0) {
    log_warning(
        "{}: address_exhausted: no local port was left to connect from, closed connections hold theirs for a minute; "
        "use --connection keep-alive or widen net.ipv4.ip_local_port_range",
        users);
  }
  if (tally.slow_connects > 0) {
    log_warning(
        "{}: {} of {} connections took a second or more to be established: their SYN was dropped and sent again, as a "
        "server with a short listen backlog makes it; the longest latencies are its, not the requests'",
        users, tally.slow_connects, tally.connections_opened);
  }
  if (tally.reused_closed > 0) {
    log_info(
        "{}: {} requests were sent again because the server had closed an idle connection (reused_closed, no failures)",
        users, tally.reused_closed);
  }
}

}  // namespace convoy
