// random.h — A small generator of our own, so that a seed gives the same choices with every standard library.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace convoy {

// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
  // One of many that a seed gives: they share no stretch of numbers, as neighbouring seeds might.
  constexpr Random(std::uint64_t seed, std::uint64_t stream) : state_(Random(Random(seed).next() + stream).next()) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  // From 0 to n - 1; n is far below 2^32.
  constexpr std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }

 private:
  std::uint64_t state_;
};

}  // namespace convoy
