// acceptor.cc — Binding and accepting.
// SPDX-License-Identifier: MIT
#include "server/acceptor.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

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
    if (!error) accept_some();
  });
}

void Acceptor::accept_some() {
  for (int i = 0; i < kAcceptsInARow; ++i) {
    const int fd = ::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      const int error = errno;
      if (error == EAGAIN) break;
      failed_.fetch_add(1, std::memory_order_relaxed);
      // A client that is gone already, or a network error of its connection, says nothing about the next one.
      if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) return pause();
      continue;
    }
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    accepted_.fetch_add(1, std::memory_order_relaxed);
    loops_[next_loop_++ % loops_.size()]->adopt(fd);
  }
  wait();
}

void Acceptor::pause() {
  pause_timer_.expires_after(kPause);
  pause_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) accept_some();
  });
}

}  // namespace convoy
