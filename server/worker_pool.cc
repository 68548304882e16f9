// worker_pool.cc — Queue, idle stack and futex of the workers.
// SPDX-License-Identifier: MIT
#include "server/worker_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace convoy {
namespace {

// The deepest call of a request needs a few KiB; 256 threads then stay small.
constexpr std::size_t kStackBytes = 256 * 1024;

constexpr std::uint32_t kAsleep = 0;
constexpr std::uint32_t kWoken = 1;

}  // namespace

// On a cache line of its own: a worker polls nothing, but its waker writes here.
struct alignas(64) WorkerPool::Worker {
  std::atomic<std::uint32_t> state{kWoken};
  std::uint32_t index = 0;
  bool woken = false;  // its wake is still counted in waking_; the pool's mutex protects it
  pthread_t thread{};

  // The mutex of the pool orders jobs; the word only carries the wake, so relaxed would do but for TSan's sake of plain
  // reading: acquire pairs with the release in wake().
  void sleep() {
    while (state.load(std::memory_order_acquire) == kAsleep) {
      ::syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, kAsleep, nullptr, nullptr, 0);
    }
  }
  void wake() {
    state.store(kWoken, std::memory_order_release);
    ::syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
};

struct WorkerPool::StartArgument {
  WorkerPool* pool;
  std::uint32_t index;
};

void WorkerHooks::about_to_park(WorkerPool* pool) { pool->about_to_park(); }
void WorkerHooks::resumed(WorkerPool* pool) { pool->resumed(); }

WorkerPool::WorkerPool(Options options) : options_(std::move(options)) {
  idle_.reserve(options_.workers);
  workers_.reserve(options_.workers);
}

Result<std::unique_ptr<WorkerPool>> WorkerPool::start(Options options) {
  std::unique_ptr<WorkerPool> pool(new WorkerPool(std::move(options)));
  const std::uint32_t wanted = pool->options_.workers;
  pool->awake_ = wanted;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  int error = 0;
  for (std::uint32_t index = 0; index < wanted && error == 0; ++index) {
    pool->workers_.push_back(std::make_unique<Worker>());
    pool->workers_.back()->index = index;
  }
  std::uint32_t started = 0;
  for (; started < wanted; ++started) {
    auto argument = std::make_unique<StartArgument>(StartArgument{pool.get(), started});
    error = pthread_create(&pool->workers_[started]->thread, &attributes, thread_main, argument.get());
    if (error != 0) break;
    argument.release();
  }
  pthread_attr_destroy(&attributes);
  if (error == 0) return pool;
  pool->workers_.resize(started);
  return fail("workers: thread {} of {} cannot be started: {}", started + 1, wanted, std::strerror(error));
}

WorkerPool::~WorkerPool() {
  stop();
  for (const auto& worker : workers_) pthread_join(worker->thread, nullptr);
}

void WorkerPool::stop() {
  std::vector<std::uint32_t> asleep;
  {
    const std::lock_guard guard(mutex_);
    settle();
    stopping_ = true;
    asleep.swap(idle_);
    awake_ += static_cast<std::uint32_t>(asleep.size());
  }
  for (const auto index : asleep) workers_[index]->wake();
}

void* WorkerPool::thread_main(void* argument) {
  const std::unique_ptr<StartArgument> start(static_cast<StartArgument*>(argument));
  start->pool->run_worker(start->index);
  return nullptr;
}

void WorkerPool::run_worker(std::uint32_t index) {
  if (options_.on_thread_start) options_.on_thread_start(WorkerHooks{this, index});
  Worker& me = *workers_[index];
  while (Job* job = next_job(me)) options_.run(*job, index);
}

// Returns the oldest job, sleeping until there is one; null when the pool stops and the queue is empty.
Job* WorkerPool::next_job(Worker& me) {
  for (;;) {
    {
      const std::lock_guard guard(mutex_);
      if (std::exchange(me.woken, false)) --waking_;
      if (first_ != nullptr) {
        Job* job = first_;
        first_ = job->next_job;
        if (first_ == nullptr) last_ = &first_;
        --queued_;
        return job;
      }
      settle();
      --awake_;
      if (stopping_) return nullptr;
      me.state.store(kAsleep, std::memory_order_relaxed);  // the mutex orders it before any wake
      idle_.push_back(me.index);
    }
    me.sleep();
  }
}

WorkerPool::Worker* WorkerPool::take_worker_to_wake() {
  settle();
  if (queued_ <= waking_ || idle_.empty()) return nullptr;
  if (options_.awake != 0 && awake_ >= options_.awake) return nullptr;
  Worker* worker = workers_[idle_.back()].get();
  idle_.pop_back();
  worker->woken = true;
  ++awake_;
  ++waking_;
  ++wakes_;
  return worker;
}

void WorkerPool::submit(Job& job) {
  job.next_job = nullptr;
  Worker* worker;
  {
    const std::lock_guard guard(mutex_);
    *last_ = &job;
    last_ = &job.next_job;
    ++queued_;
    worker = take_worker_to_wake();
  }
  if (worker != nullptr) worker->wake();
}

void WorkerPool::about_to_park() {
  Worker* worker;
  {
    const std::lock_guard guard(mutex_);
    settle();
    --awake_;
    ++parked_;
    worker = take_worker_to_wake();
  }
  if (worker != nullptr) worker->wake();
}

void WorkerPool::resumed() { resumed_.fetch_add(1, std::memory_order_relaxed); }

void WorkerPool::settle() {
  const std::uint32_t resumed = resumed_.exchange(0, std::memory_order_relaxed);
  awake_ += resumed;
  parked_ -= resumed;
}

WorkerPool::Snapshot WorkerPool::snapshot() const {
  const std::lock_guard guard(mutex_);
  const std::uint32_t resumed = resumed_.load(std::memory_order_relaxed);
  Snapshot result{awake_ + resumed, parked_ - resumed, queued_, wakes_, std::vector<bool>(workers_.size(), false)};
  for (const auto index : idle_) result.idle[index] = true;
  return result;
}

}  // namespace convoy
