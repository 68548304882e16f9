// std_system.h — What RealWorld asks of the processor and of the operating system: pause, the core, the clock, futex.
// SPDX-License-Identifier: MIT
#pragma once

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "world.h"

namespace convoy {

// What a thread pool wants to know of a thread of its own. Called by that thread, outside of every SpinLock.
struct ParkHooks {
  void (*about_to_park)(void* context) = nullptr;  // it will sleep on a policy lock now
  void (*resumed)(void* context) = nullptr;        // it woke
  void* context = nullptr;
};

struct StdSystem {
  // Where the caller runs, out of date at once: from its restartable-sequence area, no system call (glibc 2.35).
  static std::uint32_t current_core() { return static_cast<std::uint32_t>(sched_getcpu()); }

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
  }

  // Of the monotonic clock.
  static std::uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
  }

  // Sleeps while word == value; false when the deadline, a time of now_ns(), has passed. May return spuriously.
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
};

}  // namespace convoy
