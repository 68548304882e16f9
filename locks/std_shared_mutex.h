// std_shared_mutex.h — The C++ library's reader/writer mutex, as a baseline.
// SPDX-License-Identifier: MIT
//
// Real threads only: it reaches the operating system past its world. Fairness: none promised; glibc's prefers readers.
#pragma once

#include <shared_mutex>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world_real.h"

namespace convoy {

class CONVOY_CAPABILITY("std-shared-mutex") StdSharedMutex {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "std-shared-mutex",
      .kind = Kind::kSharedSleeping,
      .fairness = "reader preference (glibc)",
      .origin = "std::shared_mutex",
  };
  explicit StdSharedMutex(LockClass<RealWorld>&) {}
  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA { mutex_.lock(); }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return mutex_.try_lock(); }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA { mutex_.unlock(); }
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA { mutex_.lock_shared(); }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA { return mutex_.try_lock_shared(); }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

}  // namespace convoy
