// worker_state.h — What each worker has for itself: counters and scratch.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "server/docroot.h"

namespace convoy {

// Written by one thread, read by any: a plain add, no read-modify-write on a shared line.
class OwnCounter {
 public:
  void add(std::uint64_t amount) {
    // Only the owner stores, so nothing is lost between load and store; readers need no order.
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

// On cache lines of its own.
struct alignas(64) WorkerState {
  std::uint32_t worker = 0;  // whose it is: its place in the pool, and its member of LockControl::regions()
  OwnCounter requests;       // answered or being answered, those to control pages apart
  OwnCounter bytes;          // of their bodies
  Docroot::Memo memo;
  std::string path;  // scratch of the request that runs
};

}  // namespace convoy
