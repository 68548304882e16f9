// std_mutex.h — The C++ library's mutex, as a baseline.
// SPDX-License-Identifier: MIT
//
// Real threads only: it reaches the operating system past its world. Fairness: none promised; glibc's is a barging
// futex lock.
#pragma once

#include <mutex>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world_real.h"

namespace convoy {

class CONVOY_CAPABILITY("std-mutex") StdMutex {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "std-mutex",
      .kind = Kind::kSleeping,
      .fairness = "barging (glibc)",
      .origin = "std::mutex",
  };
  explicit StdMutex(LockClass<RealWorld>&) {}
  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA { mutex_.lock(); }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return mutex_.try_lock(); }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace convoy
