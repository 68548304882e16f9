// http_worker.h — One generator thread with its users: an epoll loop.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "loadgen/clock.h"
#include "loadgen/fd.h"
#include "loadgen/http_load.h"
#include "loadgen/response_reader.h"
#include "loadgen/run_board.h"
#include "loadgen/source_address.h"

namespace convoy {

// Drives users [first, first + count) of a run. open(), run() and tally() are called one after the other, each from one
// thread; transactions_so_far() from any.
class HttpWorker {
 public:
  HttpWorker(const HttpLoad& load, RunBoard& board, std::uint32_t first, std::uint32_t count);
  HttpWorker(const HttpWorker&) = delete;
  HttpWorker& operator=(const HttpWorker&) = delete;
  ~HttpWorker();

  // Acquires what run() needs.
  Result<void> open();

  // Runs warm-up, window and drain; returns when all are over or a signal has come.
  void run();

  // Makes run() return soon; from any thread.
  void abandon() { abandoned_.store(true); }

  Tally& tally() { return tally_; }
  std::int64_t window_ns() const { return window_closed_ns_ - window_start_ns_; }
  std::uint64_t transactions_so_far() const { return published_.load(std::memory_order_relaxed); }

 private:
  // More than the answers the project's examples ask for, and small enough to stay in the second-level cache.
  static constexpr std::size_t kBufferBytes = 64 * 1024;

  enum class Phase : std::uint8_t { kWarmup, kWindow, kDrain, kDone };
  enum class Stage : std::uint8_t { kIdle, kBackoff, kConnecting, kSending, kReceiving };

  struct User {
    int fd = -1;
    Stage stage = Stage::kIdle;
    bool connected_once = false;
    bool retried = false;         // The current request has been repeated on a new connection.
    bool fresh = true;            // No answer has come over this connection.
    bool watches_output = false;  // epoll also reports when bytes can be sent.
    std::uint32_t failures = 0;   // In a row; sets the back-off.
    std::uint32_t request = 0;    // Index into the target's requests.
    std::uint64_t transactions = 0;
    std::size_t sent = 0;
    std::int64_t start_ns = 0;
    std::int64_t connect_ns = 0;  // When connecting began.
    std::int64_t wake_ns = 0;     // In kBackoff.
    ResponseReader reader;
  };

  // The loop and its phases: http_worker.cc.
  void wait_and_handle();
  void advance(std::int64_t now);
  void tick(std::int64_t now);
  void open_window(std::int64_t now, std::int64_t window_start);
  void close_window(std::int64_t now);
  bool is_out_of_tickets() const { return load_.requests != 0 && board_.tickets.load() <= 0; }
  bool take_ticket();

  // What a user does: http_worker_user.cc.
  void begin_request(User& user, std::int64_t now);
  void connect_user(User& user, std::int64_t now);
  void send_request(User& user, std::int64_t now);
  void receive(User& user);
  void handle_event(User& user, std::uint32_t events);
  void finish_answer(User& user, std::int64_t now);
  void finish_request();
  void lose_connection(User& user, int error, std::int64_t now);
  void fail_request(User& user, Failure failure, std::int64_t now, bool keep_connection);
  void end_of_file(User& user, std::int64_t now);
  void close_connection(User& user);
  void note_connected(User& user, std::int64_t now);
  void watch(User& user, bool output);

  const HttpLoad& load_;
  RunBoard& board_;
  Phase phase_ = Phase::kWarmup;
  std::uint32_t first_;
  std::int64_t boundary_ns_ = kNoEnd;  // The end of the phase.
  std::int64_t next_tick_ns_ = 0;
  std::int64_t window_start_ns_ = 0;
  std::int64_t window_closed_ns_ = 0;
  std::int64_t cpu_at_start_ns_ = 0;
  rusage usage_at_start_{};
  std::uint64_t in_flight_ = 0;
  std::uint32_t backing_off_ = 0;
  Fd epoll_;
  SourceAddresses sources_;
  std::vector<User> users_;
  std::unique_ptr<char[]> buffer_;
  Tally tally_;
  std::atomic<std::uint64_t> published_{0};
  std::atomic<bool> abandoned_{false};
};

}  // namespace convoy
