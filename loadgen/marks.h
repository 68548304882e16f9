// marks.h — Changes of a server's settings at set times of a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/result.h"
#include "loadgen/fd.h"
#include "loadgen/target.h"

namespace convoy {

// What --at TIME:NAME=VALUE asks for; TIME counts from the start of the measured window.
struct MarkOrder {
  std::int64_t at_ns = 0;
  std::string name;
  std::string value;
};

Result<MarkOrder> parse_mark(std::string_view text);

// A change that was tried. Times in seconds of the window: asked for, no request under the old setting any more, done.
struct MarkOutcome {
  std::string name;
  std::string from;
  std::string to;
  double asked_s = 0;
  double drained_s = 0;
  double done_s = 0;
  std::string error;  // Why the change failed, or empty.
};

// Carries out the orders of one run on a thread of its own, over connections of its own. Not thread-safe.
class MarkPlayer {
 public:
  // `origin` and `address` must outlive the player.
  MarkPlayer(const Url& origin, const Address& address, std::vector<MarkOrder> orders);
  MarkPlayer(const MarkPlayer&) = delete;
  MarkPlayer& operator=(const MarkPlayer&) = delete;
  ~MarkPlayer();

  // Begins; times count from `window_start_ns` of the monotonic clock.
  void start(std::int64_t window_start_ns);

  // Ends the thread, after the change that is under way, and returns what has been tried. Orders that were not reached
  // become outcomes with an error. If `interrupted`, neither is waited for or missed.
  std::vector<MarkOutcome> finish(bool interrupted);

 private:
  void play(std::int64_t window_start_ns);
  MarkOutcome carry_out(const MarkOrder& order, std::int64_t window_start_ns) const;

  const Url& origin_;
  const Address& address_;
  std::vector<MarkOrder> orders_;  // In the order of their times.
  std::vector<MarkOutcome> outcomes_;
  Fd stop_;    // Readable once no further change is to begin.
  Fd cancel_;  // Readable once the one under way is to be given up.
  std::thread thread_;
};

}  // namespace convoy
