// std_run.h — Runs a workload on real threads for a given time.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <latch>
#include <thread>
#include <vector>

#include "std_threads.h"

namespace convoy {

// What RealWorld has as a WorkloadHost (world.h). One run at a time in a process.
class RealRun {
 public:
  // The time begins when every thread exists. It ends early when all have returned, or by stop(). Throws
  // std::system_error when the system gives no further thread; those that exist have then ended.
  template <class Body>
  static void run(std::uint32_t threads, std::uint64_t duration_ns, Body body) {
    if (running_.value.exchange(threads, std::memory_order_relaxed) != 0) RealThreads::panic("a run within a run");
    over_.value.store(kGoing, std::memory_order_relaxed);
    std::latch gate(static_cast<std::ptrdiff_t>(threads) + 1);
    Joined joined;
    try {
      joined.threads.reserve(threads);
      for (std::uint32_t i = 0; i < threads; ++i) {
        joined.threads.emplace_back([&gate, &body, i] {
          gate.arrive_and_wait();
          if (over_.value.load(std::memory_order_relaxed) != kNeverBegun) body(i);
          if (running_.value.fetch_sub(1, std::memory_order_acq_rel) == 1) stop();
        });
      }
    } catch (...) {
      const auto missing = threads - static_cast<std::uint32_t>(joined.threads.size());
      over_.value.store(kNeverBegun, std::memory_order_relaxed);
      running_.value.fetch_sub(missing, std::memory_order_acq_rel);
      gate.count_down(static_cast<std::ptrdiff_t>(missing) + 1);
      throw;
    }
    gate.arrive_and_wait();
    const Deadline end{RealThreads::now_ns() + duration_ns};
    while (!stopped() && RealThreads::futex_wait(over_.value, kGoing, end)) {}
    stop();
  }

  static bool stopped() { return over_.value.load(std::memory_order_relaxed) != kGoing; }

  // Ends the run that is going on. From any thread, and from a signal handler.
  static void stop() {
    over_.value.store(kOver, std::memory_order_relaxed);
    RealThreads::futex_wake(over_.value, 1);
  }

  // One pause a unit, as locktest's load in the kernel.
  static void work(std::uint64_t units) {
    for (std::uint64_t i = 0; i < units; ++i) RealThreads::pause();
  }

 private:
  static constexpr std::uint32_t kGoing = 0, kOver = 1, kNeverBegun = 2;  // of over_

  // Every thread reads over_ all the time: nothing that is written stands in its line.
  struct alignas(64) Word {
    std::atomic<std::uint32_t> value;
  };
  struct Joined {
    std::vector<std::thread> threads;
    ~Joined() {
      for (std::thread& thread : threads) thread.join();
    }
  };

  static inline constinit Word over_{kOver};
  static inline constinit Word running_{0};  // threads that have not returned
};

}  // namespace convoy
