// events.h — The events that lock classes count: one line each, its name and exactly when it rises by one.
// SPDX-License-Identifier: MIT
//
// The page lock's identities, once nobody waits:
//   slow = late + woken + handoff + leave;  requeue <= wake - handoff;  acquisitions = fast + late + woken + handoff.
// At unfairness 0: woken = requeue = 0. At unfairness N: handoff = 0 in a run in which nobody loses N times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convoy {

// X(enumerator, name, +1 when)
#define CONVOY_LOCK_EVENTS(X)                                                                                          \
  X(kPageLockFast, "page_lock_fast", "the first try got the page lock")                                                \
  X(kPageLockSlow, "page_lock_slow", "lock() enters its slow path: the first try failed")                              \
  X(kPageLockLate, "page_lock_late", "a later try of the waiter's own, before anybody woke it, got the bit")           \
  X(kPageLockSleep, "page_lock_sleep", "a return from park in the wait loop")                                          \
  X(kPageLockWake, "page_lock_wake", "a waker marks an exclusive waiter woken, by hand-off or not")                    \
  X(kPageLockWoken, "page_lock_woken", "a woken waiter, not handed the lock, took the bit itself")                     \
  X(kPageLockRequeue, "page_lock_requeue", "a woken waiter found the bit taken and queues again: a theft it suffered") \
  X(kPageLockHandoff, "page_lock_handoff", "the waker took the bit for the waiter")                                    \
  X(kPageLockWindowSteal, "page_lock_window_steal", "a waker found the bit set again and woke nobody")                 \
  X(kPageLockLeave, "page_lock_leave", "a waiter left at its deadline without the lock")                               \
  X(kLockPending, "lock_pending", "a qspinlock was got by its pending bit")                                            \
  X(kLockSlowpath, "lock_slowpath", "a thread queues for a qspinlock, with a node")

enum class Event : std::uint8_t {
#define CONVOY_EVENT_ENUMERATOR(enumerator, name, when) enumerator,
  CONVOY_LOCK_EVENTS(CONVOY_EVENT_ENUMERATOR)
#undef CONVOY_EVENT_ENUMERATOR
};

struct EventInfo {
  std::string_view name;
  std::string_view when;
};

inline constexpr EventInfo kEvents[] = {
#define CONVOY_EVENT_INFO(enumerator, name, when) {name, when},
    CONVOY_LOCK_EVENTS(CONVOY_EVENT_INFO)
#undef CONVOY_EVENT_INFO
};
inline constexpr std::size_t kEventCount = sizeof(kEvents) / sizeof(kEvents[0]);

}  // namespace convoy
