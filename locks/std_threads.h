// std_threads.h — What RealWorld knows of each thread: a record that outlives it, found by its number.
// SPDX-License-Identifier: MIT
//
// A record belongs to one thread at a time; it is recycled and never freed, so an unpark may come after its thread has
// gone. A thread finds its own through a thread_local pointer, takes one when it first needs it, and gives it back when
// it ends. The event counters of all lock classes stand in it, so that counting touches no line of another thread.
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "events.h"
#include "spare_nodes.h"
#include "world.h"

namespace convoy {

// What a thread pool wants to know of a thread of its own. Called by that thread, outside of every SpinLock.
struct ParkHooks {
  void (*about_to_park)(void* context) = nullptr;  // it will sleep on a policy lock now
  void (*resumed)(void* context) = nullptr;        // it woke
  void* context = nullptr;
};

class RealThreads {
 public:
  static constexpr std::size_t kMaxThreads = 16384;
  static constexpr std::size_t kMaxClasses = 64;
  static constexpr std::uint32_t kNoCore = 0x80000000;  // the area's values from here on say that nobody fills it
  static constexpr std::uint32_t kRunning = 0, kPrepared = 1, kAsleep = 2;  // of a park word

  struct alignas(64) Record {
    std::atomic<std::uint32_t> park_word{kRunning};
    std::atomic<std::uint32_t> core{~std::uint32_t{0}};  // where the thread last asked for self()
    std::atomic<bool> is_away{false};                    // from before a sleep until the thread runs again
    Thread thread;
    bool spun_enough = false;
    std::uint32_t no_preempt_depth = 0;
    std::uint32_t unparks_held = 0;
    std::array<Record*, 16> held{};
    std::atomic<const Site*> site{nullptr};
    std::uint64_t random = 0;
    ParkHooks hooks;
    SpareNodes spares;  // while no thread has the record; see take_spare()
    // Written by the record's thread only, read by anyone. A class's begin at the number that take_class() gave it.
    std::atomic<std::uint64_t> events[kMaxClasses * kEventCount] = {};
  };

  static Record& record() {
    if (current_ == nullptr) [[unlikely]]
      current_ = take_record();
    return *current_;
  }
  static Record& record_of(Thread thread) { return *registry().find(thread); }

  // The number of the first event counter of a new lock class.
  static std::size_t take_class() { return registry().take_class(); }
  // Requires: no thread counts for the class any more.
  static void give_class(std::size_t first) { registry().give_class(first); }
  // Over all threads, of the counter with that number.
  static std::uint64_t total(std::size_t counter) { return registry().total(counter); }

  // As World says. A few instructions, because `mcs` pays them on its fast path: the list of a type is a variable of
  // the thread, and its record keeps it from the end of one thread to the beginning of the next.
  template <class Node>
  static Node* take_spare() {
    auto* const spare = spares_<Node>;
    if (spare == nullptr) [[unlikely]]
      return more_spares<Node>();
    spares_<Node> = spare->next_spare;
    return spare;
  }
  template <class Node>
  static void give_spare(Node* node) {
    auto* const spare = static_cast<SpareNodes::Spare<Node>*>(node);
    spare->next_spare = spares_<Node>;
    spares_<Node> = spare;
  }

  [[noreturn]] static void panic(const char* text) {
    std::fprintf(stderr, "panic: %s\n", text);
    std::abort();
  }

  static std::uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  }

  // Where the thread runs, out of date at once: from its restartable-sequence area, where glibc has one (2.35), because
  // a lock that notes its owner asks on its fast path; else by a call.
  static std::uint32_t current_core() {
#if __has_include(<sys/rseq.h>)
    const auto* area = reinterpret_cast<const std::byte*>(__builtin_thread_pointer()) + __rseq_offset;
    const std::uint32_t core = reinterpret_cast<const volatile ::rseq*>(area)->cpu_id;
    if (core < kNoCore) [[likely]]
      return core;
#endif
    return static_cast<std::uint32_t>(sched_getcpu());
  }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  // Sleeps while word == value; false when the deadline has passed. May return spuriously.
  static bool futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, Deadline deadline) {
    timespec until{static_cast<time_t>(deadline.ticks / 1'000'000'000),
                   static_cast<long>(deadline.ticks % 1'000'000'000)};
    syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, value, deadline == kNever ? nullptr : &until, nullptr,
            FUTEX_BITSET_MATCH_ANY);
    return deadline == kNever || now_ns() < deadline.ticks;
  }
  static void futex_wake(std::atomic<std::uint32_t>& word, int count) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  }

 private:
  class Registry {
   public:
    Record* take() {
      const std::lock_guard guard(mutex_);
      if (!free_.empty()) {
        Record* record = free_.back();
        free_.pop_back();
        return record;
      }
      const std::size_t index = count_.load(std::memory_order_relaxed);
      if (index == kMaxThreads) panic("more than 16384 threads at a time use locks");
      auto* record = new Record;
      record->thread = Thread{static_cast<std::uint32_t>(index)};
      record->random = index;
      records_[index].store(record, std::memory_order_release);
      count_.store(index + 1, std::memory_order_release);
      return record;
    }
    void give(Record* record) {
      record->hooks = {};
      const std::lock_guard guard(mutex_);
      free_.push_back(record);
    }
    Record* find(Thread thread) { return records_[thread.index].load(std::memory_order_acquire); }

    std::size_t take_class() {
      const std::lock_guard guard(mutex_);
      for (std::size_t id = 0; id < kMaxClasses; ++id) {
        if (!class_taken_[id]) {
          class_taken_[id] = true;
          return id * kEventCount;
        }
      }
      panic("more than 64 lock classes at a time");
    }
    void give_class(std::size_t first) {
      const std::lock_guard guard(mutex_);
      for (std::size_t i = 0; i < count_.load(std::memory_order_relaxed); ++i) {
        auto* const counters = records_[i].load(std::memory_order_relaxed)->events + first;
        for (std::size_t e = 0; e < kEventCount; ++e) counters[e].store(0, std::memory_order_relaxed);
      }
      class_taken_[first / kEventCount] = false;
    }
    std::uint64_t total(std::size_t counter) {
      std::uint64_t sum = 0;
      const std::size_t count = count_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < count; ++i) {
        sum += records_[i].load(std::memory_order_relaxed)->events[counter].load(std::memory_order_relaxed);
      }
      return sum;
    }

   private:
    std::mutex mutex_;
    std::vector<Record*> free_;
    std::array<bool, kMaxClasses> class_taken_{};
    std::atomic<std::size_t> count_{0};
    std::array<std::atomic<Record*>, kMaxThreads> records_{};
  };

  static Registry& registry() {
    static Registry& registry = *new Registry;  // never destroyed: threads may end after main
    return registry;
  }

  [[gnu::noinline]] static Record* take_record() {
    struct Returner {
      Record* record = nullptr;
      ~Returner() {
        current_ = nullptr;
        registry().give(record);
      }
    };
    static thread_local Returner returner;
    returner.record = registry().take();
    return returner.record;
  }

  // The thread has no spare node of this type left: a new one. The first time: those of who had its record before.
  template <class Node>
  [[gnu::noinline]] static Node* more_spares() {
    struct Keeper {
      SpareNodes& kept = record().spares;
      Keeper() { spares_<Node> = kept.take_all<Node>(); }
      ~Keeper() { kept.give_all<Node>(std::exchange(spares_<Node>, nullptr)); }
    };
    static thread_local Keeper keeper;
    return spares_<Node> != nullptr ? take_spare<Node>() : new SpareNodes::Spare<Node>;
  }

  static inline constinit thread_local Record* current_ = nullptr;
  template <class Node>
  static inline constinit thread_local SpareNodes::Spare<Node>* spares_ = nullptr;
};

}  // namespace convoy
