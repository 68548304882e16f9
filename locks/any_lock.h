// any_lock.h — A lock that is any one of a list of policies, chosen by its class at run time.
// SPDX-License-Identifier: MIT
//
// The policy stands in place: no pointer, no virtual call. The first policy of the list costs one well predicted branch
// over using it directly (4.05 against 4.04 ns uncontended, AMD EPYC, 2026); the others a chain of compares more.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "annotations.h"
#include "lock_class.h"
#include "lockable.h"
#include "traits.h"
#include "world.h"

namespace convoy {

// A list of policies; policies.h has the lists.
template <class... Ps>
struct PolicyList {
  static constexpr std::size_t kSize = sizeof...(Ps);
};

template <World W, class List>
class AnyLock;

template <World W, Lockable... Ps>
class CONVOY_CAPABILITY("any lock") AnyLock<W, PolicyList<Ps...>> {
 public:
  // The class's policy is the position of a policy in the list.
  explicit AnyLock(LockClass<W>& lock_class) : class_(&lock_class) {
    emplace(class_->policy(), std::index_sequence_for<Ps...>{});
  }
  ~AnyLock() { destroy(std::index_sequence_for<Ps...>{}); }
  AnyLock(const AnyLock&) = delete;
  AnyLock& operator=(const AnyLock&) = delete;

  // Becomes a free lock of the policy at `position`. Requires: nobody holds it, waits for it or is inside unlock()
  // (Quiescence::run), and the class still has the policy it had; who calls it gives the class the new one once all of
  // its locks are reset.
  void reset(std::uint8_t position) {
    destroy(std::index_sequence_for<Ps...>{});
    emplace(position, std::index_sequence_for<Ps...>{});
  }

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    visit([](auto& l) CONVOY_NO_TSA { l.lock(); });
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return visit([](auto& l) CONVOY_NO_TSA { return l.try_lock(); });
  }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    visit([](auto& l) CONVOY_NO_TSA { l.unlock(); });
  }
  // A policy without a shared mode takes the lock exclusively.
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    visit([]<class L>(L& l) CONVOY_NO_TSA {
      if constexpr (SharedLockable<L>) {
        l.lock_shared();
      } else {
        l.lock();
      }
    });
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    return visit([]<class L>(L& l) CONVOY_NO_TSA {
      if constexpr (SharedLockable<L>) {
        return l.try_lock_shared();
      } else {
        return l.try_lock();
      }
    });
  }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {
    visit([]<class L>(L& l) CONVOY_NO_TSA {
      if constexpr (SharedLockable<L>) {
        l.unlock_shared();
      } else {
        l.unlock();
      }
    });
  }
  bool is_locked() const requires(PageLockable<Ps>&&...) {
    return const_cast<AnyLock*>(this)->visit([](auto& l) { return l.is_locked(); });
  }
  LockClass<W>& lock_class() { return *class_; }
  // Of the policy that it has at the moment.
  const PolicyTraits& traits() const { return *kTraitsOf[class_->policy()]; }

 private:
  using First = std::tuple_element_t<0, std::tuple<Ps...>>;
  static constexpr const PolicyTraits* kTraitsOf[] = {&Ps::kTraits...};

  template <std::size_t... I>
  void emplace(std::uint8_t position, std::index_sequence<I...>) {
    (void)((position == I && (new (storage_) Ps(*class_), true)) || ...);
  }
  template <std::size_t... I>
  void destroy(std::index_sequence<I...>) {
    (void)((class_->policy() == I && (std::destroy_at(&as<Ps>()), true)) || ...);
  }

  template <class F>
  [[gnu::always_inline]] auto visit(F f) -> decltype(f(std::declval<First&>())) {
    if (class_->policy() == 0) [[likely]]
      return f(as<First>());
    return visit_rest<F, Ps...>(f, 0);
  }
  // The position counts up to the class's; the last policy needs no test.
  template <class F, class P, class... Rest>
  [[gnu::noinline]] auto visit_rest(F& f, std::uint8_t position) -> decltype(f(std::declval<First&>())) {
    if constexpr (sizeof...(Rest) == 0) {
      return f(as<P>());
    } else {
      if (class_->policy() == position) return f(as<P>());
      return visit_rest<F, Rest...>(f, static_cast<std::uint8_t>(position + 1));
    }
  }
  template <class P>
  P& as() {
    return *std::launder(reinterpret_cast<P*>(storage_));
  }

  LockClass<W>* class_;
  alignas(Ps...) std::byte storage_[std::max({sizeof(Ps)...})];
};

}  // namespace convoy
