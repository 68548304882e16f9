// ttas.h — Test-and-test-and-set spinlock.
// SPDX-License-Identifier: MIT
//
// lock: exchange the word; while it was taken, await a free one by plain reads, so that waiters share the line instead
// of fighting for it, and exchange again. Every release makes all waiters miss at once. Fairness: none. Needs a core
// per thread: a preempted holder stalls every spinner. Origin: Rudolph and Segall, ISCA 1984. Changed: nothing.
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
class CONVOY_CAPABILITY("ttas") Ttas {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "ttas",
      .kind = Kind::kSpinning,
      .fairness = "barging, unbounded",
      .origin = "Rudolph and Segall 1984",
      .needs_core_per_thread = true,
  };
  explicit Ttas(LockClass<W>&) {}
  Ttas(const Ttas&) = delete;
  Ttas& operator=(const Ttas&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    while (!try_lock()) W::await(word_, relaxed, [](std::uint32_t w) { return w == 0; });  // relaxed: A0 follows
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA { return word_.exchange(1, acquire) == 0; }  // A0
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    if constexpr (W::kDebugChecks) {  // a load before the store would fetch a contended line twice
      if (!is_locked()) W::panic("ttas: unlock of a lock that is not held");
    }
    word_.store(0, release);  // A1
  }
  bool is_locked() const { return word_.load(relaxed) != 0; }  // relaxed: a hint

 private:
  Atomic<W, std::uint32_t> word_{0};
};

}  // namespace convoy
