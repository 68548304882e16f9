// progress.h — Lines on stderr that say how far a command has come.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace convoy {

// One line a second on a terminal, one every 5 seconds elsewhere, none when quiet. Not thread-safe.
class Progress {
 public:
  // `runs` is how many runs are to come in all.
  Progress(bool quiet, std::uint64_t runs);

  // What stands in front of every line, such as the label of a policy; empty for nothing.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  // How long a run takes that has not been made yet, for the time that is left; 0: nothing is said of it.
  void set_run_seconds(double seconds) { run_seconds_ = seconds; }

  // A window opens at this time of the monotonic clock.
  void begin_run(std::uint32_t users, std::int64_t window_start_ns);

  // Says how many transactions the window has seen so far; writes a line if it is time.
  void tick(std::uint64_t transactions);

 private:
  bool quiet_;
  std::int64_t period_ns_;
  std::uint64_t runs_;
  std::uint64_t run_ = 0;
  std::uint32_t users_ = 0;
  double run_seconds_ = 0;
  std::int64_t begun_ns_;
  std::int64_t window_start_ns_ = 0;
  std::int64_t last_line_ns_;
  std::int64_t last_tick_ns_ = 0;
  std::uint64_t last_transactions_ = 0;
  std::string prefix_;
};

}  // namespace convoy
