// knob_policies.h — Policies whose knob decides how they work, with the knob not at its default: more rows of cells.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "locks/policies.h"

namespace convoy {

// The class, with a knob set before the first lock is built.
template <World W>
LockClass<W>& with(LockClass<W>& lock_class, Knob knob, std::uint32_t value) {
  lock_class.set_knob(knob, value);
  return lock_class;
}

constexpr PolicyTraits renamed(PolicyTraits traits, std::string_view name) {
  traits.name = name;
  return traits;
}

template <World W>
struct QrwlockWaitingBit : Qrwlock<W> {
  static constexpr PolicyTraits kTraits = renamed(Qrwlock<W>::kTraits, "qrwlock-waiting-bit");
  explicit QrwlockWaitingBit(LockClass<W>& lock_class) : Qrwlock<W>(with(lock_class, Knob::kWaitingBit, 1)) {}
};

template <World W>
struct Qrwlock2013FairReaders : Qrwlock2013<W> {
  static constexpr PolicyTraits kTraits = renamed(Qrwlock2013<W>::kTraits, "qrwlock-2013-fair-readers");
  explicit Qrwlock2013FairReaders(LockClass<W>& lock_class) : Qrwlock2013<W>(with(lock_class, Knob::kFairReaders, 1)) {}
};

template <World W>
struct BoundedSpin : Bounded<W> {
  static constexpr PolicyTraits kTraits = renamed(Bounded<W>::kTraits, "bounded-spin");
  explicit BoundedSpin(LockClass<W>& lock_class) : Bounded<W>(with(lock_class, Knob::kSpin, 2)) {}
};

template <World W>
using KnobPolicies = PolicyList<BoundedSpin<W>,  //
                                QrwlockWaitingBit<W>, Qrwlock2013FairReaders<W>>;

// What the suites run: every policy of the world, and these.
template <World W>
using TestedPolicies = decltype(detail::operator+(AllPolicies<W>{}, KnobPolicies<W>{}));

}  // namespace convoy
