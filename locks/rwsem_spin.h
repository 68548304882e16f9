// rwsem_spin.h — Optimistic spinning of the writers of an rwsem.
// SPDX-License-Identifier: MIT
//
// A writer that finds the lock taken spins while its owner has a core: it will soon let go, and a sleep and a wake-up
// would cost more than the wait. Spinners queue in the OSQ; only the head looks at the lock, and takes it when it is
// free, *ahead of those who sleep in the queue*. That is writer stealing, which the throughput of a contended rwsem
// lives on. Hand-off keeps spinners out, nonspinnable sends them to the queue.
//
// While readers own the lock nobody can say whether one of them sleeps, since the owner word names only one; so there
// the head spins for a limited time, then marks the lock nonspinnable. Readers never spin.
//
// Origin: Linux 6.3-rc, rwsem_optimistic_spin(), without real-time tasks. Changed: what the kernel polls in turns,
// count and owner, is one spin on either word.
//
// What a spinner looks at is out of date at once, so its loads are relaxed; only the step that takes the lock is not.
//
// Synchronizes-with
//   A: see rwsem_engine.h
#pragma once

#include <algorithm>
#include <cstdint>

#include "osq.h"
#include "rwsem_word.h"
#include "world.h"

namespace convoy {

template <World W, int kReaderBits>
class RwsemSpin : public RwsemWord<W, kReaderBits> {
  using Base = RwsemWord<W, kReaderBits>;

 protected:
  using Base::Base;
  using Base::class_;
  using Base::count_;
  using Base::osq_;
  using Base::owner_;
  using typename Base::Count;
  using typename Base::Owner;
  using typename Base::Waiter;

  // True with the lock; false when the caller must queue. Counts opt_lock or opt_fail, and nothing else of the two.
  bool spin_optimistically() {
    const bool acquired = can_spin() && spin_in_turn();
    class_.count(acquired ? Event::kRwsemOptLock : Event::kRwsemOptFail);
    return acquired;
  }

  // Spins while a writer owns the lock and has a core. Returns the owner word that was seen in the end; kNonspinnable
  // when the owner lost its core, this core is wanted, or the owner is the caller, to whom a waker gave the lock.
  std::uint64_t spin_on_owner() {
    const std::uint64_t seen = owner_.load(relaxed);
    if (Owner::state(seen) != RwsemOwner::kWriter) return seen;
    if (seen == Owner::of(W::self())) return Owner::kNonspinnable;
    const Spin end = W::spin_for(
        owner_, relaxed, [seen](std::uint64_t owner) { return owner != seen; },
        SpinLimit{.owner = Owner::thread(seen), .optimistic = true});
    return end == Spin::kSatisfied ? owner_.load(relaxed) : Owner::kNonspinnable;
  }

 private:
  // The kernel's figures: 10 us, and half a microsecond for each reader up to 30.
  static constexpr std::uint64_t kReaderSpinNs = 10'000;
  static constexpr std::uint64_t kReaderSpinNsEach = 500;
  static constexpr std::uint64_t kReadersCounted = 30;

  bool can_spin() {
    if (W::should_yield()) return false;
    const std::uint64_t owner = owner_.load(relaxed);
    const RwsemOwner state = Owner::state(owner);
    return state != RwsemOwner::kNotSpinnable && (state != RwsemOwner::kWriter || W::is_running(Owner::thread(owner)));
  }

  bool spin_in_turn() {
    const typename W::NoPreempt no_preempt;
    typename Osq<W>::Spinner spinner(osq_);
    if (!spinner.lock()) return false;
    const bool acquired = spin_at_head();
    spinner.unlock();
    return acquired;
  }

  bool spin_at_head() {
    Deadline reader_limit = kNever;
    for (;;) {
      const std::uint64_t owner = spin_on_owner();
      const RwsemOwner state = Owner::state(owner);
      if (state == RwsemOwner::kNotSpinnable) return false;
      std::uint64_t count = 0;
      if (try_steal(count)) return true;
      if (state != RwsemOwner::kReader) {
        reader_limit = kNever;
      } else if (reader_limit == kNever) {
        reader_limit = limit_on_readers(count);
      }
      if (state == RwsemOwner::kWriter) continue;  // a new one
      const Spin end = await_change(count, owner, reader_limit);
      if (end == Spin::kTimeIsUp) return give_up_on_readers();
      if (end != Spin::kSatisfied) return false;
    }
  }

  // Takes a lock that nobody holds and that no hand-off keeps, past those who sleep in the queue. `count` is what
  // refused it.
  bool try_steal(std::uint64_t& count) {
    count = count_.load(relaxed);  // relaxed: a first guess
    while ((count & (Count::kLocked | Count::kHandoff)) == 0) {
      if (count_.compare_exchange(count, count | Count::kWriter, acquire)) {  // A0
        Base::own(W::self());
        return true;
      }
    }
    return false;
  }

  static Deadline limit_on_readers(std::uint64_t count) {
    return W::deadline_in(kReaderSpinNs + kReaderSpinNsEach * std::min(Count::readers(count), kReadersCounted));
  }

  // Until the next turn has something new to look at: of the two words, either may lag behind the other.
  Spin await_change(std::uint64_t count, std::uint64_t owner, Deadline until) {
    return W::spin_for_either(
        count_, [count](std::uint64_t now) { return now != count; },  //
        owner_, [owner](std::uint64_t now) { return now != owner; },  //
        SpinLimit{.until = until, .optimistic = true});
  }

  bool give_up_on_readers() {
    Base::set_nonspinnable_if_reader_owned();
    class_.count(Event::kRwsemOptNospin);
    return false;
  }
};

}  // namespace convoy
