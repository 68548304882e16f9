// none.h — No lock at all.
// SPDX-License-Identifier: MIT
//
// Every operation is empty, so a bench that runs one thread under it measures its own loop: what the harness costs.
// It excludes nobody, and therefore stands in no list of policies.h. Fairness: none.
#pragma once

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world_real.h"

namespace convoy {

class CONVOY_CAPABILITY("none") None {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "none",
      .kind = Kind::kNone,
      .fairness = "none",
      .origin = "a single-threaded bench",
  };
  explicit None(LockClass<RealWorld>&) {}
  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {}
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return true; }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {}
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {}
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA { return true; }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {}
};

}  // namespace convoy
