// tas.h — Test-and-set spinlock.
// SPDX-License-Identifier: MIT
//
// lock: exchange the word until it was free. Every poll of every waiter is a write, so the line travels from waiter to
// waiter without pause and the holder's release queues behind them: the textbook's worst case, there to be compared
// with. Fairness: none. Needs a core per thread. Origin: "spin on test-and-set" in T. Anderson, IEEE TPDS 1990.
// Changed: RealWorld pauses between polls.
//
// State word: 0 free, 1 locked. Synchronizes-with: A: A1 unlock → A0 lock (critical section).
#pragma once

#include <cstdint>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("tas") Tas {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "tas",
      .kind = Kind::kSpinning,
      .fairness = "barging, unbounded",
      .origin = "Anderson 1990",
      .needs_core_per_thread = true,
  };
  explicit Tas(LockClass<W>&) {}
  Tas(const Tas&) = delete;
  Tas& operator=(const Tas&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    W::await_exchange(word_, kLocked, acquire, [](std::uint32_t old) { return old != kLocked; });  // A0
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return word_.exchange(kLocked, acquire) != kLocked; }  // A0
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    if constexpr (W::kDebugChecks) {  // a load before the store would fetch a contended line twice
      if (!is_locked()) W::panic("tas: unlock of a lock that is not held");
    }
    word_.store(kFree, release);  // A1
  }
  bool is_locked() const { return word_.load(relaxed) != kFree; }  // relaxed: a hint

 private:
  static constexpr std::uint32_t kFree = 0;
  static constexpr std::uint32_t kLocked = 1;

  Atomic<W, std::uint32_t> word_{kFree};
};

}  // namespace convoy
