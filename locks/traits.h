// traits.h — What a policy says of itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "knobs.h"

namespace convoy {

enum class Kind : std::uint8_t {
  kPageLock,
  kSpinning,
  kSleeping,
  kOptimistic,
  kSharedSpinning,
  kSharedSleeping,
  kNone
};

constexpr std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::kPageLock:
      return "page lock";
    case Kind::kSpinning:
      return "spinning";
    case Kind::kSleeping:
      return "sleeping";
    case Kind::kOptimistic:
      return "sleeping, optimistic spin";
    case Kind::kSharedSpinning:
      return "shared, spinning";
    case Kind::kSharedSleeping:
      return "shared, sleeping";
    case Kind::kNone:
      return "none";
  }
  return "";
}

// The knobs of a policy, in place.
class KnobList {
 public:
  constexpr KnobList() = default;
  template <class... Knobs>
  constexpr KnobList(Knobs... knobs) : knobs_{knobs...}, size_(sizeof...(Knobs)) {}
  constexpr const Knob* begin() const { return knobs_.data(); }
  constexpr const Knob* end() const { return knobs_.data() + size_; }

 private:
  std::array<Knob, kKnobCount> knobs_{};
  std::size_t size_ = 0;
};

struct PolicyTraits {
  std::string_view name;  // stable: on command lines and in results
  Kind kind;
  std::string_view fairness;  // in the field's words: FIFO, barging, reader preference, ...
  std::string_view origin;
  std::string_view events = {};  // how the names of the events that it counts begin; none: it counts nothing
  KnobList knobs = {};
  bool needs_core_per_thread = false;  // spins without bound: never a default with more workers than cores

  bool counts(std::string_view event) const { return !events.empty() && event.starts_with(events); }
};

}  // namespace convoy
