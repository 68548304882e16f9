// knobs.h — The knobs of lock policies: name, range, default and where the default comes from, one line each.
// SPDX-License-Identifier: MIT
//
// A knob is an atomic of the lock class that a waiter reads once per wait, as the kernel reads its sysctl, so it may be
// changed while the lock is in use. Knob K of role R is the setting and result key `R-lock-K` (page-lock-unfairness).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convoy {

enum class Knob : std::uint8_t { kUnfairness, kSpin };

struct KnobInfo {
  std::string_view name;
  std::uint32_t minimum;
  std::uint32_t maximum;
  std::uint32_t default_value;
  std::string_view sentence;
};

inline constexpr KnobInfo kKnobs[] = {
    // Default: the kernel's page_lock_unfairness, commit 5ef64cc8987a. Range: the project's; the kernel's has no upper
    // end.
    {"unfairness", 0, 1000, 5,
     "Thefts that a waiter accepts before it demands a hand-off; 0 is the fair lock of 5.9-rc."},
    // Default: the kernel's page lock does not spin.
    {"spin", 0, 1'000'000, 0, "Polls of the lock word before a waiter queues."},
};
inline constexpr std::size_t kKnobCount = sizeof(kKnobs) / sizeof(kKnobs[0]);

constexpr const KnobInfo& info(Knob knob) { return kKnobs[static_cast<std::size_t>(knob)]; }

}  // namespace convoy
