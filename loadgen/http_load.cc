// http_load.cc — One run of HTTP load: the threads and the thread that times them.
// SPDX-License-Identifier: MIT
#include "loadgen/http_load.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "loadgen/clock.h"
#include "loadgen/http_worker.h"
#include "loadgen/run_board.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr std::int64_t kHookPeriod = 100 * kNanosPerMilli;

// The threads of one run and what the calling thread does meanwhile.
class Run {
 public:
  Run(const HttpLoad& load, const HttpLoadHooks& hooks) : load_(load), hooks_(hooks) {}

  Result<HttpOutcome> execute() {
    if (auto ok = prepare(); !ok) return tl::unexpected(ok.error());
    if (hooks_.before_load) hooks_.before_load();
    board_.start_ns = now_ns();
    window_start_ns_ = board_.start_ns + load_.warmup_ns;
    if (load_.warmup_ns == 0) announce_window();
    if (auto ok = start_threads(); !ok) return tl::unexpected(ok.error());
    attend();
    for (auto& thread : threads_) thread.join();
    if (hooks_.after_load) hooks_.after_load();
    return outcome();
  }

 private:
  Result<void> prepare() {
    board_.arrived.reset(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!board_.arrived) return fail("a run cannot be set up: {}", std::strerror(errno));
    board_.tickets = static_cast<std::int64_t>(load_.requests);
    const std::uint32_t threads = std::clamp(load_.threads, 1U, load_.users);
    for (std::uint32_t i = 0, first = 0; i < threads; ++i) {
      const std::uint32_t count = load_.users / threads + (i < load_.users % threads ? 1 : 0);
      workers_.push_back(std::make_unique<HttpWorker>(load_, board_, first, count));
      if (auto ok = workers_.back()->open(); !ok) return ok;
      first += count;
    }
    return {};
  }

  Result<void> start_threads() {
    try {
      for (auto& worker : workers_) threads_.emplace_back([&worker] { worker->run(); });
    } catch (const std::system_error& error) {
      const auto started = threads_.size();
      for (auto& worker : workers_) worker->abandon();
      for (auto& thread : threads_) thread.join();
      return fail("thread {} of {} cannot be started: {}", started + 1, workers_.size(), error.what());
    }
    return {};
  }

  // Waits for the threads and calls the hooks.
  void attend() {
    const auto threads = static_cast<std::uint32_t>(threads_.size());
    while (board_.closed.load() < threads) {
      const auto now = now_ns();
      if (!window_announced_ && now >= window_start_ns_ && stop_signal::received() == 0) announce_window();
      if (window_announced_ && hooks_.tick) hooks_.tick(transactions());
      auto wait = kHookPeriod;
      if (!window_announced_ && window_start_ns_ > now) wait = std::min(wait, window_start_ns_ - now);
      pollfd arrival{board_.arrived.get(), POLLIN, 0};
      const timespec limit{0, static_cast<long>(wait)};
      ::ppoll(&arrival, 1, &limit, nullptr);
      eventfd_t drained = 0;
      ::eventfd_read(board_.arrived.get(), &drained);
    }
  }

  void announce_window() {
    window_announced_ = true;
    if (hooks_.window_open) hooks_.window_open(window_start_ns_);
  }

  std::uint64_t transactions() const {
    std::uint64_t sum = 0;
    for (const auto& worker : workers_) sum += worker->transactions_so_far();
    return sum;
  }

  HttpOutcome outcome() {
    HttpOutcome outcome;
    outcome.interrupted = stop_signal::received() != 0;
    for (auto& worker : workers_) {
      outcome.window_ns = std::max(outcome.window_ns, worker->window_ns());
      outcome.tally.merge(worker->tally());
    }
    const auto seconds = (outcome.window_ns + kNanosPerSecond - 1) / kNanosPerSecond;
    outcome.tally.timeline.resize(static_cast<std::size_t>(seconds));
    return outcome;
  }

  const HttpLoad& load_;
  const HttpLoadHooks& hooks_;
  RunBoard board_;
  std::vector<std::unique_ptr<HttpWorker>> workers_;
  std::vector<std::thread> threads_;
  std::int64_t window_start_ns_ = 0;
  bool window_announced_ = false;
};

}  // namespace

Result<HttpOutcome> run_http_load(const HttpLoad& load, const HttpLoadHooks& hooks) {
  return Run(load, hooks).execute();
}

}  // namespace convoy
