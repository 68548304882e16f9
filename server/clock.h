// clock.h — The coarse clock of the server: cheap, and exact to a few milliseconds.
// SPDX-License-Identifier: MIT
#pragma once

#include <time.h>

#include <cstdint>

namespace convoy {

// Nanoseconds of CLOCK_MONOTONIC_COARSE: no system call, moves with the kernel's tick.
inline std::int64_t coarse_now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

}  // namespace convoy
