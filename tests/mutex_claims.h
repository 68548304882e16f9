// mutex_claims.h — What the events of the mutexes must add up to once nobody waits.
// SPDX-License-Identifier: MIT
#pragma once

#include "locks/events.h"
#include "locks/lock_class.h"
#include "locks/world.h"

namespace convoy {

template <Host W>
void claim_mutex_identities(const LockClass<W>& lock_class) {
  const auto total = [&](Event event) { return lock_class.total(event); };
  const auto handoffs = total(Event::kMutexHandoff);
  W::require(total(Event::kMutexSlow) == total(Event::kMutexOptLock) + total(Event::kMutexOptFail),
             "mutex: slow = opt_lock + opt_fail");
  W::require(total(Event::kMutexOptFail) == total(Event::kMutexWait) + total(Event::kMutexLeave),
             "mutex: opt_fail = wait + leave");
  W::require(handoffs <= total(Event::kMutexAsk), "mutex: nobody is handed the lock unless asked");
  W::require(handoffs <= total(Event::kMutexWake), "mutex: who is handed the lock is woken");
  W::require(handoffs <= total(Event::kMutexWait), "mutex: who is handed the lock has it");
}

}  // namespace convoy
