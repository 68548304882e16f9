// std_lock.h — A lock of one policy for real threads, used as std::mutex is: no lock class, no argument.
// SPDX-License-Identifier: MIT
//
//   convoy::Lock<convoy::Bounded<convoy::RealWorld>> accounts_lock;
//   const std::scoped_lock both(accounts_lock, other_lock);
//
// It has the standard's words, so std::scoped_lock, unique_lock, shared_lock (where the policy has a shared mode),
// lock() of several and condition_variable_any take it; a policy that waits until a deadline is a standard timed mutex
// as well. Locks that are made without a class share one of their policy: its knobs, wait queues and events.
#pragma once

#include <chrono>
#include <cstdint>

#include "annotations.h"
#include "lock_class.h"
#include "lockable.h"
#include "world_real.h"

namespace convoy {

// P is a policy of RealWorld.
template <Lockable P>
class Lock : public P {
  struct DefaultClass : LockClass<RealWorld> {
    DefaultClass() : LockClass(P::kTraits.name) { leave_order(); }
  };

 public:
  static LockClass<RealWorld>& default_class() { return RealWorld::shared<DefaultClass>(); }

  Lock() : P(default_class()) {}
  explicit Lock(LockClass<RealWorld>& lock_class) : P(lock_class) {}

  CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA bool try_lock_until(Deadline deadline) requires TimedLockable<P> {
    return P::try_lock_until(deadline);
  }
  template <class Rep, class Period>
  requires TimedLockable<P>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& patience) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return P::try_lock_until(deadline_after(patience));
  }
  // By a clock that is set meanwhile the wait may be shorter or longer.
  template <class Clock, class Duration>
  requires TimedLockable<P>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& end) CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    return P::try_lock_until(deadline_at(end));
  }

  CONVOY_TRY_ACQUIRE_SHARED(true)
  CONVOY_NO_TSA bool try_lock_shared_until(Deadline deadline) requires SharedTimedLockable<P> {
    return P::try_lock_shared_until(deadline);
  }
  template <class Rep, class Period>
  requires SharedTimedLockable<P>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& patience)
      CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    return P::try_lock_shared_until(deadline_after(patience));
  }
  template <class Clock, class Duration>
  requires SharedTimedLockable<P>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& end)
      CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    return P::try_lock_shared_until(deadline_at(end));
  }

 private:
  using Roughly = std::chrono::duration<double, std::nano>;

  // Whatever the unit: what lies further ahead than 64 bits of nanoseconds can say has no end.
  template <class Rep, class Period>
  static Deadline deadline_after(const std::chrono::duration<Rep, Period>& patience) {
    const double roughly = Roughly(patience).count();
    if (roughly >= 9e18) return kNever;
    if (!(roughly > 0)) return RealWorld::deadline_in(0);
    return RealWorld::deadline_in(
        static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::nanoseconds>(patience).count()));
  }
  // Far from now the exact difference may not fit; near to it a rough one is not enough.
  template <class Clock, class Duration>
  static Deadline deadline_at(const std::chrono::time_point<Clock, Duration>& end) {
    const auto now = Clock::now();
    const Roughly left = Roughly(end.time_since_epoch()) - Roughly(now.time_since_epoch());
    constexpr Roughly kFar = std::chrono::hours(24);
    return left < -kFar || left > kFar ? deadline_after(left) : deadline_after(end - now);
  }
};

}  // namespace convoy
