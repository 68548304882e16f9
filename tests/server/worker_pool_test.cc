// worker_pool_test.cc — Goal: every job runs once, no wake-up is lost, and no more workers are awake than allowed.
// Method: real threads, bounded rounds; a lost wake-up would leave the waiting test to its CTest time limit.
// SPDX-License-Identifier: MIT
#include "server/worker_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace convoy {
namespace {

struct CountedJob : Job {
  std::atomic<int> runs{0};
};

// Counts down to zero and waits for it.
class Countdown {
 public:
  explicit Countdown(int count) : left_(count) {}
  void one_done() {
    const std::lock_guard guard(mutex_);
    if (--left_ == 0) zero_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    zero_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable zero_;
  int left_;
};

std::unique_ptr<WorkerPool> start(WorkerPool::Options options) {
  auto pool = WorkerPool::start(std::move(options));
  EXPECT_TRUE(pool);
  return std::move(*pool);
}

// Each round waits until the workers have nothing left, so that jobs keep meeting workers that are falling asleep.
void lost_wakeup_rounds(std::uint32_t workers, std::uint32_t awake, int jobs, int rounds) {
  Countdown* round = nullptr;
  auto pool = start({workers,
                     awake,
                     [&](Job& job, std::uint32_t) {
                       static_cast<CountedJob&>(job).runs.fetch_add(1);
                       round->one_done();
                     },
                     {}});
  std::vector<CountedJob> all(static_cast<std::size_t>(jobs));
  for (int i = 0; i < rounds; ++i) {
    Countdown countdown(jobs);
    round = &countdown;
    for (CountedJob& job : all) pool->submit(job);
    countdown.wait();
  }
  for (CountedJob& job : all) EXPECT_EQ(job.runs.load(), rounds);
}

TEST(WorkerPool, no_wakeup_is_lost) {
  lost_wakeup_rounds(8, 2, 1, 20000);
  lost_wakeup_rounds(8, 2, 5, 5000);
  lost_wakeup_rounds(8, 1, 3, 5000);
  lost_wakeup_rounds(8, 0, 5, 5000);
  lost_wakeup_rounds(1, 0, 3, 5000);
}

TEST(WorkerPool, at_most_awake_run_at_a_time) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  Countdown all_done(2000);
  auto pool = start({16,
                     3,
                     [&](Job&, std::uint32_t) {
                       const int now = running.fetch_add(1) + 1;
                       int seen = most.load();
                       while (now > seen && !most.compare_exchange_weak(seen, now)) {}
                       std::this_thread::yield();
                       running.fetch_sub(1);
                       all_done.one_done();
                     },
                     {}});
  // The workers start awake; the limit holds once they have fallen asleep.
  while (pool->snapshot().awake > 0) std::this_thread::yield();
  std::vector<Job> jobs(2000);
  for (Job& job : jobs) pool->submit(job);
  all_done.wait();
  EXPECT_LE(most.load(), 3);
}

// All workers but one sleep in a "lock" until the last job opens it: so each parking worker must have let another in.
// The first ones park when all jobs are there, so that no submit wakes a worker in their place.
TEST(WorkerPool, workers_that_park_are_replaced) {
  constexpr int kWorkers = 32;
  std::mutex mutex;
  std::condition_variable opened;
  int inside = 0;
  std::latch all_submitted(1);
  Countdown all_done(kWorkers);
  std::vector<WorkerHooks> hooks(kWorkers);
  auto pool = start({kWorkers, 2,
                     [&](Job&, std::uint32_t worker) {
                       all_submitted.wait();
                       WorkerPool* const self = hooks[worker].pool;
                       {
                         std::unique_lock lock(mutex);
                         if (++inside == kWorkers) {
                           opened.notify_all();
                         } else {
                           WorkerHooks::about_to_park(self);
                           opened.wait(lock, [&] { return inside == kWorkers; });
                           WorkerHooks::resumed(self);
                         }
                       }
                       all_done.one_done();
                     },
                     [&](const WorkerHooks& mine) { hooks[mine.worker] = mine; }});
  while (pool->snapshot().awake > 0) std::this_thread::yield();
  std::vector<Job> jobs(kWorkers);
  for (Job& job : jobs) pool->submit(job);
  all_submitted.count_down();
  all_done.wait();
  // Afterwards everything is as before: all asleep, none parked.
  while (pool->snapshot().awake > 0) std::this_thread::yield();
  const auto snapshot = pool->snapshot();
  EXPECT_EQ(snapshot.parked, 0u);
  EXPECT_EQ(std::count(snapshot.idle.begin(), snapshot.idle.end(), true), kWorkers);
}

TEST(WorkerPool, destructor_runs_what_is_queued) {
  std::atomic<int> runs{0};
  std::vector<Job> jobs(100);
  {
    auto pool = start({4, 1, [&](Job&, std::uint32_t) { runs.fetch_add(1); }, {}});
    for (Job& job : jobs) pool->submit(job);
  }
  EXPECT_EQ(runs.load(), 100);
}

}  // namespace
}  // namespace convoy
