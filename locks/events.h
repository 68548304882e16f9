// events.h — The events that lock classes count: one line each, its name and exactly when it rises by one.
// SPDX-License-Identifier: MIT
//
// The page lock's identities, once nobody waits:
//   slow = late + woken + handoff + leave;  requeue <= wake - handoff;  acquisitions = fast + late + woken + handoff.
// At unfairness 0: woken = requeue = 0. At unfairness N: handoff = 0 in a run in which nobody loses N times.
//
// The rwsems' carry the kernel's names and meanings; its fast path counts nothing. Identities, once nobody waits:
//   opt_fail = wlock + wlock_fail where writers spin first, 0 where they do not;  wake_reader <= rlock;
//   wlock_ehandoff <= wlock_handoff + rlock_handoff: set for a reader that left, a hand-off falls to the writer behind;
//   reads = rlock + rlock_steal + rlock_fast + uncounted;  writes = opt_lock + wlock + uncounted.
//
// The mutexes':
//   slow = opt_lock + opt_fail;  opt_fail = wait + leave;  handoff <= ask, wake, wait;  mutex-3.12: ask = handoff = 0.
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
  X(kLockSlowpath, "lock_slowpath", "a thread queues for a qspinlock, with a node")                                    \
  X(kRwsemOptLock, "rwsem_opt_lock", "a writer got the lock by optimistic spinning")                                   \
  X(kRwsemOptFail, "rwsem_opt_fail", "a writer gave up spinning, or could not start: it queues")                       \
  X(kRwsemOptNospin, "rwsem_opt_nospin", "a spinner's time limit on readers passed, and it set nonspinnable")          \
  X(kRwsemRlock, "rwsem_rlock", "a reader got the lock after waiting in the queue")                                    \
  X(kRwsemRlockFast, "rwsem_rlock_fast", "a reader got it in the slow path: nobody queued, and no writer")             \
  X(kRwsemRlockSteal, "rwsem_rlock_steal", "a reader kept its bias on entry of the slow path: no writer, no hand-off") \
  X(kRwsemRlockFail, "rwsem_rlock_fail", "a reader left the queue at its deadline without the lock")                   \
  X(kRwsemRlockHandoff, "rwsem_rlock_handoff", "a waker set hand-off for a first reader that had waited too long")     \
  X(kRwsemWlock, "rwsem_wlock", "a writer got the lock in the queue")                                                  \
  X(kRwsemWlockFail, "rwsem_wlock_fail", "a writer left the queue at its deadline without the lock")                   \
  X(kRwsemWlockHandoff, "rwsem_wlock_handoff", "hand-off was set for a queued writer that had waited too long")        \
  X(kRwsemWlockEhandoff, "rwsem_wlock_ehandoff",                                                                       \
    "a waker found hand-off set and transferred the lock to the first writer")                                         \
  X(kRwsemSleepReader, "rwsem_sleep_reader", "a return from park in a reader's wait loop")                             \
  X(kRwsemSleepWriter, "rwsem_sleep_writer", "a return from park in a writer's wait loop")                             \
  X(kRwsemWakeReader, "rwsem_wake_reader", "a walk of the queue that granted at least one reader")                     \
  X(kRwsemWakeWriter, "rwsem_wake_writer", "the first writer is to be woken, without the lock; awake or not")          \
  X(kMutexSlow, "mutex_slow", "lock() enters its slow path: the first try failed")                                     \
  X(kMutexOptLock, "mutex_opt_lock", "the mutex was got by optimistic spinning, before queueing")                      \
  X(kMutexOptFail, "mutex_opt_fail", "a thread gives up spinning or may not start, and queues")                        \
  X(kMutexWait, "mutex_wait", "the mutex was got in the queue: by a try, by a first waiter's spinning, by hand-off")   \
  X(kMutexSleep, "mutex_sleep", "a return from park in the wait loop")                                                 \
  X(kMutexWake, "mutex_wake", "an unlock wakes the first waiter, by hand-off or not, asleep or not")                   \
  X(kMutexAsk, "mutex_ask", "the first waiter lost a try after a sleep and set the hand-off bit")                      \
  X(kMutexHandoff, "mutex_handoff", "an unlock made the first waiter the owner")                                       \
  X(kMutexLeave, "mutex_leave", "a waiter left at its deadline without the mutex")

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
