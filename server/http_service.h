// http_service.h — What a worker does with a connection that has a request.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "locks/quiescence.h"
#include "locks/world_real.h"
#include "server/connection.h"
#include "server/request_handler.h"
#include "server/worker_pool.h"
#include "server/worker_state.h"

namespace convoy {

class HttpService {
 public:
  // Requests of one connection that a worker answers in a row before others have their turn.
  static constexpr int kBurst = 16;

  // Each worker is the member of its number of `regions`.
  HttpService(const RequestHandler& handler, Quiescence<RealWorld>& regions)
      : handler_(handler), regions_(regions), states_(regions.members()) {
    for (std::uint32_t worker = 0; worker < regions.members(); ++worker) states_[worker].worker = worker;
  }

  // Answers what stands complete in the input of `connection`, receives once more when nothing does, and gives the
  // connection back to its loop, or to the end of the queue of `pool` after kBurst answers. All of it is one region.
  void run(Connection& connection, std::uint32_t worker, WorkerPool& pool);

  // From now on every answer closes its connection.
  void stop() { stopping_.store(true, std::memory_order_relaxed); }

  // Sums over the workers.
  std::uint64_t requests() const;
  std::uint64_t bytes() const;

 private:
  enum class Turn { kGoOn, kGivenBack };

  Turn send_answer(Connection& connection);
  Turn next_window(Connection& connection);
  Turn next_request(Connection& connection, WorkerState& state);
  Turn answer_request(Connection& connection, WorkerState& state);

  const RequestHandler& handler_;
  Quiescence<RealWorld>& regions_;
  std::vector<WorkerState> states_;
  std::atomic<bool> stopping_{false};  // a hint that arrives soon; relaxed
};

}  // namespace convoy
