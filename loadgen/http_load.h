// http_load.h — One run of HTTP load: what to do, what came out.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "common/result.h"
#include "loadgen/tally.h"
#include "loadgen/target.h"

namespace convoy {

// A closed loop: each user has one connection and asks for the next thing when the last answer is complete. Times are
// nanoseconds.
struct HttpLoad {
  const Target* target = nullptr;
  std::uint32_t users = 1;
  std::uint32_t threads = 1;
  std::int64_t warmup_ns = 0;
  std::int64_t duration_ns = 0;  // 0: until `requests` are done.
  std::uint64_t requests = 0;    // Exactly so many are started in the window; 0: as many as the time allows.
  bool keep_alive = true;        // Otherwise a new connection for each request.
  std::int64_t timeout_ns = 0;   // From the start of a request, its connection included, to the end of its answer.
  std::uint64_t seed = 1;        // Turns the place in the list of requests at which each user begins.
};

// What a run tells while it goes on. All are called from the thread that called run_http_load.
struct HttpLoadHooks {
  std::function<void()> before_load;                     // Before the first request; the server is at rest.
  std::function<void(std::int64_t)> window_open;         // With the time of the window's start on the monotonic clock.
  std::function<void()> after_load;                      // What was in flight at the window's end is read or dropped.
  std::function<void(std::uint64_t transactions)> tick;  // About ten times a second, with the window's count so far.
};

struct HttpOutcome {
  Tally tally;
  std::int64_t window_ns = 0;  // The real length of the window; 0 if a signal came before it opened.
  bool interrupted = false;    // By a signal.
};

// Runs the load and returns what the window saw. Blocks; the server's answers are waited for no longer than 250 ms
// after the window's end. Errors: no epoll or thread to be had. A server that cannot be reached is no error here: the
// requests fail, each in its class.
Result<HttpOutcome> run_http_load(const HttpLoad& load, const HttpLoadHooks& hooks);

}  // namespace convoy
