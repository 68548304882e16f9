// convoy_sampler.h — Ten times a second: does a convoy stand on the page lock?
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/lock_control.h"

namespace convoy {

// A thread of its own from construction to destruction, so that no event loop sets a timer for it.
class ConvoySampler {
 public:
  static constexpr std::chrono::milliseconds kSlice{100};

  explicit ConvoySampler(LockControl& locks) : locks_(locks), thread_([this] { run(); }) {}
  ~ConvoySampler() {
    {
      const std::lock_guard guard(mutex_);
      stop_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  ConvoySampler(const ConvoySampler&) = delete;
  ConvoySampler& operator=(const ConvoySampler&) = delete;

 private:
  void run() {
    auto next = std::chrono::steady_clock::now() + kSlice;
    std::unique_lock guard(mutex_);
    while (!changed_.wait_until(guard, next, [this] { return stop_; })) {
      locks_.sample_convoy();
      next += kSlice;
    }
  }

  LockControl& locks_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stop_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace convoy
