// http_worker.cc — One generator thread with its users: the loop and its phases.
// SPDX-License-Identifier: MIT
#include "loadgen/http_worker.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

// How long the answers still due are read, and dropped, after the window, so that the server's counters come to rest.
constexpr std::int64_t kDrain = 250 * kNanosPerMilli;
// How often time-outs, back-offs and the published count are looked after.
constexpr std::int64_t kTick = 50 * kNanosPerMilli;
constexpr std::int64_t kShortTick = 5 * kNanosPerMilli;
constexpr int kEvents = 256;

std::int64_t nanos(const timeval& t) {
  return static_cast<std::int64_t>(t.tv_sec) * kNanosPerSecond + static_cast<std::int64_t>(t.tv_usec) * 1000;
}

}  // namespace

HttpWorker::HttpWorker(const HttpLoad& load, RunBoard& board, std::uint32_t first, std::uint32_t count)
    : load_(load),
      board_(board),
      first_(first),
      sources_(load.target->address, first),
      users_(count),
      buffer_(std::make_unique<char[]>(kBufferBytes)) {
  const std::uint64_t requests = load.target->requests.size();
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t start = requests >= load.users ? (first + i) * requests / load.users : first + i;
    users_[i].request = static_cast<std::uint32_t>((start + load.seed - 1) % requests);
  }
}

HttpWorker::~HttpWorker() {
  for (auto& user : users_) close_connection(user);
}

Result<void> HttpWorker::open() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail("epoll cannot be set up: {}", std::strerror(errno));
  if (stop_signal::descriptor() >= 0) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = nullptr;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_signal::descriptor(), &event) != 0) {
      return fail("epoll cannot watch for signals: {}", std::strerror(errno));
    }
  }
  return {};
}

void HttpWorker::run() {
  if (load_.warmup_ns > 0) {
    boundary_ns_ = board_.start_ns + load_.warmup_ns;
  } else {
    open_window(board_.start_ns, board_.start_ns);
  }
  for (auto& user : users_) {
    if (stop_signal::received() != 0) break;
    begin_request(user, now_ns());
  }
  while (phase_ != Phase::kDone) {
    wait_and_handle();
    const auto now = now_ns();
    if (stop_signal::received() != 0 || abandoned_.load(std::memory_order_relaxed)) {
      if (phase_ == Phase::kWindow) close_window(now);
      phase_ = Phase::kDone;
      break;
    }
    if (now >= next_tick_ns_) tick(now);
    if (now >= boundary_ns_) advance(now);
    if (phase_ == Phase::kWindow && in_flight_ == 0 && is_out_of_tickets()) close_window(now);
    if (phase_ == Phase::kDrain && in_flight_ == 0) phase_ = Phase::kDone;
  }
  for (const auto& user : users_) tally_.per_user.push_back(user.transactions);
  ++board_.closed;
  ::eventfd_write(board_.arrived.get(), 1);
}

void HttpWorker::wait_and_handle() {
  std::array<epoll_event, kEvents> events;
  const auto wait_ns = std::max<std::int64_t>(std::min(boundary_ns_, next_tick_ns_) - now_ns(), 0);
  const int wait_ms = static_cast<int>((wait_ns + kNanosPerMilli - 1) / kNanosPerMilli);
  const int count = ::epoll_wait(epoll_.get(), events.data(), kEvents, wait_ms);
  for (int i = 0; i < count; ++i) {
    auto* user = static_cast<User*>(events[static_cast<std::size_t>(i)].data.ptr);
    if (user != nullptr) handle_event(*user, events[static_cast<std::size_t>(i)].events);
  }
}

// Ends the phase whose time is over.
void HttpWorker::advance(std::int64_t now) {
  switch (phase_) {
    case Phase::kWarmup:
      return open_window(now, boundary_ns_);
    case Phase::kWindow:
      return close_window(boundary_ns_);
    case Phase::kDrain:
      phase_ = Phase::kDone;
      return;
    case Phase::kDone:
      return;
  }
}

void HttpWorker::open_window(std::int64_t now, std::int64_t window_start) {
  phase_ = Phase::kWindow;
  window_start_ns_ = window_start;
  window_closed_ns_ = std::max(now, window_start);
  boundary_ns_ = load_.duration_ns > 0 ? window_start + load_.duration_ns : kNoEnd;
  tally_.started = in_flight_;
  cpu_at_start_ns_ = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  ::getrusage(RUSAGE_THREAD, &usage_at_start_);
}

// A request needs a ticket when their number is limited. One of the warm-up gives it back, unless the window opens
// meanwhile.
bool HttpWorker::take_ticket() {
  if (load_.requests == 0) return true;
  if (board_.tickets.fetch_sub(1) > 0) return true;
  ++board_.tickets;
  return false;
}

void HttpWorker::close_window(std::int64_t now) {
  window_closed_ns_ = std::min(now, boundary_ns_);
  tally_.in_flight_at_end = in_flight_;
  const auto cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_at_start_ns_;
  if (window_ns() > 0) tally_.busiest_thread = static_cast<double>(cpu_ns) / static_cast<double>(window_ns());
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  tally_.cpu_user_ns = nanos(usage.ru_utime) - nanos(usage_at_start_.ru_utime);
  tally_.cpu_sys_ns = nanos(usage.ru_stime) - nanos(usage_at_start_.ru_stime);
  phase_ = Phase::kDrain;
  boundary_ns_ = now_ns() + kDrain;
}

// Looks after what has a deadline. A scan of all users every 50 ms is cheaper than a timer each.
void HttpWorker::tick(std::int64_t now) {
  published_.store(tally_.transactions, std::memory_order_relaxed);
  for (auto& user : users_) {
    if (user.stage == Stage::kIdle) continue;
    if (user.stage == Stage::kBackoff) {
      if (now < user.wake_ns) continue;
      --backing_off_;
      user.stage = Stage::kIdle;
      begin_request(user, now);
    } else if (now - user.start_ns > load_.timeout_ns) {
      fail_request(user, user.stage == Stage::kConnecting ? Failure::kConnectTimeout : Failure::kTimeout, now, false);
    }
  }
  const bool hurry = backing_off_ > 0 || load_.timeout_ns < 10 * kTick;
  next_tick_ns_ = now + (hurry ? kShortTick : kTick);
}

}  // namespace convoy
