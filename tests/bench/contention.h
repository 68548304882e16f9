// contention.h — Threads that take one lock again and again for a fixed time: hold, think, hold.
// SPDX-License-Identifier: MIT
//
// Contention is forced by the section lengths: each thread holds the lock for `hold_ns`, then works as long as
// `think_ns` without it. Every thread runs until the time is over, so that none ends early and leaves the others
// alone; how far that succeeded is reported as the overlap.
#pragma once

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace convoy {

struct Load {
  int threads;
  std::uint64_t hold_ns;
  std::uint64_t think_ns;
  std::chrono::milliseconds length;
};

struct Round {
  double operation_ns = 0;  // wall time over operations of all threads
  double hold_ns = 0;       // mean, from the clock right after lock() to the clock right before unlock()
  double overlap = 0;       // share of the time from the first thread's start to the last one's end in which all ran
  double jain = 0;          // of the threads' operations: 1 all alike, 1/n one thread had them all
};

namespace detail {

inline std::uint64_t clock_ns() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Works until the clock says that `ns` are over; returns how long it was. No loop is calibrated: the clock is right
// whatever the core's frequency, and when the thread was preempted.
inline std::uint64_t work(std::uint64_t ns) {
  if (ns == 0) return 0;
  const std::uint64_t start = clock_ns();
  std::uint64_t spent = 0;
  do {
    spent = clock_ns() - start;
  } while (spent < ns);
  return spent;
}

struct alignas(64) ThreadTally {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t operations = 0;
  std::uint64_t held_ns = 0;
};

inline Round summarize(const std::vector<ThreadTally>& tallies) {
  ThreadTally all = tallies.front();
  std::uint64_t last_begin = all.begin, first_end = all.end;
  double operations = 0, squares = 0, held = 0;
  for (const ThreadTally& one : tallies) {
    all.begin = std::min(all.begin, one.begin);
    all.end = std::max(all.end, one.end);
    last_begin = std::max(last_begin, one.begin);
    first_end = std::min(first_end, one.end);
    const auto n = static_cast<double>(one.operations);
    operations += n;
    squares += n * n;
    held += static_cast<double>(one.held_ns);
  }
  const auto wall = static_cast<double>(all.end - all.begin);
  Round round;
  round.operation_ns = wall / operations;
  round.hold_ns = held / operations;
  round.overlap = first_end > last_begin ? static_cast<double>(first_end - last_begin) / wall : 0;
  round.jain = operations * operations / (static_cast<double>(tallies.size()) * squares);
  return round;
}

}  // namespace detail

enum class Mode { kExclusive, kShared };

template <Mode kMode, class S>
Round contend(S& subject, const Load& load) {
  std::vector<detail::ThreadTally> tallies(static_cast<std::size_t>(load.threads));
  std::atomic<bool> over{false};
  std::barrier start(load.threads + 1);
  const auto body = [&](detail::ThreadTally& mine) {
    typename S::Node node{};
    start.arrive_and_wait();
    mine.begin = detail::clock_ns();
    do {
      if constexpr (kMode == Mode::kShared) {
        subject.lock_shared(node);
        mine.held_ns += detail::work(load.hold_ns);
        subject.unlock_shared(node);
      } else {
        subject.lock(node);
        mine.held_ns += detail::work(load.hold_ns);
        subject.unlock(node);
      }
      detail::work(load.think_ns);
      ++mine.operations;
    } while (!over.load(std::memory_order_relaxed));
    mine.end = detail::clock_ns();
  };
  {
    std::vector<std::jthread> threads;
    for (auto& tally : tallies) threads.emplace_back([&body, &tally] { body(tally); });
    start.arrive_and_wait();
    std::this_thread::sleep_for(load.length);
    over.store(true, std::memory_order_relaxed);
  }
  return detail::summarize(tallies);
}

}  // namespace convoy
