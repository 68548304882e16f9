// tally.h — What is counted in the measured window of a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/histogram.h"

namespace convoy {

// Why a request failed; the names are those of the results.
enum class Failure : std::uint8_t {
  kConnectRefused,
  kConnectTimeout,
  kAddressExhausted,
  kReset,
  kTimeout,
  kShortBody,
  kBadResponse,
  kHttp4xx,
  kHttp5xx,
};
inline constexpr std::size_t kFailures = 9;
inline constexpr std::array<std::string_view, kFailures> kFailureNames = {
    "connect_refused", "connect_timeout", "address_exhausted", "reset",   "timeout",
    "short_body",      "bad_response",    "http_4xx",          "http_5xx"};

// One second of the window.
struct SecondTally {
  std::uint64_t transactions = 0;
  std::uint64_t errors = 0;
};

// A first SYN that is lost is sent again after one second (RFC 6298); on a sound path no connection takes as long.
inline constexpr std::int64_t kSynRetryNs = 950'000'000;

// The partition: started = transactions + failed + in_flight_at_end. A request belongs to the window if it was in
// flight when the window opened or began in it. Times are in nanoseconds. Latencies are those of transactions only.
struct Tally {
  std::uint64_t started = 0;
  std::uint64_t transactions = 0;
  std::uint64_t failed = 0;
  std::uint64_t in_flight_at_end = 0;
  std::uint64_t bytes = 0;          // Of the bodies of transactions.
  std::uint64_t reused_closed = 0;  // Requests repeated once because a reused connection had been closed. No failures.
  std::array<std::uint64_t, kFailures> failures{};
  std::array<std::uint64_t, 600> status{};  // Answers by status; 0 to 99 stay 0.
  Histogram latency;
  Histogram failed_latency;
  std::vector<SecondTally> timeline;     // Grows as needed.
  std::vector<std::uint64_t> per_user;   // Transactions of each user.
  std::uint64_t users_connected = 0;     // In the whole run, warm-up included.
  std::uint64_t connections_opened = 0;  // The same; with a connection a request, many more than users.
  std::uint64_t slow_connects = 0;       // Connections that took kSynRetryNs or more to stand; the same.
  std::uint64_t answered = 0;            // Answers of any status, in the whole run.
  std::int64_t cpu_user_ns = 0;          // Of the generator's threads in the window.
  std::int64_t cpu_sys_ns = 0;
  double busiest_thread = 0;  // Share of a core that the busiest generator thread used in the window.

  // Adds the counts of other users.
  void merge(const Tally& other);

  SecondTally& second(std::int64_t since_window_start_ns);
};

}  // namespace convoy
