// locktest_policies.h — The policies that locktest runs, chosen by name: one function each.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "loadgen/workloads/locktest.h"
#include "locks/any_lock.h"
#include "locks/lockable.h"
#include "locks/traits.h"

namespace convoy {

struct LocktestPolicy {
  PolicyTraits traits;
  bool shared;  // has a shared mode: reads are allowed
  LocktestOutcome (*run)(const LocktestLoad&);
};

// Compiles every policy of the list for world W: in one .cc file a world.
template <WorkloadHost W, class... Ps>
std::vector<LocktestPolicy> locktest_table(PolicyList<Ps...>) {
  return {LocktestPolicy{Ps::kTraits, SharedLockable<Ps>, run_locktest<W, Ps>}...};
}

}  // namespace convoy
