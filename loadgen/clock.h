// clock.h — The generator's clock: nanoseconds of CLOCK_MONOTONIC.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

namespace convoy {

inline constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
inline constexpr std::int64_t kNanosPerMilli = 1'000'000;
inline constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();

inline std::int64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * kNanosPerSecond + t.tv_nsec;
}

inline std::int64_t now_ns() { return clock_ns(CLOCK_MONOTONIC); }

inline double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace convoy
