// progress.cc — Lines on stderr that say how far a command has come.
// SPDX-License-Identifier: MIT
#include "loadgen/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "loadgen/clock.h"

namespace convoy {
namespace {

std::string minutes(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(bool quiet, std::uint64_t runs)
    : quiet_(quiet),
      period_ns_((::isatty(STDERR_FILENO) != 0 ? 1 : 5) * kNanosPerSecond),
      runs_(runs),
      begun_ns_(now_ns()),
      last_line_ns_(begun_ns_) {}

void Progress::begin_run(std::uint32_t users, std::int64_t window_start_ns) {
  ++run_;
  users_ = users;
  window_start_ns_ = last_tick_ns_ = window_start_ns;
  last_transactions_ = 0;
}

void Progress::tick(std::uint64_t transactions) {
  const auto now = now_ns();
  if (quiet_ || now - last_line_ns_ < period_ns_) return;
  last_line_ns_ = now;
  std::string line =
      fmt::format("run {} of {}: {}{} user{}, {:.1f} s", run_, runs_, prefix_.empty() ? "" : prefix_ + ", ", users_,
                  users_ == 1 ? "" : "s", seconds(now - window_start_ns_));
  // Counts are published some twenty times a second: over less than a quarter of a second they give no rate.
  if (now - last_tick_ns_ > kNanosPerSecond / 4) {
    const auto count = static_cast<double>(transactions - last_transactions_);
    line += fmt::format(", {:.0f} transactions/s", count / seconds(now - last_tick_ns_));
  }
  last_tick_ns_ = now;
  last_transactions_ = transactions;
  if (run_seconds_ > 0) {
    // What is known of the pace so far, start of servers included, corrects the plan after the first few runs.
    const auto done = static_cast<double>(run_ - 1);
    const double pace = run_ > 3 ? seconds(now - begun_ns_) / (done + 0.5) : run_seconds_;
    const double left = pace * static_cast<double>(runs_ - run_ + 1) - seconds(now - window_start_ns_);
    line += fmt::format(", about {} left", minutes(std::max(left, 0.0)));
  }
  fmt::print(stderr, "{}\n", line);
}

}  // namespace convoy
