// connection.h — One client: its socket, what it sent, and what it is being answered.
// SPDX-License-Identifier: MIT
#pragma once

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "server/http_parser.h"
#include "server/input_buffer.h"
#include "server/outgoing.h"
#include "server/worker_pool.h"

namespace convoy {

class EventLoop;

// Has one owner at a time: its loop while it waits or reads, one worker while it answers. The pool's mutex carries it
// from the loop to the worker, the lock inside Asio's async_wait carries it back; all members but `deadline_ns` and
// `fd` belong to the owner. The loop creates and destroys it.
struct Connection : Job {
  // Not the type-erased executor: a wait then neither counts references nor allocates.
  using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  enum class Phase : std::uint8_t {
    kReading,    // for a request
    kWriting,    // what the socket did not take at once
    kLingering,  // the last answer is sent and our side shut; what still comes in is thrown away
  };

  Connection(EventLoop& loop_, asio::io_context& context, int fd_, PageSource& pages)
      : loop(loop_), fd(fd_), socket(context), out(pages) {}

  // Receives once, without waiting, into `input`. Returns the bytes, 0 at the end of the stream, -1 with errno.
  long receive();

  // True when nothing of a further request has come. The owner, or the loop's sweep.
  bool idle() const { return input.empty() && parser.between_requests(); }

  // Gives back the memory that an idle connection can do without. Requires: idle(), the answer sent.
  void release_memory();

  // Parses on from what stands in `input`; sends `100 Continue` when the client waits for it.
  void parse();

  // Shuts our side and lets the rest of the client's bytes come: closing at once would reset the connection, and the
  // reset may overtake the answer.
  void start_lingering();

  EventLoop& loop;
  const int fd;
  Socket socket;
  InputBuffer input;
  HttpParser parser;
  HttpParser::Outcome outcome = HttpParser::Outcome::kNeedMore;  // of the last parse()
  Outgoing out;
  Phase phase = Phase::kReading;
  bool keep_open = true;      // after the answer in `out`
  std::size_t discarded = 0;  // bytes, while lingering
  std::size_t place = 0;      // index in the loop's list; the loop's own
  // Until when it waits for a page, for its request or for more of its answer; kNever while it finds some.
  std::int64_t starved_until_ns = kNever;
  // When the loop may give this connection up, by coarse_now_ns(); kNever while a worker owns it. Written by the owner
  // before it lets go (release), read by the loop's sweep (acquire).
  std::atomic<std::int64_t> deadline_ns{kNever};
  // The one wait that is pending at a time takes its memory from here.
  alignas(std::max_align_t) std::byte wait_memory[256];
};

}  // namespace convoy
