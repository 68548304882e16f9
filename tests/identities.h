// identities.h — What the events of a lock class must add up to once nobody waits: one block per family of locks.
// SPDX-License-Identifier: MIT
//
// Goal: counters that can be believed. Method: the identities of events.h, claimed at the end of every scenario,
// whatever its policy: a family that was not used has counted nothing, and its identities hold with zeros.
#pragma once

#include <cstdint>

#include "locks/events.h"
#include "locks/lock_class.h"
#include "locks/world.h"
#include "tests/mutex_claims.h"
#include "tests/rwsem_claims.h"

namespace convoy {

// How often locks of the class were acquired, in all.
struct Acquisitions {
  std::uint64_t exclusive = 0;
  std::uint64_t shared = 0;
};

// What can be said without knowing how often. one_policy: the class had the same policy all the time.
template <Host W>
void claim_identities(const LockClass<W>& lock_class, bool one_policy = true) {
  const auto total = [&](Event event) { return lock_class.total(event); };

  W::require(total(Event::kPageLockSlow) == total(Event::kPageLockLate) + total(Event::kPageLockWoken) +
                                                total(Event::kPageLockHandoff) + total(Event::kPageLockLeave),
             "slow = late + woken + handoff + leave");
  W::require(total(Event::kPageLockRequeue) <= total(Event::kPageLockWake) - total(Event::kPageLockHandoff),
             "requeue <= wake - handoff");
  claim_rwsem_identities<W>(lock_class, one_policy);
  claim_mutex_identities<W>(lock_class);
}

// And what can be said with it. Requires: nothing else has taken a lock of the class.
template <Host W>
void claim_identities(const LockClass<W>& lock_class, Acquisitions done) {
  claim_identities<W>(lock_class);
  const auto total = [&](Event event) { return lock_class.total(event); };

  const std::uint64_t page_locks = total(Event::kPageLockFast) + total(Event::kPageLockLate) +
                                   total(Event::kPageLockWoken) + total(Event::kPageLockHandoff);
  W::require(page_locks == 0 || page_locks == done.exclusive, "acquisitions = fast + late + woken + handoff");
  W::require(total(Event::kLockPending) + total(Event::kLockSlowpath) <= done.exclusive + done.shared,
             "an acquisition waits for one qspinlock at most, by its pending bit or in its queue");
  claim_rwsem_identities<W>(lock_class, done.exclusive, done.shared);
}

}  // namespace convoy
