// acceptor.h — The listening socket: accepts clients and deals them to the loops in turn.
// SPDX-License-Identifier: MIT
#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/result.h"
#include "server/event_loop.h"

namespace convoy {

// Runs on the first loop, and goes on whatever accept says. What fails with one connection (it is gone already, the
// network lost it) says nothing about the next. Anything else, descriptors and memory that are used up above all,
// pauses for kPause: the listening socket stays readable then, and without the pause the loop would spin.
//
// The last descriptors, an eighth of the limit and at most kMostSpare, are not given to clients: those who are in could
// not be served a file otherwise. Clients that are not accepted wait in the backlog.
class Acceptor {
 public:
  static constexpr int kBacklog = 4096;  // bursts of clients must not run into SYN retries of 1 s
  static constexpr std::chrono::milliseconds kPause{100};
  static constexpr int kAcceptsInARow = 64;  // before the loop looks at its connections again
  static constexpr int kMostSpare = 64;      // descriptors

  // Binds and listens. `host` is a name or an address; port 0 takes any free one. Error: the system's text.
  static Result<std::unique_ptr<Acceptor>> listen(std::vector<EventLoop*> loops, const std::string& host,
                                                  std::uint16_t port);

  // Starts accepting. Before the loops run.
  void start();

  // Closes the listening socket. On the first loop's thread, or when no loop runs.
  void close();

  std::uint16_t port() const { return port_; }
  std::uint64_t accepted() const { return accepted_.load(std::memory_order_relaxed); }
  // Accepts that failed, and pauses for want of descriptors.
  std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  explicit Acceptor(std::vector<EventLoop*> loops);
  void wait();
  void accept_some();
  // Accepts one client. True when another may be tried at once; else the loop waits, or pauses.
  bool accept_one();
  bool is_short_of_descriptors();
  // Counts a failure and stops accepting for kPause. Logs the first of a row.
  bool pause(int error);

  const std::vector<EventLoop*> loops_;
  asio::ip::tcp::acceptor socket_;
  asio::steady_timer pause_timer_;
  std::uint16_t port_ = 0;
  std::size_t next_loop_ = 0;
  int highest_fd_ = 0;  // of the clients since descriptors were last counted
  int errors_in_a_row_ = 0;
  bool paused_ = false;                     // since the last accept that succeeded
  bool waiting_ = false;                    // for the socket or the end of a pause
  std::atomic<std::uint64_t> accepted_{0};  // numbers only, written by the loop; relaxed
  std::atomic<std::uint64_t> failed_{0};
};

}  // namespace convoy
