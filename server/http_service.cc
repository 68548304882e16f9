// http_service.cc — Answering, sending, receiving once more.
// SPDX-License-Identifier: MIT
#include "server/http_service.h"

#include <cerrno>
#include <utility>

#include "server/clock.h"
#include "server/event_loop.h"

namespace convoy {

namespace {

// Calls found_room() until it says so; false when the connection stands in line instead, to be run again when it is its
// turn.
template <class FoundRoom>
bool wait_its_turn(Connection& connection, FoundRoom found_room) {
  PageWaiters& waiters = connection.loop.page_waiters();
  while (!found_room()) {
    const PageWaiters::Announcement announcement(waiters);
    if (found_room()) break;
    if (connection.loop.await_pages(connection, announcement)) return false;
  }
  // Who was called may have left pages over, or needed none in the end: the next one's turn.
  if (std::exchange(connection.starved_until_ns, Connection::kNever) != Connection::kNever) waiters.room();
  return true;
}

}  // namespace

void HttpService::run(Connection& connection, std::uint32_t worker, WorkerPool& pool) {
  WorkerState& state = states_[worker];
  Region<RealWorld> region(regions_, worker);
  for (int answered = 0;; ++answered) {
    if (connection.out.active() && send_answer(connection) == Turn::kGivenBack) return;
    region.go_on();  // a change of a policy that was given up behind another is answered outside
    if (answered == kBurst) return pool.submit(connection);
    if (next_request(connection, state) == Turn::kGivenBack) return;
  }
}

// Sends the answer in `out`, window by window. Afterwards the connection is ready for its next request, or given back.
HttpService::Turn HttpService::send_answer(Connection& connection) {
  Outgoing& out = connection.out;
  for (;;) {
    switch (out.send(connection.fd)) {
      case Outgoing::Progress::kBlocked:
        connection.loop.await_room(connection);
        return Turn::kGivenBack;
      case Outgoing::Progress::kBroken:
        connection.loop.discard(connection);
        return Turn::kGivenBack;
      case Outgoing::Progress::kSent:
        break;
    }
    if (!out.wants_window()) break;
    if (next_window(connection) == Turn::kGivenBack) return Turn::kGivenBack;
  }
  out.reset();
  return Turn::kGoOn;
}

// Maps pages of an answer that has begun, which may not be refused any more.
HttpService::Turn HttpService::next_window(Connection& connection) {
  tl::expected<void, PageError> mapped;
  const auto found_room = [&] {
    mapped = connection.out.map_window();
    return mapped || mapped.error().kind != PageError::Kind::kFull;
  };
  if (!wait_its_turn(connection, found_room)) return Turn::kGivenBack;
  if (mapped) return Turn::kGoOn;
  // The head has promised more than the file can give now: only closing tells the client.
  connection.loop.discard(connection);
  return Turn::kGivenBack;
}

// Prepares the answer to the next request, receiving once when none is complete.
HttpService::Turn HttpService::next_request(Connection& connection, WorkerState& state) {
  using Outcome = HttpParser::Outcome;
  if (!connection.keep_open) {
    connection.start_lingering();
    connection.loop.await_end(connection);
    return Turn::kGivenBack;
  }
  if (connection.outcome == Outcome::kNeedMore) connection.parse();
  if (connection.outcome == Outcome::kNeedMore) {
    const long n = connection.receive();
    if (n == 0 || (n < 0 && errno != EAGAIN)) {
      connection.loop.discard(connection);
      return Turn::kGivenBack;
    }
    if (n > 0) connection.parse();
    if (connection.outcome == Outcome::kNeedMore) {
      connection.loop.await_request(connection);
      return Turn::kGivenBack;
    }
  }
  if (connection.outcome == Outcome::kRequest) {
    if (answer_request(connection, state) == Turn::kGivenBack) return Turn::kGivenBack;
  } else {
    handler_.refuse(connection.parser.error(), state, connection.out);
    connection.keep_open = false;
  }
  connection.outcome = Outcome::kNeedMore;
  return Turn::kGoOn;
}

// A request that waits for a page stays where it is, and is answered from the start when it has its turn; it is refused
// when its time is up.
HttpService::Turn HttpService::answer_request(Connection& connection, WorkerState& state) {
  RequestHandler::Then then{};
  const auto found_room = [&] {
    const std::int64_t until = connection.starved_until_ns;
    const RequestHandler::Circumstances now{.server_stops = stopping_.load(std::memory_order_relaxed),
                                            .may_wait = until == Connection::kNever || until > coarse_now_ns()};
    then = handler_.answer(connection.parser.request(), now, state, connection.out);
    return then != RequestHandler::Then::kAskAgain;
  };
  if (!wait_its_turn(connection, found_room)) return Turn::kGivenBack;
  connection.keep_open = then == RequestHandler::Then::kKeepOpen;
  return Turn::kGoOn;
}

std::uint64_t HttpService::requests() const {
  std::uint64_t sum = 0;
  for (const WorkerState& state : states_) sum += state.requests.value();
  return sum;
}

std::uint64_t HttpService::bytes() const {
  std::uint64_t sum = 0;
  for (const WorkerState& state : states_) sum += state.bytes.value();
  return sum;
}

}  // namespace convoy
