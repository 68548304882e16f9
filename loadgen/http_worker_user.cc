// http_worker_user.cc — One generator thread with its users: what a user does.
// SPDX-License-Identifier: MIT
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "loadgen/http_worker.h"

namespace convoy {
namespace {

// After a failure that costs the connection a user pauses, so that a dead server is not met with a busy loop.
constexpr std::int64_t kShortestBackoff = 10 * kNanosPerMilli;
constexpr std::uint32_t kBackoffDoublings = 4;

Failure classify_connect(int error) {
  switch (error) {
    case EADDRNOTAVAIL:
      return Failure::kAddressExhausted;
    case ETIMEDOUT:
      return Failure::kConnectTimeout;
    default:
      return Failure::kConnectRefused;
  }
}

}  // namespace

void HttpWorker::begin_request(User& user, std::int64_t now) {
  if (now >= boundary_ns_) advance(now);
  user.stage = Stage::kIdle;
  if (phase_ != Phase::kWarmup && phase_ != Phase::kWindow) return;
  if (!take_ticket()) return;
  if (phase_ == Phase::kWindow) ++tally_.started;
  ++in_flight_;
  user.start_ns = now;
  user.retried = false;
  user.sent = 0;
  user.reader.reset();
  if (user.fd < 0) return connect_user(user, now);
  user.stage = Stage::kSending;
  send_request(user, now);
}

void HttpWorker::connect_user(User& user, std::int64_t now) {
  user.stage = Stage::kConnecting;
  user.connect_ns = now;
  user.fresh = true;
  user.watches_output = false;
  const Address& address = load_.target->address;
  user.fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (user.fd < 0) return lose_connection(user, errno, now);
  const int on = 1;
  ::setsockopt(user.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sources_.bind_next(user.fd);
  if (::connect(user.fd, address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return lose_connection(user, errno, now);
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &user;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, user.fd, &event) != 0) return lose_connection(user, errno, now);
  // To a near server the connection often stands already; the attempt costs less than a turn of the loop.
  send_request(user, now);
}

// Sends what is left of the request. Also finds out, in kConnecting, how connecting has ended.
void HttpWorker::send_request(User& user, std::int64_t now) {
  const std::string& request = load_.target->requests[user.request];
  const auto sent = ::send(user.fd, request.data() + user.sent, request.size() - user.sent, MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EAGAIN || errno == ENOTCONN || errno == EINTR) return watch(user, true);
    return lose_connection(user, errno, now);
  }
  if (user.stage == Stage::kConnecting) note_connected(user, now);
  user.sent += static_cast<std::size_t>(sent);
  const bool done = user.sent == request.size();
  user.stage = done ? Stage::kReceiving : Stage::kSending;
  watch(user, !done);
}

void HttpWorker::handle_event(User& user, std::uint32_t events) {
  if (user.fd < 0) return;
  if (user.stage == Stage::kConnecting) {
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(user.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return lose_connection(user, error, now_ns());
    return send_request(user, now_ns());
  }
  if ((events & EPOLLOUT) != 0 && user.stage == Stage::kSending) {
    return send_request(user, now_ns());  // What can be read meanwhile is reported again.
  }
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) receive(user);
}

void HttpWorker::receive(User& user) {
  const auto size = ::recv(user.fd, buffer_.get(), kBufferBytes, 0);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  const bool waits = user.stage == Stage::kReceiving || user.stage == Stage::kSending;
  // Between two requests a server may only close the connection.
  if (!waits) return close_connection(user);
  if (size < 0) return lose_connection(user, errno, now_ns());
  if (size == 0) return end_of_file(user, now_ns());
  switch (user.reader.feed({buffer_.get(), static_cast<std::size_t>(size)})) {
    case ResponseReader::State::kMore:
      return;
    case ResponseReader::State::kComplete:
      return finish_answer(user, now_ns());
    case ResponseReader::State::kBad:
    case ResponseReader::State::kShort:
      return fail_request(user, Failure::kBadResponse, now_ns(), false);
  }
}

void HttpWorker::end_of_file(User& user, std::int64_t now) {
  if (user.reader.empty()) return lose_connection(user, ECONNRESET, now);
  if (user.reader.end_of_file() == ResponseReader::State::kComplete) return finish_answer(user, now);
  fail_request(user, Failure::kShortBody, now, false);
}

void HttpWorker::finish_answer(User& user, std::int64_t now) {
  // A request not wholly sent when its answer is complete leaves bytes behind that would begin the next request.
  const bool keep = load_.keep_alive && user.reader.keep_alive() && user.stage == Stage::kReceiving;
  user.fresh = false;
  ++tally_.answered;
  const int status = user.reader.status();
  if (status < 200 || status > 599) return fail_request(user, Failure::kBadResponse, now, false);
  if (now >= boundary_ns_) advance(now);
  if (phase_ == Phase::kWindow) ++tally_.status[static_cast<std::size_t>(status)];
  if (status >= 400) {
    return fail_request(user, status >= 500 ? Failure::kHttp5xx : Failure::kHttp4xx, now, keep);
  }
  finish_request();
  user.failures = 0;
  if (phase_ == Phase::kWindow) {
    ++tally_.transactions;
    ++user.transactions;
    tally_.bytes += user.reader.body_bytes();
    tally_.latency.record_ns(static_cast<std::uint64_t>(now - user.start_ns));
    ++tally_.second(now - window_start_ns_).transactions;
  }
  if (!keep) close_connection(user);
  if (++user.request == load_.target->requests.size()) user.request = 0;
  begin_request(user, now);
}

void HttpWorker::finish_request() {
  --in_flight_;
  if (phase_ == Phase::kWarmup && load_.requests != 0) ++board_.tickets;
}

// The connection is gone. A request that a reused connection had taken without a byte of answer is repeated once: the
// server had closed before it saw it.
void HttpWorker::lose_connection(User& user, int error, std::int64_t now) {
  if (user.stage == Stage::kConnecting) return fail_request(user, classify_connect(error), now, false);
  if (user.fresh || user.retried || !user.reader.empty()) return fail_request(user, Failure::kReset, now, false);
  if (now >= boundary_ns_) advance(now);
  if (phase_ == Phase::kWindow) ++tally_.reused_closed;
  close_connection(user);
  user.retried = true;
  user.sent = 0;
  connect_user(user, now);
}

void HttpWorker::fail_request(User& user, Failure failure, std::int64_t now, bool keep_connection) {
  if (now >= boundary_ns_) advance(now);
  finish_request();
  if (phase_ == Phase::kWindow) {
    ++tally_.failed;
    ++tally_.failures[static_cast<std::size_t>(failure)];
    tally_.failed_latency.record_ns(static_cast<std::uint64_t>(now - user.start_ns));
    ++tally_.second(now - window_start_ns_).errors;
  }
  if (!keep_connection) close_connection(user);
  if (++user.request == load_.target->requests.size()) user.request = 0;
  const bool was_answered = failure == Failure::kHttp4xx || failure == Failure::kHttp5xx;
  if (was_answered) return begin_request(user, now);
  const auto doublings = std::min(user.failures++, kBackoffDoublings);
  user.stage = Stage::kBackoff;
  user.wake_ns = now + (kShortestBackoff << doublings);
  ++backing_off_;
  next_tick_ns_ = std::min(next_tick_ns_, user.wake_ns);
}

void HttpWorker::close_connection(User& user) {
  if (user.fd >= 0) ::close(user.fd);
  user.fd = -1;
}

void HttpWorker::note_connected(User& user, std::int64_t now) {
  ++tally_.connections_opened;
  if (now - user.connect_ns >= kSynRetryNs) ++tally_.slow_connects;
  if (!user.connected_once) ++tally_.users_connected;
  user.connected_once = true;
}

void HttpWorker::watch(User& user, bool output) {
  if (user.watches_output == output) return;
  user.watches_output = output;
  epoll_event event{};
  event.events = EPOLLIN | (output ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = &user;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, user.fd, &event);
}

}  // namespace convoy
