// torture.h — One lock under threads that do everything its interface allows, at random, with preemption forced.
// SPDX-License-Identifier: MIT
//
// Goal: what short scenarios do not meet: rare long holds, threads that lose their core at bad moments, deadlines and
// tries among waits, for seconds. Method: plain data under the lock, which ThreadSanitizer watches; a count of those
// inside; at the end the sums per thread, the events' identities (K6), and how long anybody waited (K3).
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "locks/annotations.h"
#include "locks/lock_class.h"
#include "locks/lockable.h"
#include "locks/traits.h"
#include "locks/world_real.h"
#include "tests/identities.h"

namespace convoy {

struct TorturePlan {
  int threads;
  std::chrono::milliseconds duration;
  std::uint64_t seed = 1;
  std::chrono::milliseconds patience{30'000};  // longer, on a busy machine, until two readers have met
};

// Of one thread.
struct alignas(64) TortureTally {
  std::uint64_t exclusive = 0;  // acquisitions
  std::uint64_t shared = 0;
  std::uint64_t failed_tries = 0;
  std::uint64_t left = 0;                  // at a deadline
  std::uint64_t longest_exclusive_ns = 0;  // wait in lock()
  std::uint64_t longest_shared_ns = 0;     // wait in lock_shared()
};

template <class Lock>
class Torture {
  using W = RealWorld;
  using Clock = std::chrono::steady_clock;

 public:
  explicit Torture(TorturePlan plan) : plan_(plan), tallies_(static_cast<std::size_t>(plan.threads)) {}

  // Ends the process by a panic when the lock breaks its contract.
  void run() {
    end_ = Clock::now() + plan_.duration;
    std::vector<std::jthread> threads;
    for (int i = 0; i < plan_.threads; ++i) {
      threads.emplace_back([this, i] { Worker(*this, i).run(); });
    }
    threads.clear();
    check_sums();
  }

  // One line: what was done, by whom least and most, and the longest wait.
  std::string summary() const {
    std::array<std::uint64_t, 2> range = {~std::uint64_t{0}, 0};
    TortureTally sum;
    for (const TortureTally& tally : tallies_) {
      const std::uint64_t acquisitions = tally.exclusive + tally.shared;
      range = {std::min(range[0], acquisitions), std::max(range[1], acquisitions)};
      sum.exclusive += tally.exclusive;
      sum.shared += tally.shared;
      sum.failed_tries += tally.failed_tries;
      sum.left += tally.left;
      sum.longest_exclusive_ns = std::max(sum.longest_exclusive_ns, tally.longest_exclusive_ns);
      sum.longest_shared_ns = std::max(sum.longest_shared_ns, tally.longest_shared_ns);
    }
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    char text[320];
    std::snprintf(
        text, sizeof text,
        "%d threads, %lld ms, seed %llu: %llu..%llu acquisitions a thread; exclusive %llu, shared %llu, failed "
        "tries %llu, left %llu; longest wait: writer %.3f ms, reader %.3f ms",
        plan_.threads, static_cast<long long>(plan_.duration.count()), number(plan_.seed), number(range[0]),
        number(range[1]), number(sum.exclusive), number(sum.shared), number(sum.failed_tries), number(sum.left),
        static_cast<double>(sum.longest_exclusive_ns) / 1e6, static_cast<double>(sum.longest_shared_ns) / 1e6);
    return text;
  }

  int most_readers() const { return most_readers_.load(std::memory_order_relaxed); }

 private:
  // What one thread does.
  class Worker {
   public:
    Worker(Torture& torture, int thread)
        : torture_(torture),
          lock_(torture.lock_),
          tally_(torture.tallies_[static_cast<std::size_t>(thread)]),
          random_(torture.plan_.seed * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(thread) + 1) {}

    void run() {
      while (!torture_.is_over()) {
        for (int i = 0; i < 16; ++i) {
          act();
          if (one_in(64)) sched_yield();
          if (one_in(1024)) std::this_thread::sleep_for(std::chrono::microseconds(draw(200)));
        }
      }
    }

   private:
    void act() {
      if constexpr (SharedLockable<Lock>) {
        if (one_in(2)) return act_shared();
      }
      act_exclusive();
    }

    void act_exclusive() CONVOY_NO_TSA {
      switch (draw(8)) {
        case 0:
          if (!lock_.try_lock()) return give_up(tally_.failed_tries);
          break;
        case 1:
        case 2:
          if constexpr (TimedLockable<Lock>) {
            if (!lock_.try_lock_until(some_deadline())) return give_up(tally_.left);
            break;
          }
          [[fallthrough]];
        default:
          timed(tally_.longest_exclusive_ns, [&]() CONVOY_NO_TSA { lock_.lock(); });
      }
      torture_.write(*this);
      ++tally_.exclusive;
      lock_.unlock();
    }

    void act_shared() CONVOY_NO_TSA {
      switch (draw(8)) {
        case 0:
          if (!lock_.try_lock_shared()) return give_up(tally_.failed_tries);
          break;
        case 1:
        case 2:
          if constexpr (SharedTimedLockable<Lock>) {
            if (!lock_.try_lock_shared_until(some_deadline())) return give_up(tally_.left);
            break;
          }
          [[fallthrough]];
        default:
          timed(tally_.longest_shared_ns, [&]() CONVOY_NO_TSA { lock_.lock_shared(); });
      }
      torture_.read(*this);
      ++tally_.shared;
      lock_.unlock_shared();
    }

    // Passed already, soon, or later than any wait.
    Deadline some_deadline() { return W::deadline_in(one_in(4) ? 0 : one_in(4) ? 1'000'000'000 : draw(100'000)); }

    static void give_up(std::uint64_t& count) { ++count; }

    template <class F>
    static void timed(std::uint64_t& longest, F take) {
      const auto start = Clock::now();
      take();
      const auto wait = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start);
      longest = std::max(longest, static_cast<std::uint64_t>(wait.count()));
    }

    friend Torture;
    // Inside of the lock: rarely loses the core, more rarely stays long.
    void linger() {
      if (one_in(32)) sched_yield();
      if (one_in(2048)) std::this_thread::sleep_for(std::chrono::microseconds(200 + draw(800)));
    }

    bool one_in(std::uint64_t n) { return draw(n) == 0; }
    std::uint64_t draw(std::uint64_t n) {  // xorshift64*, Vigna 2016
      random_ ^= random_ >> 12;
      random_ ^= random_ << 25;
      random_ ^= random_ >> 27;
      return (random_ * 0x2545F4914F6CDD1D >> 32) % n;
    }

    Torture& torture_;
    Lock& lock_;
    TortureTally& tally_;
    std::uint64_t random_;
  };

  bool is_over() const {
    const auto now = Clock::now();
    if (now < end_) return false;
    return !SharedLockable<Lock> || most_readers() >= 2 || now >= end_ + plan_.patience;
  }

  // The counts of those inside are relaxed: they must not order what the lock has to order.
  void write(Worker& worker) {
    W::require(writers_inside_.fetch_add(1, std::memory_order_relaxed) == 0, "a writer is alone among writers");
    W::require(readers_inside_.load(std::memory_order_relaxed) == 0, "a writer is alone among readers");
    W::require(first_ == second_, "a writer sees a whole pair");
    ++first_;
    worker.linger();
    ++second_;
    writers_inside_.fetch_sub(1, std::memory_order_relaxed);
  }
  void read(Worker& worker) {
    const int inside = readers_inside_.fetch_add(1, std::memory_order_relaxed) + 1;
    int most = most_readers_.load(std::memory_order_relaxed);
    while (most < inside && !most_readers_.compare_exchange_weak(most, inside, std::memory_order_relaxed)) {}
    W::require(writers_inside_.load(std::memory_order_relaxed) == 0, "a reader is not beside a writer");
    const std::uint64_t first = first_;
    worker.linger();
    W::require(first == second_, "a reader sees a whole pair");
    readers_inside_.fetch_sub(1, std::memory_order_relaxed);
  }

  void check_sums() {
    Acquisitions done;
    for (const TortureTally& tally : tallies_) {
      done.exclusive += tally.exclusive;
      done.shared += tally.shared;
    }
    W::require(first_ == done.exclusive && second_ == done.exclusive, "every exclusive acquisition wrote its pair");
    W::require(done.exclusive > 0, "the lock was taken");
    if constexpr (SharedLockable<Lock>) W::require(most_readers() >= 2, "readers were inside together");
    claim_identities<W>(class_, done);
  }

  TorturePlan plan_;
  Clock::time_point end_;
  std::vector<TortureTally> tallies_;
  LockClass<W> class_{"torture"};
  Lock lock_{class_};
  alignas(64) std::uint64_t first_ = 0;   // under the lock
  alignas(64) std::uint64_t second_ = 0;  // under the lock
  alignas(64) std::atomic<int> writers_inside_{0};
  std::atomic<int> readers_inside_{0};
  std::atomic<int> most_readers_{0};
};

}  // namespace convoy
