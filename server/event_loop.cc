// event_loop.cc — Waiting, reading and sweeping.
// SPDX-License-Identifier: MIT
#include "server/event_loop.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <asio/post.hpp>
#include <cerrno>
#include <new>

#include "server/clock.h"

namespace convoy {
namespace {

// Gives a pending wait the memory inside its connection; a wait that does not fit takes the heap.
template <class T>
struct WaitAllocator {
  using value_type = T;
  Connection* connection;

  explicit WaitAllocator(Connection* owner) : connection(owner) {}
  template <class U>
  WaitAllocator(const WaitAllocator<U>& other) : connection(other.connection) {}

  T* allocate(std::size_t n) {
    if (n * sizeof(T) <= sizeof(Connection::wait_memory)) return reinterpret_cast<T*>(connection->wait_memory);
    return static_cast<T*>(::operator new(n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) {
    if (reinterpret_cast<std::byte*>(memory) != connection->wait_memory) ::operator delete(memory);
  }
  template <class U>
  bool operator==(const WaitAllocator<U>& other) const {
    return connection == other.connection;
  }
};

}  // namespace

struct EventLoop::WaitHandler {
  using allocator_type = WaitAllocator<std::byte>;
  Connection* connection;

  allocator_type get_allocator() const { return allocator_type(connection); }
  // An error means that the loop is being destroyed, and with it the connection.
  void operator()(const asio::error_code& error) const {
    if (!error) connection->loop.on_ready(*connection);
  }
};

std::chrono::nanoseconds ConnectionLimits::sweep() const {
  return std::clamp<std::chrono::nanoseconds>(std::min(idle, send) / 4, std::chrono::milliseconds(20),
                                              std::chrono::seconds(4));
}

EventLoop::EventLoop(PageSource& pages, const ConnectionLimits& limits)
    : pages_(pages), limits_(limits), context_(1), sweep_timer_(context_) {}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
  schedule_sweep();
  const auto work = asio::make_work_guard(context_);
  context_.run();
}

void EventLoop::adopt(int fd) {
  asio::post(context_, [this, fd] { add(fd); });
}

void EventLoop::add(int fd) {
  auto connection = std::make_unique<Connection>(*this, context_, fd, pages_);
  asio::error_code error;
  connection->socket.assign(asio::ip::tcp::v4(), fd, error);
  if (error || stopping_) {
    if (error) ::close(fd);
    return;
  }
  connection->place = connections_.size();
  connections_.push_back(std::move(connection));
  count_.store(connections_.size(), std::memory_order_relaxed);
  read_request(*connections_.back());
}

void EventLoop::destroy(Connection& connection) {
  const std::size_t place = connection.place;
  std::swap(connections_[place], connections_.back());
  connections_[place]->place = place;
  connections_.pop_back();
  count_.store(connections_.size(), std::memory_order_relaxed);
  if (stopping_ && connections_.empty()) context_.stop();
}

void EventLoop::start_wait(Connection& connection, asio::socket_base::wait_type type, std::chrono::nanoseconds limit) {
  connection.deadline_ns.store(coarse_now_ns() + limit.count(), std::memory_order_release);
  connection.socket.async_wait(type, WaitHandler{&connection});
}

void EventLoop::await_request(Connection& connection) {
  connection.phase = Connection::Phase::kReading;
  if (connection.idle()) connection.release_memory();
  start_wait(connection, asio::socket_base::wait_read, limits_.idle);
}

void EventLoop::await_room(Connection& connection) {
  connection.phase = Connection::Phase::kWriting;
  start_wait(connection, asio::socket_base::wait_write, limits_.send);
}

void EventLoop::await_end(Connection& connection) {
  start_wait(connection, asio::socket_base::wait_read, limits_.linger);
}

bool EventLoop::await_pages(Connection& connection, const PageWaiters::Announcement& announcement) {
  if (connection.starved_until_ns == Connection::kNever) {
    connection.starved_until_ns = coarse_now_ns() + limits_.send.count();
  }
  connection.phase = Connection::Phase::kWriting;
  connection.deadline_ns.store(connection.starved_until_ns, std::memory_order_release);
  if (pages_.waiters().wait(connection, announcement)) return true;
  connection.deadline_ns.store(Connection::kNever, std::memory_order_relaxed);
  return false;
}

void EventLoop::discard(Connection& connection) {
  asio::post(context_, [this, &connection] { destroy(connection); });
}

void EventLoop::on_ready(Connection& connection) {
  switch (connection.phase) {
    case Connection::Phase::kReading:
      return read_request(connection);
    case Connection::Phase::kWriting:
      return write_on(connection);
    case Connection::Phase::kLingering:
      return drain(connection);
  }
}

void EventLoop::read_request(Connection& connection) {
  const std::int64_t deadline = connection.deadline_ns.load(std::memory_order_relaxed);
  // A request that comes too late is not read: the client finds a close without a byte, and may send it elsewhere.
  if (deadline <= coarse_now_ns()) return destroy(connection);
  const bool was_idle = connection.idle();
  const long n = connection.receive();
  if (n == 0 || (n < 0 && errno != EAGAIN)) return destroy(connection);
  if (n > 0) connection.parse();
  if (connection.outcome != HttpParser::Outcome::kNeedMore) return submit(connection);
  // The time for a request starts with its first byte and is not extended by the next ones, nor by empty lines.
  const bool begins = was_idle && !connection.idle();
  await_request(connection);
  if (!begins && deadline != Connection::kNever) connection.deadline_ns.store(deadline, std::memory_order_release);
}

void EventLoop::write_on(Connection& connection) {
  switch (connection.out.send(connection.fd)) {
    case Outgoing::Progress::kBlocked:
      return await_room(connection);
    case Outgoing::Progress::kBroken:
      return destroy(connection);
    case Outgoing::Progress::kSent:
      return submit(connection);
  }
}

void EventLoop::drain(Connection& connection) {
  char thrown_away[4096];
  const ssize_t n = ::recv(connection.fd, thrown_away, sizeof thrown_away, MSG_DONTWAIT);
  if (n > 0) connection.discarded += static_cast<std::size_t>(n);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) || connection.discarded > kMaxDiscarded) {
    return destroy(connection);
  }
  // The deadline stays where it was set when lingering began.
  connection.socket.async_wait(asio::socket_base::wait_read, WaitHandler{&connection});
}

void EventLoop::submit(Connection& connection) {
  connection.deadline_ns.store(Connection::kNever, std::memory_order_relaxed);
  pool_->submit(connection);
}

void EventLoop::stop(std::chrono::nanoseconds patience) {
  asio::post(context_, [this, patience] {
    stopping_ = true;
    give_up_ns_ = coarse_now_ns() + patience.count();
    if (connections_.empty()) context_.stop();
    sweep_timer_.cancel();
    sweep();
  });
}

void EventLoop::schedule_sweep() {
  sweep_timer_.expires_after(stopping_ ? std::chrono::milliseconds(20) : limits_.sweep());
  sweep_timer_.async_wait([this](const asio::error_code& error) {
    if (!error) sweep();
  });
}

// Shuts sockets, no more: each is then readable, and its connection ends where it would end had the client closed. So
// the sweep may look at a connection that a worker is just giving back. Who waits for pages waits for no socket: the
// sweep takes it out of the line, to be refused while it still can be, else destroyed; and wakes the first of those who
// may still wait.
void EventLoop::sweep() {
  const std::int64_t now = coarse_now_ns();
  for (std::size_t place = 0; place < connections_.size();) {
    Connection* const connection = connections_[place].get();
    const std::int64_t deadline = connection->deadline_ns.load(std::memory_order_acquire);
    bool over = deadline <= now;
    if (stopping_) {
      const bool ours = deadline != Connection::kNever;
      const bool idle = ours && connection->phase == Connection::Phase::kReading && connection->idle();
      over = over || idle || now >= give_up_ns_;
    }
    const bool left_line = over && pages_.waiters().leave(*connection);
    if (left_line && (connection->out.active() || stopping_)) {
      destroy(*connection);  // the last one now has its place
      continue;
    }
    if (left_line) {
      submit(*connection);
    } else if (over) {
      ::shutdown(connection->fd, SHUT_RDWR);
    }
    ++place;
  }
  pages_.waiters().room();
  schedule_sweep();
}

}  // namespace convoy
