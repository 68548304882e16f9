// ladder_words.h — What an order promises, and how a value stands in the ladder.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>

#include "locks/world.h"
#include "sim/explorer.h"

namespace convoy {

template <class O>
constexpr bool acquires(O) {
  return std::is_same_v<O, Acquire> || std::is_same_v<O, AcqRel> || std::is_same_v<O, SeqCst>;
}
template <class O>
constexpr bool releases(O) {
  return std::is_same_v<O, Release> || std::is_same_v<O, AcqRel> || std::is_same_v<O, SeqCst>;
}

template <class T>
std::string show(Explorer& explorer, T value) {
  if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? "null" : fmt::format("object {:x}", explorer.ordinal(value));
  } else {
    return fmt::format("{}", value);
  }
}

}  // namespace convoy
