// world_real.h — The world of real threads: std::atomic, futex, the processor's pause, the monotonic clock.
// SPDX-License-Identifier: MIT
//
// What it cannot do as a kernel does: it cannot keep a thread on its core (NoPreempt only keeps system calls out of a
// SpinLock), and a thread that holds a spinning lock may lose its core at any moment.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>

#include "lock_order.h"
#include "std_run.h"
#include "std_threads.h"
#include "world.h"

namespace convoy {

class RealWorld : RealThreads {
 public:
  static constexpr std::size_t kWaitQueues = 256;
#ifdef NDEBUG
  static constexpr bool kChecksOrder = false;
  static constexpr bool kDebugChecks = false;
#else
  static constexpr bool kChecksOrder = true;
  static constexpr bool kDebugChecks = true;
#endif

  template <class T>
  class Atomic {
   public:
    constexpr Atomic(T value = T{}) : value_(value) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(LoadOrder auto order) const { return value_.load(std_order(order)); }
    void store(T v, StoreOrder auto order) { value_.store(v, std_order(order)); }
    T exchange(T v, AnyOrder auto order) { return value_.exchange(v, std_order(order)); }
    bool compare_exchange(T& expected, T desired, AnyOrder auto order) {
      return value_.compare_exchange_strong(expected, desired, std_order(order), std::memory_order_relaxed);
    }
    T fetch_add(T v, AnyOrder auto order) { return value_.fetch_add(v, std_order(order)); }
    T fetch_sub(T v, AnyOrder auto order) { return value_.fetch_sub(v, std_order(order)); }
    T fetch_or(T v, AnyOrder auto order) { return value_.fetch_or(v, std_order(order)); }
    T fetch_and(T v, AnyOrder auto order) { return value_.fetch_and(v, std_order(order)); }

   private:
    std::atomic<T> value_;
  };

  template <class T>
  class Plain {
   public:
    constexpr Plain(T value = T{}) : value_(value) {}
    Plain& operator=(T value) {
      value_ = value;
      return *this;
    }
    operator T() const { return value_; }
    T operator->() const { return value_; }

   private:
    T value_;
  };

  // Test-and-test-and-set for a short while, then futex: 0 free, 1 locked, 2 locked and perhaps waited for (Drepper,
  // "Futexes Are Tricky", mutex2). With more threads than cores a preempted holder must not cost its waiters their time
  // slices.
  class SpinLock {
   public:
    void lock() {
      std::uint32_t free = 0;
      if (!word_.compare_exchange_strong(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) lock_slow();
    }
    void unlock() {
      if (word_.exchange(0, std::memory_order_release) == 2) futex_wake(word_, 1);
    }

   private:
    [[gnu::noinline]] void lock_slow() {
      // A bucket lock is held for some 50 ns; 100 polls are about 2 us (AMD EPYC, 2026).
      for (int polls = 0; polls < 100; ++polls) {
        std::uint32_t free = 0;
        if (word_.load(std::memory_order_relaxed) == 0 &&
            word_.compare_exchange_weak(free, 1, std::memory_order_acquire, std::memory_order_relaxed)) {
          return;
        }
        pause();
      }
      while (word_.exchange(2, std::memory_order_acquire) != 0) futex_wait(word_, 2, kNever);
    }
    std::atomic<std::uint32_t> word_{0};
  };

  class NoPreempt {
   public:
    NoPreempt() : record_(record()) { ++record_.no_preempt_depth; }
    ~NoPreempt() {
      if (--record_.no_preempt_depth == 0 && record_.unparks_held != 0) issue_unparks(record_);
    }
    NoPreempt(const NoPreempt&) = delete;
    NoPreempt& operator=(const NoPreempt&) = delete;

   private:
    Record& record_;
  };

  class Counters {
   public:
    Counters() : first_(take_class()) {}
    ~Counters() { give_class(first_); }
    Counters(const Counters&) = delete;
    Counters& operator=(const Counters&) = delete;
    void add(std::uint32_t event) {
      auto& counter = record().events[first_ + event];
      counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    std::uint64_t total(std::uint32_t event) const { return RealThreads::total(first_ + event); }

   private:
    std::size_t first_;  // of this class in a record's events
  };

  static Thread self() {
    Record& me = record();
    me.core.store(current_core(), std::memory_order_relaxed);
    return me.thread;
  }

  static auto await(const auto& word, LoadOrder auto order, auto predicate) {
    return poll([&] { return word.load(order); }, predicate);
  }
  static auto await_exchange(auto& word, auto value, AnyOrder auto order, auto predicate) {
    return poll([&] { return word.exchange(value, order); }, predicate);
  }
  static void await_either(const auto& one, auto one_holds, const auto& other, auto other_holds) {
    poll([&] { return one_holds(one.load(relaxed)) || other_holds(other.load(relaxed)); },
         [](bool holds) { return holds; });
  }

  static Spin spin_for(const auto& word, LoadOrder auto order, auto predicate, SpinLimit limit) {
    return spin([&] { return predicate(word.load(order)); }, limit);
  }
  static Spin spin_for_either(const auto& one, auto one_holds, const auto& other, auto other_holds, SpinLimit limit) {
    return spin([&] { return one_holds(one.load(relaxed)) || other_holds(other.load(relaxed)); }, limit);
  }

  static bool is_running(Thread thread) {
    const Record& other = record_of(thread);
    return !other.is_away.load(std::memory_order_relaxed) &&
           other.core.load(std::memory_order_relaxed) != current_core();
  }
  static bool should_yield() { return record().spun_enough; }

  // The park word: kRunning → kPrepared → kAsleep → kRunning. prepare and unpark are read-modify-writes of one word, so
  // whichever comes second sees what its thread did before the first.
  static void prepare_park() {
    Record& me = record();
    me.spun_enough = false;
    me.park_word.exchange(kPrepared, std::memory_order_acq_rel);
  }

  static void park() { park_until(kNever); }

  static bool park_until(Deadline deadline) {
    check_sleep<RealWorld>();
    Record& me = record();
    std::uint32_t word = kPrepared;
    if (!me.park_word.compare_exchange_strong(word, kAsleep, std::memory_order_acq_rel, std::memory_order_acquire))
      return true;
    me.is_away.store(true, std::memory_order_relaxed);
    if (me.hooks.about_to_park != nullptr) me.hooks.about_to_park(me.hooks.context);
    bool in_time = true;
    while (me.park_word.load(std::memory_order_acquire) == kAsleep && in_time) {
      in_time = futex_wait(me.park_word, kAsleep, deadline);
    }
    me.is_away.store(false, std::memory_order_relaxed);
    if (!in_time) in_time = me.park_word.exchange(kRunning, std::memory_order_acq_rel) == kRunning;
    if (me.hooks.resumed != nullptr) me.hooks.resumed(me.hooks.context);
    return in_time;
  }

  static bool unpark(Thread thread) {
    Record& target = record_of(thread);
    const std::uint32_t word = target.park_word.exchange(kRunning, std::memory_order_acq_rel);
    if (word == kAsleep) {
      Record& me = record();
      if (me.no_preempt_depth == 0) {
        futex_wake(target.park_word, 1);
      } else {
        if (me.unparks_held == me.held.size()) issue_unparks(me);
        me.held[me.unparks_held++] = &target;
      }
    }
    return word != kRunning;
  }

  static Deadline deadline_in(std::uint64_t ns) { return Deadline{now_ns() + ns}; }
  static bool expired(Deadline deadline) { return deadline != kNever && now_ns() >= deadline.ticks; }

  using RealThreads::give_spare;
  using RealThreads::take_spare;

  // Never destroyed: locks with static storage may outlive it otherwise.
  template <class T>
  static T& shared() {
    static T& object = *new T;
    return object;
  }

  static std::uint64_t ordinal(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

  static void at(const Site& site) { record().site.store(&site, std::memory_order_relaxed); }
  // The call site that `thread` named last; null if none. Relaxed: a hint for who reports on a thread that is stuck.
  static const Site* site_of(Thread thread) { return record_of(thread).site.load(std::memory_order_relaxed); }

  static HeldLocks& held_locks() {
    static thread_local constinit HeldLocks held;
    return held;
  }
  struct OrderAccess {
    std::unique_lock<std::mutex> alone;
    LockOrder& order;
    LockOrder& operator*() const { return order; }
    LockOrder* operator->() const { return &order; }
  };
  // Never destroyed, as shared().
  static OrderAccess lock_order() {
    static std::mutex& mutex = *new std::mutex;
    static LockOrder& order = *new LockOrder;
    return {std::unique_lock(mutex), order};
  }
  static void warn(const char* text) { std::fprintf(stderr, "warning: %s\n", text); }

  using RealThreads::panic;

  static std::uint32_t coin(std::uint32_t n) {
    Record& me = record();
    me.random = me.random * 6364136223846793005 + 1442695040888963407;  // Knuth's MMIX generator
    return static_cast<std::uint32_t>(((me.random >> 32) * n) >> 32);
  }

  // Host
  static void touch(const void*, std::size_t, bool) {}
  static void require(bool claim, const char* text) {
    if (!claim) panic(text);
  }
  static void witness(const char*) {}

  // WorkloadHost
  template <class Body>
  static void run(std::uint32_t threads, std::uint64_t duration_ns, Body body) {
    RealRun::run(threads, duration_ns, body);
  }
  static bool stopped() { return RealRun::stopped(); }
  static void stop() { RealRun::stop(); }
  static void work(std::uint64_t units) { RealRun::work(units); }
  using RealThreads::now_ns;

  // What users may set; see the server's settings.
  struct Tuning {
    // Polls of await() before it yields the core between polls: about 2 us of pause on an AMD EPYC, some wake-ups'
    // worth.
    std::atomic<std::uint32_t> yield_after{100};
    // How long one look of an optimistic spinner lasts at most, that is, while what it watches does not change: the
    // kernel spins until its core is wanted, which no thread can know here; some wake-ups' worth.
    std::atomic<std::uint32_t> spin_budget_ns{25'000};
  };
  static Tuning& tuning() {
    static Tuning tuning;
    return tuning;
  }

  // Sets the calling thread's hooks; they stay until the thread ends or sets others.
  static void set_park_hooks(const ParkHooks& hooks) { record().hooks = hooks; }

 private:
  static constexpr std::memory_order std_order(Relaxed) { return std::memory_order_relaxed; }
  static constexpr std::memory_order std_order(Acquire) { return std::memory_order_acquire; }
  static constexpr std::memory_order std_order(Release) { return std::memory_order_release; }
  static constexpr std::memory_order std_order(AcqRel) { return std::memory_order_acq_rel; }
  static constexpr std::memory_order std_order(SeqCst) { return std::memory_order_seq_cst; }

  static void issue_unparks(Record& me) {
    for (std::uint32_t i = 0; i < me.unparks_held; ++i) futex_wake(me.held[i]->park_word, 1);
    me.unparks_held = 0;
  }

  // Reads until the predicate holds; gives the core away between polls once they have been many.
  static auto poll(auto read, auto predicate) {
    const std::uint32_t yield_after = tuning().yield_after.load(std::memory_order_relaxed);
    for (std::uint32_t polls = 0;; ++polls) {
      const auto value = read();
      if (predicate(value)) return value;
      if (polls < yield_after) {
        pause();
      } else {
        sched_yield();
      }
    }
  }

  // The clock is asked once in 16 polls: a pause takes longer than that on some processors, a poll never.
  static Spin spin(auto satisfied, SpinLimit limit) {
    Record& me = record();
    std::uint64_t end = 0;
    for (std::uint32_t polls = 0;; ++polls) {
      if (satisfied()) return Spin::kSatisfied;
      if (polls == limit.polls) return Spin::kBudgetSpent;
      if (limit.owner != kNobody && !is_running(limit.owner)) return Spin::kOwnerSlept;
      if ((limit.optimistic || limit.until != kNever) && polls % 16 == 0) {
        const std::uint64_t now = now_ns();
        if (now >= limit.until.ticks) return Spin::kTimeIsUp;
        if (end == 0) end = now + tuning().spin_budget_ns.load(std::memory_order_relaxed);
        if (limit.optimistic) me.spun_enough = now >= end;
        if (limit.optimistic && me.spun_enough) return Spin::kMustYield;
      }
      pause();
    }
  }
};

}  // namespace convoy
