// convoy_sampler.h — Ten times a second: does a convoy stand on the page lock?
// SPDX-License-Identifier: MIT
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include "server/lock_control.h"

namespace convoy {

// Samples on the thread of an event loop, from start() until the loop ends.
class ConvoySampler {
 public:
  static constexpr std::chrono::milliseconds kSlice{100};

  ConvoySampler(asio::io_context& context, LockControl& locks) : timer_(context), locks_(locks) {}
  // Before the loop runs, or on its thread.
  void start() {
    timer_.expires_after(kSlice);
    timer_.async_wait([this](const asio::error_code& error) {
      if (error) return;
      locks_.sample_convoy();
      start();
    });
  }

 private:
  asio::steady_timer timer_;
  LockControl& locks_;
};

}  // namespace convoy
