// lock_class.h — What all locks of one use share: name, policy, knobs, wait queues, events, place in the order.
// SPDX-License-Identifier: MIT
//
// The kernel's *lock class*: the page locks of a cache are one class, its mapping lock another. A lock is its word and
// a reference to its class, so that ten million page locks cost a word each, and a knob is turned or an event read in
// one place.
#pragma once

#include <cstdint>
#include <string_view>

#include "events.h"
#include "knobs.h"
#include "lock_order.h"
#include "wait_table.h"
#include "world.h"

namespace convoy {

template <World W>
class LockClass {
 public:
  // `name` outlives the class: a literal. `policy` is the position of a policy in the AnyLock that the class serves.
  explicit LockClass(std::string_view name, std::uint8_t policy = 0) : name_(name), policy_(policy) {
    for (std::size_t k = 0; k < kKnobCount; ++k) knobs_[k].store(kKnobs[k].default_value, relaxed);
    if constexpr (W::kChecksOrder) order_position_ = W::lock_order()->add(name);
  }
  ~LockClass() {
    if constexpr (W::kChecksOrder) W::lock_order()->remove(order_position_);
  }
  LockClass(const LockClass&) = delete;
  LockClass& operator=(const LockClass&) = delete;

  std::string_view name() const { return name_; }

  std::uint8_t policy() const { return policy_; }
  // Requires: no lock of this class exists yet; or nobody is in a region (quiescence.h) and every lock of the class has
  // been reset to this policy.
  void set_policy(std::uint8_t policy) { policy_ = policy; }

  // Relaxed: a knob orders nothing, and a waiter that reads the old value is as if it had come before the change.
  std::uint32_t knob(Knob knob) const { return knobs_[static_cast<std::size_t>(knob)].load(relaxed); }
  // Requires: value lies in the knob's range.
  void set_knob(Knob knob, std::uint32_t value) { knobs_[static_cast<std::size_t>(knob)].store(value, relaxed); }

  void count(Event event) { counters_.add(static_cast<std::uint32_t>(event)); }
  // Exact once no thread is inside a lock of this class; before, each thread's part may lag.
  std::uint64_t total(Event event) const { return counters_.total(static_cast<std::uint32_t>(event)); }

  WaitTable<W>& wait_table() { return wait_table_; }

  // Among the classes of its world (lock_order.h); 0 where nothing is checked.
  OrderPosition order_position() const { return order_position_; }

 protected:
  // For a class whose locks have no use in common, and so no order: they are checked as locks of no known class.
  void leave_order() {
    if constexpr (W::kChecksOrder) W::lock_order()->remove(order_position_);
    order_position_ = 0;
  }

 private:
  std::string_view name_;
  Plain<W, std::uint8_t> policy_;
  OrderPosition order_position_ = 0;  // set once
  Atomic<W, std::uint32_t> knobs_[kKnobCount];
  typename W::Counters counters_;
  WaitTable<W> wait_table_;
};

}  // namespace convoy
