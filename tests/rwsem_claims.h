// rwsem_claims.h — What the events of the rwsems must add up to once nobody waits.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "locks/events.h"
#include "locks/lock_class.h"
#include "locks/world.h"

namespace convoy {

// one_policy: all events are those of one policy, so that its writers spin before they queue, or never.
template <Host W>
void claim_rwsem_identities(const LockClass<W>& lock_class, bool one_policy = true) {
  const auto total = [&](Event event) { return lock_class.total(event); };
  const std::uint64_t queued = total(Event::kRwsemWlock) + total(Event::kRwsemWlockFail);
  const std::uint64_t spins = total(Event::kRwsemOptFail) + total(Event::kRwsemOptLock);
  W::require(total(Event::kRwsemOptFail) == queued || !one_policy || spins == 0,
             "opt_fail = wlock + wlock_fail, if writers spin");
  W::require(total(Event::kRwsemOptFail) <= queued, "opt_fail <= wlock + wlock_fail");
  W::require(total(Event::kRwsemOptNospin) <= total(Event::kRwsemOptFail), "opt_nospin <= opt_fail");
  W::require(total(Event::kRwsemWlockEhandoff) <= total(Event::kRwsemWlock), "wlock_ehandoff <= wlock");
  W::require(total(Event::kRwsemWlockEhandoff) <= total(Event::kRwsemWlockHandoff) + total(Event::kRwsemRlockHandoff),
             "wlock_ehandoff <= wlock_handoff, but for what was set for a reader that left");
  W::require(total(Event::kRwsemWakeReader) <= total(Event::kRwsemRlock), "every walk that counts granted a reader");
  W::require(total(Event::kRwsemRlock) == 0 || total(Event::kRwsemWakeReader) > 0, "a waker granted every rlock");
}

// With the number of acquisitions in each mode: what is over did not come through a slow path, and is not counted.
// Requires: nothing else has taken a lock of the class.
template <Host W>
void claim_rwsem_identities(const LockClass<W>& lock_class, std::uint64_t writes, std::uint64_t reads) {
  claim_rwsem_identities<W>(lock_class);
  const auto total = [&](Event event) { return lock_class.total(event); };
  W::require(total(Event::kRwsemOptLock) + total(Event::kRwsemWlock) <= writes,
             "writes = opt_lock + wlock + uncounted");
  W::require(total(Event::kRwsemRlock) + total(Event::kRwsemRlockSteal) + total(Event::kRwsemRlockFast) <= reads,
             "reads = rlock + rlock_steal + rlock_fast + uncounted");
}

}  // namespace convoy
