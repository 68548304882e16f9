// locktest.h — The rwsem microbenchmark: threads that take one lock again and again, to read or to write.
// SPDX-License-Identifier: MIT
//
// After Waiman Long's kernel module of that name, whose source is not public: every operation is a read with the given
// probability, independently; it takes the lock, does `load` units of work and gives it back, and the next begins at
// once. One text for real threads and for the simulated machine.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "loadgen/random.h"
#include "locks/annotations.h"
#include "locks/events.h"
#include "locks/knobs.h"
#include "locks/lock_class.h"
#include "locks/lockable.h"
#include "locks/world.h"

namespace convoy {

struct LocktestLoad {
  std::uint32_t threads = 1;
  std::uint32_t read_percent = 0;  // 0 for a policy without a shared mode
  std::uint64_t load = 1;          // units of work under the lock
  std::uint64_t duration_ns = 0;
  std::uint64_t seed = 1;
  bool pinned = false;                                // each thread to one processor, by the world or by on_thread
  std::vector<std::pair<Knob, std::uint32_t>> knobs;  // those that are not as usual
  std::function<void(std::uint32_t)> on_thread;       // called by each thread before it begins, with its number
  const std::atomic<int>* cut_short = nullptr;        // not 0: the run ends before its time
};

// What one thread did. An operation counts when it has ended before the time was up; the one that was under way then is
// the late one.
struct LocktestThread {
  std::uint64_t reads = 0, writes = 0;
  std::uint32_t late_reads = 0, late_writes = 0;  // one of them 1; both 0 when the thread came after the time
  std::uint64_t begin_ns = 0, end_ns = 0;

  std::uint64_t operations() const { return reads + writes; }
};

struct LocktestOutcome {
  std::vector<LocktestThread> threads;
  std::array<std::uint64_t, kEventCount> events{};  // of late operations too
  std::array<std::uint32_t, kKnobCount> knobs{};    // as they were, whatever the policy has

  // From the first thread's begin to the first one's notice that the time was up.
  std::uint64_t window_ns() const {
    std::uint64_t begin = ~std::uint64_t{0}, end = ~std::uint64_t{0};
    for (const LocktestThread& thread : threads) {
      begin = std::min(begin, thread.begin_ns);
      end = std::min(end, thread.end_ns);
    }
    return end > begin ? end - begin : 0;
  }
};

namespace detail {

template <WorkloadHost W, Lockable P>
void locktest_operation(P& lock, bool read, std::uint64_t load) CONVOY_NO_TSA {
  if constexpr (SharedLockable<P>) {
    if (read) {
      lock.lock_shared();
      W::work(load);
      lock.unlock_shared();
      return;
    }
  }
  lock.lock();
  W::work(load);
  lock.unlock();
}

template <WorkloadHost W, Lockable P>
LocktestThread locktest_thread(P& lock, const LocktestLoad& load, std::uint32_t number) {
  if (load.on_thread) load.on_thread(number);
  Random random(load.seed, number);
  LocktestThread mine;
  mine.begin_ns = W::now_ns();
  for (bool over = W::stopped(); !over;) {
    const bool read = random.below(100) < load.read_percent;
    locktest_operation<W>(lock, read, load.load);
    over = W::stopped() || (load.cut_short != nullptr && load.cut_short->load(std::memory_order_relaxed) != 0);
    if (over) {
      (read ? mine.late_reads : mine.late_writes) = 1;
    } else {
      ++(read ? mine.reads : mine.writes);
    }
  }
  mine.end_ns = W::now_ns();
  return mine;
}

}  // namespace detail

// Makes one run on a fresh lock of policy P. Requires: on a simulated world, to be called inside of it.
template <WorkloadHost W, Lockable P>
LocktestOutcome run_locktest(const LocktestLoad& load) {
  LocktestOutcome outcome;
  outcome.threads.resize(load.threads);
  alignas(64) LockClass<W> lock_class("lock");
  for (const auto& [knob, value] : load.knobs) lock_class.set_knob(knob, value);
  struct alignas(64) Line {  // nothing else stands in the lock's
    P lock;
  } line{P(lock_class)};
  W::run(load.threads, load.duration_ns,
         [&](std::uint32_t number) { outcome.threads[number] = detail::locktest_thread<W>(line.lock, load, number); });
  for (std::size_t e = 0; e < kEventCount; ++e) outcome.events[e] = lock_class.total(static_cast<Event>(e));
  for (std::size_t k = 0; k < kKnobCount; ++k) outcome.knobs[k] = lock_class.knob(static_cast<Knob>(k));
  return outcome;
}

}  // namespace convoy
