// event_loop.h — One thread that waits for the sockets of its connections, reads them and queues what is complete.
// SPDX-License-Identifier: MIT
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "server/connection.h"
#include "server/page_source.h"
#include "server/worker_pool.h"

namespace convoy {

// Time limits of a connection. They are enforced by one sweep over all connections: no request sets a timer.
struct ConnectionLimits {
  // For a request to arrive whole, and for a keep-alive connection to stay without one (idle-timeout). httpd waits 5 s
  // between requests; the default is longer because a load generator that pauses should find its connections again.
  std::chrono::nanoseconds idle = std::chrono::seconds(60);
  std::chrono::nanoseconds send = std::chrono::seconds(60);   // for the client to take more of an answer
  std::chrono::nanoseconds linger = std::chrono::seconds(2);  // for the client to close after the last answer

  // Time between two sweeps, and what a silent client may stay beyond a limit: a quarter of the shorter one of `idle`
  // and `send`, within 20 ms and 4 s.
  std::chrono::nanoseconds sweep() const;
};

class EventLoop {
 public:
  static constexpr std::size_t kMaxDiscarded = 1024 * 1024;  // bytes that a lingering connection may still send

  EventLoop(PageSource& pages, const ConnectionLimits& limits);
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  asio::io_context& context() { return context_; }
  // Where complete requests go. Set once, before run().
  void set_pool(WorkerPool& pool) { pool_ = &pool; }

  // Runs until stop() was called and the last connection is gone. One thread.
  void run();

  // Takes over an accepted, non-blocking socket. Any thread.
  void adopt(int fd);

  // Closes idle connections now, the others as they finish, and what is left after `patience`. Any thread.
  void stop(std::chrono::nanoseconds patience);

  // Give a connection back to the loop; the caller owns it no longer. Its worker or the loop.
  void await_request(Connection& connection);
  void await_room(Connection& connection);
  void await_end(Connection& connection);
  // For a connection that found no page for its request, or for more of its answer: it waits its turn, as long as a
  // client may take nothing. False, and the caller keeps it: pages were let go since the announcement.
  bool await_pages(Connection& connection, const PageWaiters::Announcement& announcement);
  // Gives back a connection whose peer is gone.
  void discard(Connection& connection);

  PageWaiters& page_waiters() { return pages_.waiters(); }

  // Gives a connection to the workers. Whoever owns it.
  void submit(Connection& connection);

  std::size_t connections() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct WaitHandler;

  void start_wait(Connection& connection, asio::socket_base::wait_type type, std::chrono::nanoseconds limit);
  void on_ready(Connection& connection);
  void read_request(Connection& connection);
  void write_on(Connection& connection);
  void drain(Connection& connection);
  void add(int fd);
  void destroy(Connection& connection);
  void schedule_sweep();
  void sweep();

  PageSource& pages_;
  const ConnectionLimits limits_;
  WorkerPool* pool_ = nullptr;
  asio::io_context context_;
  asio::steady_timer sweep_timer_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::size_t> count_{0};  // connections_.size() for other threads; relaxed: a number only
  bool stopping_ = false;
  std::int64_t give_up_ns_ = 0;  // when stopping: the end of patience
};

}  // namespace convoy
