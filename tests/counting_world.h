// counting_world.h — RealWorld with a count of the read-modify-writes of each thread: what a lock costs, by itself.
// SPDX-License-Identifier: MIT
//
// Counted is every exchange, compare_exchange (failed ones too) and fetch_* of an Atomic: the operations that need the
// line exclusively and wait for the stores before them. Loads and stores are not, nor what RealWorld does inside
// itself for a thread that waits (park words, the locks of wait queues).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "locks/lock_class.h"
#include "locks/lockable.h"
#include "locks/policies.h"
#include "locks/world_real.h"

namespace convoy {

class CountingWorld : public RealWorld {
 public:
  template <class T>
  class Atomic : public RealWorld::Atomic<T> {
    using Base = RealWorld::Atomic<T>;

   public:
    constexpr Atomic(T value = T{}) : Base(value) {}
    T exchange(T v, AnyOrder auto order) { return ++count_, Base::exchange(v, order); }
    bool compare_exchange(T& expected, T desired, AnyOrder auto order) {
      return ++count_, Base::compare_exchange(expected, desired, order);
    }
    T fetch_add(T v, AnyOrder auto order) { return ++count_, Base::fetch_add(v, order); }
    T fetch_sub(T v, AnyOrder auto order) { return ++count_, Base::fetch_sub(v, order); }
    T fetch_or(T v, AnyOrder auto order) { return ++count_, Base::fetch_or(v, order); }
    T fetch_and(T v, AnyOrder auto order) { return ++count_, Base::fetch_and(v, order); }
  };

  // By this thread so far.
  static std::uint64_t read_modify_writes() { return count_; }

 private:
  static inline constinit thread_local std::uint64_t count_ = 0;
};
static_assert(World<CountingWorld>);

// Read-modify-writes of an uncontended lock + unlock.
struct LockCost {
  std::uint64_t exclusive = 0;
  std::optional<std::uint64_t> shared;  // none without a shared mode
};

template <class P>
LockCost count_cost(std::type_identity<P>) CONVOY_NO_TSA {
  LockClass<CountingWorld> lock_class("counted");
  P lock(lock_class);
  LockCost cost;
  // The second time, when the thread and its nodes are known.
  for (int i = 0; i < 2; ++i) {
    const std::uint64_t before = CountingWorld::read_modify_writes();
    lock.lock();
    lock.unlock();
    cost.exclusive = CountingWorld::read_modify_writes() - before;
    if constexpr (SharedLockable<P>) {
      const std::uint64_t before_shared = CountingWorld::read_modify_writes();
      lock.lock_shared();
      lock.unlock_shared();
      cost.shared = CountingWorld::read_modify_writes() - before_shared;
    }
  }
  return cost;
}

// By the name of the policy; those of the C++ library cannot be counted so.
inline std::map<std::string_view, LockCost> lock_costs() {
  const auto count_all = []<class... Ps>(PolicyList<Ps...>) {
    return std::map<std::string_view, LockCost>{{Ps::kTraits.name, count_cost(std::type_identity<Ps>{})}...};
  };
  return count_all(WorldPolicies<CountingWorld>{});
}

}  // namespace convoy
