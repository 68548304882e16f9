// knobs.h — The knobs of lock policies: name, range, default and where the default comes from, one line each.
// SPDX-License-Identifier: MIT
//
// A knob is an atomic of the lock class that a waiter reads once per wait, as the kernel reads its sysctl, so it may be
// changed while the lock is in use; or that a lock reads when it is built, because it decides what the lock word means.
// Knob K of role R is the setting and result key `R-lock-K` (page-lock-unfairness).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convoy {

enum class Knob : std::uint8_t { kUnfairness, kSpin, kWaitingBit, kFairReaders };

struct KnobInfo {
  std::string_view name;
  std::uint32_t minimum;
  std::uint32_t maximum;
  std::uint32_t default_value;
  std::string_view sentence;
  bool live = true;  // false: a lock reads it when it is built, so it is set before that
};

inline constexpr KnobInfo kKnobs[] = {
    // Default: the kernel's page_lock_unfairness, commit 5ef64cc8987a. Range: the project's; the kernel's has no upper
    // end.
    {"unfairness", 0, 1000, 5,
     "Thefts that a waiter accepts before it demands a hand-off; 0 is the fair lock of 5.9-rc."},
    // Default: the kernel's page lock does not spin.
    {"spin", 0, 1'000'000, 0, "Polls of the lock word before a waiter queues."},
    // Default: the kernel's at the merge, 3.16, commit 70af2f8a4f48.
    {"waiting-bit", 0, 1, 0,
     "1 gives qrwlock the layout of 2017, in which nobody overtakes a writer at the head of the queue; 0 that of 3.16.",
     false},
    // Default: the lock as posted in 2013.
    {"fair-readers", 0, 1, 0, "1 makes a reader of qrwlock-2013 queue behind a writer who waits; 0 lets it pass."},
};
inline constexpr std::size_t kKnobCount = sizeof(kKnobs) / sizeof(kKnobs[0]);

constexpr const KnobInfo& info(Knob knob) { return kKnobs[static_cast<std::size_t>(knob)]; }

}  // namespace convoy
