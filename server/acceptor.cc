// acceptor.cc — Binding and accepting.
// SPDX-License-Identifier: MIT
#include "server/acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "common/log.h"

namespace convoy {
namespace {

Result<asio::ip::tcp::endpoint> resolve(asio::io_context& context, const std::string& host, std::uint16_t port) {
  asio::error_code error;
  const auto address = asio::ip::make_address(host, error);
  if (!error) return asio::ip::tcp::endpoint(address, port);
  asio::ip::tcp::resolver resolver(context);
  const auto found = resolver.resolve(host, std::to_string(port), asio::ip::tcp::resolver::passive, error);
  if (error || found.empty()) return fail("http: '{}' is no address of this machine: {}", host, error.message());
  // A name such as localhost has an IPv4 and an IPv6 address; clients try the IPv4 one in any case.
  for (const auto& entry : found) {
    if (entry.endpoint().address().is_v4()) return entry.endpoint();
  }
  return found.begin()->endpoint();
}

// Errors of one connection that came before it was accepted (accept(2), "Error handling"; EPERM is a firewall's).
bool is_of_one_connection(int error) {
  switch (error) {
    case EINTR:
    case ECONNABORTED:
    case EPROTO:
    case EPERM:
    case ENOPROTOOPT:
    case EOPNOTSUPP:
    case ENETDOWN:
    case ENETUNREACH:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENONET:
    case ETIMEDOUT:
      return true;
    default:
      return false;
  }
}

}  // namespace

Acceptor::Acceptor(std::vector<EventLoop*> loops)
    : loops_(std::move(loops)), socket_(loops_.front()->context()), pause_timer_(loops_.front()->context()) {}

Result<std::unique_ptr<Acceptor>> Acceptor::listen(std::vector<EventLoop*> loops, const std::string& host,
                                                   std::uint16_t port) {
  std::unique_ptr<Acceptor> self(new Acceptor(std::move(loops)));
  const auto endpoint = resolve(self->loops_.front()->context(), host, port);
  if (!endpoint) return tl::unexpected(endpoint.error());
  asio::error_code error;
  auto& socket = self->socket_;
  socket.open(endpoint->protocol(), error);
  if (!error) socket.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) socket.bind(*endpoint, error);
  if (!error) socket.listen(kBacklog, error);
  if (!error) socket.native_non_blocking(true, error);
  if (error) return fail("http: cannot listen on {}:{}: {}", host, port, error.message());
  self->port_ = socket.local_endpoint(error).port();
  return self;
}

void Acceptor::start() { wait(); }

void Acceptor::close() {
  asio::error_code ignored;
  pause_timer_.cancel();
  socket_.close(ignored);
}

void Acceptor::wait() {
  socket_.async_wait(asio::socket_base::wait_read, [this](const asio::error_code& error) {
    if (error == asio::error::operation_aborted) return;
    if (error) {
      pause(error.value());
    } else {
      accept_some();
    }
  });
}

void Acceptor::accept_some() {
  if (!socket_.is_open()) return;  // Closed since this was queued.
  waiting_ = false;
  for (int i = 0; i < kAcceptsInARow; ++i) {
    if (!accept_one()) break;
  }
  if (!waiting_) wait();
}

bool Acceptor::accept_one() {
  if (is_short_of_descriptors()) return pause(EMFILE);
  const int fd = ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd < 0) {
    const int error = errno;
    if (error == EAGAIN) return false;
    // One that every connection has is none of theirs.
    if (!is_of_one_connection(error) || ++errors_in_a_row_ == kAcceptsInARow) return pause(error);
    failed_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  paused_ = false;
  errors_in_a_row_ = 0;
  highest_fd_ = std::max(highest_fd_, fd);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  accepted_.fetch_add(1, std::memory_order_relaxed);
  loops_[next_loop_++ % loops_.size()]->adopt(fd);
  return true;
}

// The kernel gives the lowest free number, so a high one says how many are in use. Looked at closely only when a client
// was given a high one.
bool Acceptor::is_short_of_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > INT_MAX) return false;
  const int all = static_cast<int>(limit.rlim_cur);
  const int for_clients = all - std::min(all / 8, kMostSpare);
  if (highest_fd_ < for_clients) return false;
  const int lowest_free = ::fcntl(socket_.native_handle(), F_DUPFD_CLOEXEC, 0);
  if (lowest_free >= 0) ::close(lowest_free);
  highest_fd_ = lowest_free >= 0 ? lowest_free : all;
  return highest_fd_ >= for_clients;
}

bool Acceptor::pause(int error) {
  errors_in_a_row_ = 0;
  failed_.fetch_add(1, std::memory_order_relaxed);
  if (!std::exchange(paused_, true)) {
    log_warning("http: no client can be accepted: {}; trying again every {} ms", std::strerror(error), kPause.count());
  }
  waiting_ = true;
  pause_timer_.expires_after(kPause);
  pause_timer_.async_wait([this](const asio::error_code& aborted) {
    if (!aborted) accept_some();
  });
  return false;
}

}  // namespace convoy
