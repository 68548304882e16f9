// worker_pool.h — The threads that run requests, and the rule that decides which of them are awake.
// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "common/result.h"

namespace convoy {

class WorkerPool;

// A unit of work, queued through a link of its own: submitting allocates nothing.
struct Job {
  Job* next_job = nullptr;
};

// What a worker tells the pool while a job of it sleeps in a lock: call about_to_park(pool) before the sleep and
// resumed(pool) after it, both on the worker's own thread.
struct WorkerHooks {
  WorkerPool* pool;
  std::uint32_t worker;  // 0 to workers - 1
  static void about_to_park(WorkerPool* pool);
  static void resumed(WorkerPool* pool);
};

// `workers` threads over one FIFO queue. A submitted job wakes the worker that fell asleep last, and only while fewer
// than `awake` workers are awake: they find the job when they are done with theirs. A worker that sleeps in a lock is
// not awake, so however many jobs are stuck on one lock, others run. A worker that comes back from a lock may raise the
// number above `awake` for the rest of its job.
//
// No wake-up is lost: whenever a job is queued and a worker is idle, `awake` workers are awake or one wake is on its
// way for each queued job. An awake worker looks into the queue before it sleeps, and so does one that parks in a lock.
class WorkerPool {
 public:
  struct Options {
    std::uint32_t workers = 256;
    std::uint32_t awake = 0;                                  // 0: no limit
    std::function<void(Job&, std::uint32_t worker)> run;      // runs one job on a worker
    std::function<void(const WorkerHooks&)> on_thread_start;  // called by each worker first; may be empty
  };

  struct Snapshot {
    std::uint32_t awake = 0;   // workers that run or look for a job
    std::uint32_t parked = 0;  // workers that sleep in a lock
    std::uint64_t queued = 0;  // jobs that wait
    std::uint64_t wakes = 0;   // futex wakes of idle workers since the start
    std::vector<bool> idle;    // by worker
  };

  // Starts the threads. Error: the system refuses one (its text).
  static Result<std::unique_ptr<WorkerPool>> start(Options options);

  // Runs what is queued, then joins the threads. Requires: no submit() runs or follows.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // Queues `job`, which belongs to the pool until it runs. Any thread.
  void submit(Job& job);

  void about_to_park();
  void resumed();

  Snapshot snapshot() const;
  std::uint32_t workers() const { return options_.workers; }

 private:
  struct Worker;
  struct StartArgument;

  explicit WorkerPool(Options options);
  static void* thread_main(void* argument);
  void run_worker(std::uint32_t index);
  Job* next_job(Worker& me);
  // The worker to wake for the jobs in the queue, or null. Requires: mutex_. The caller wakes it after the unlock.
  Worker* take_worker_to_wake();
  // Counts the workers of resumed_. Requires: mutex_. First in every section of it that reads awake_ or parked_.
  void settle();
  void stop();

  const Options options_;
  std::vector<std::unique_ptr<Worker>> workers_;
  mutable std::mutex mutex_;  // protects all below
  Job* first_ = nullptr;
  Job** last_ = &first_;
  std::uint64_t queued_ = 0;
  std::uint32_t awake_ = 0;  // awake workers, those included whose wake is on its way; exact after settle()
  std::uint32_t parked_ = 0;
  std::uint32_t waking_ = 0;  // workers whose wake is on its way
  std::uint64_t wakes_ = 0;
  std::vector<std::uint32_t> idle_;  // a stack: the back fell asleep last
  bool stopping_ = false;
  // Workers that came back from a lock and are not yet counted in awake_. Apart from the mutex, because a worker that
  // was handed a lock owns it while it calls resumed(): nothing that may wait belongs there. Relaxed: a number only.
  std::atomic<std::uint32_t> resumed_{0};
};

}  // namespace convoy
