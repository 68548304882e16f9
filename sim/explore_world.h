// explore_world.h — The world of the explorer: an atomic operation is a step, what the schedule decides is a choice.
// SPDX-License-Identifier: MIT
//
// Executed with sequential consistency, or as x86 would, with stores that are delayed; what an order does not promise
// is found as a data race on Plain data (explorer.h). A park may return spuriously once per schedule, a deadline may
// pass at any moment, and once passed it stays passed.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "locks/events.h"
#include "locks/lock_order.h"
#include "locks/spare_nodes.h"
#include "locks/world.h"
#include "sim/explorer.h"
#include "sim/ladder_words.h"
#include "sim/spin_ends.h"

namespace convoy {

class ExploreWorld {
  static Explorer& explorer() { return Explorer::current(); }
  template <class T>
  static std::string show(T value) {
    return convoy::show(explorer(), value);
  }

 public:
  static constexpr std::size_t kWaitQueues = 1;
  static constexpr bool kChecksOrder = true;
  static constexpr bool kDebugChecks = false;

  template <class T>
  class Atomic {
   public:
    Atomic(T value = T{}) : value_(value) { explorer().constructed(this); }
    ~Atomic() { explorer().destroyed(this); }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    template <LoadOrder O>
    T load(O order, Loc loc = Loc::here()) const {
      explorer().step();
      return read(order, loc, "load");
    }
    template <StoreOrder O>
    void store(T value, O order, Loc loc = Loc::here()) {
      explorer().step();
      if constexpr (std::is_same_v<O, SeqCst>) {
        explorer().fence();
      } else if (explorer().delay_store(this, bits_of(value), &Atomic::write_delayed, releases(order), loc)) {
        if (explorer().tracing()) explorer().trace(loc, fmt::format("store {}, delayed", show(value)));
        return;
      }
      explorer().atomic_write(this, releases(order), loc);
      note(loc, "store", value_, value);
      value_ = value;
    }
    template <AnyOrder O>
    T exchange(T value, O order, Loc loc = Loc::here()) {
      return modify(order, loc, "exchange", [value](T) { return value; });
    }
    template <AnyOrder O>
    bool compare_exchange(T& expected, T desired, O order, Loc loc = Loc::here()) {
      explorer().step();
      explorer().fence();
      if (value_ != expected) {
        expected = read(relaxed, loc, "compare_exchange fails");
        return false;
      }
      explorer().atomic_rmw(this, acquires(order), releases(order), loc);
      note(loc, "compare_exchange", value_, desired);
      value_ = desired;
      return true;
    }
    template <AnyOrder O>
    T fetch_add(T operand, O order, Loc loc = Loc::here()) {
      return modify(order, loc, "fetch_add", [operand](T v) { return static_cast<T>(v + operand); });
    }
    template <AnyOrder O>
    T fetch_sub(T operand, O order, Loc loc = Loc::here()) {
      return modify(order, loc, "fetch_sub", [operand](T v) { return static_cast<T>(v - operand); });
    }
    template <AnyOrder O>
    T fetch_or(T operand, O order, Loc loc = Loc::here()) {
      return modify(order, loc, "fetch_or", [operand](T v) { return static_cast<T>(v | operand); });
    }
    template <AnyOrder O>
    T fetch_and(T operand, O order, Loc loc = Loc::here()) {
      return modify(order, loc, "fetch_and", [operand](T v) { return static_cast<T>(v & operand); });
    }

   private:
    friend ExploreWorld;
    static std::uint64_t bits_of(T value) {
      static_assert(sizeof(T) <= sizeof(std::uint64_t));
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      return bits;
    }
    // What the thread would read.
    T seen_by(int thread) const {
      T value = value_;
      if (const auto* own = explorer().delayed_value(thread, this); own != nullptr)
        std::memcpy(&value, own, sizeof value);
      return value;
    }
    static void write_delayed(const void* atomic, std::uint64_t bits, Loc loc) {
      auto* self = const_cast<Atomic*>(static_cast<const Atomic*>(atomic));
      T value;
      std::memcpy(&value, &bits, sizeof value);
      self->note(loc, "delayed store reaches the memory:", self->value_, value);
      self->value_ = value;
    }
    template <class O>
    T read(O order, Loc loc, const char* operation) const {
      if (explorer().delayed_value(explorer().running(), this) != nullptr) {
        explorer().delayed_read(this, loc);
      } else {
        explorer().atomic_read(this, acquires(order), loc);
      }
      const T value = seen_by(explorer().running());
      if (explorer().tracing()) explorer().trace(loc, fmt::format("{} {}", operation, show(value)));
      return value;
    }
    template <class O, class F>
    T modify(O order, Loc loc, const char* operation, F f) {
      explorer().step();
      return modify_now(order, loc, operation, f);
    }
    template <class O, class F>
    T modify_now(O order, Loc loc, const char* operation, F f) {
      explorer().fence();
      explorer().atomic_rmw(this, acquires(order), releases(order), loc);
      const T old = value_;
      value_ = f(old);
      note(loc, operation, old, value_);
      return old;
    }
    void note(Loc loc, const char* operation, T from, T to) const {
      if (explorer().tracing()) explorer().trace(loc, fmt::format("{} {} -> {}", operation, show(from), show(to)));
    }
    T value_;
  };

  template <class T>
  class Plain {
   public:
    Plain(T value = T{}) : value_(value) { explorer().constructed(this); }
    ~Plain() { explorer().destroyed(this); }
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    Plain& operator=(T value) {
      explorer().plain_write(this);
      value_ = value;
      return *this;
    }
    operator T() const {
      explorer().plain_read(this);
      return value_;
    }
    T operator->() const { return static_cast<T>(*this); }

   private:
    T value_;
  };

  // Taking it is one step; letting it go is none, because the next step of the thread is a switch point anyway.
  class SpinLock {
   public:
    SpinLock() { explorer().constructed(this); }
    ~SpinLock() { explorer().destroyed(this); }
    SpinLock(const SpinLock&) = delete;
    SpinLock& operator=(const SpinLock&) = delete;
    void lock(Loc loc = Loc::here()) {
      explorer().step([this] { return !held_; });
      explorer().fence();
      explorer().atomic_rmw(this, true, false, loc);
      if (explorer().tracing()) explorer().trace(loc, "spin lock taken");
      held_ = true;
    }
    void unlock(Loc loc = Loc::here()) {
      explorer().step_to_fence();
      explorer().atomic_rmw(this, false, true, loc);
      if (explorer().tracing()) explorer().trace(loc, "spin lock released");
      held_ = false;
    }

   private:
    bool held_ = false;
  };

  struct NoPreempt {
    NoPreempt() {}
    ~NoPreempt() {}
  };

  class Counters {
   public:
    void add(std::uint32_t event) { ++events_[event]; }
    std::uint64_t total(std::uint32_t event) const { return events_[event]; }

   private:
    std::array<std::uint64_t, kEventCount> events_{};
  };

  static Thread self() { return Thread{static_cast<std::uint32_t>(explorer().running())}; }

  template <class T, LoadOrder O, class Predicate>
  static T await(const Atomic<T>& word, O order, Predicate predicate, Loc loc = Loc::here()) {
    explorer().step([&, me = explorer().running()] { return static_cast<bool>(predicate(word.seen_by(me))); });
    return word.read(order, loc, "await");
  }

  // A poll that fails changes nothing, so only the last one is a step.
  template <class T, AnyOrder O, class Predicate>
  static T await_exchange(Atomic<T>& word, T value, O order, Predicate predicate, Loc loc = Loc::here()) {
    explorer().step([&, me = explorer().running()] { return static_cast<bool>(predicate(word.seen_by(me))); });
    return word.modify_now(order, loc, "await_exchange", [value](T) { return value; });
  }

  template <class T, class TestT, class U, class TestU>
  static void await_either(const Atomic<T>& one, TestT one_holds, const Atomic<U>& other, TestU other_holds,
                           Loc loc = Loc::here()) {
    explorer().step(
        [&, me = explorer().running()] { return one_holds(one.seen_by(me)) || other_holds(other.seen_by(me)); });
    one.read(relaxed, loc, "await_either");
    other.read(relaxed, loc, "or");
  }

  // A spin that waits for a thread ends when that one sleeps; see spin_ends.h for its other ends.
  template <class T, LoadOrder O, class Predicate>
  static Spin spin_for(const Atomic<T>& word, O order, Predicate predicate, SpinLimit limit, Loc loc = Loc::here()) {
    explorer().step(
        [&, me = explorer().running()] { return predicate(word.seen_by(me)) || owner_sleeps(explorer(), limit); },
        patience_of(limit));
    return predicate(word.read(order, loc, "spin_for")) ? Spin::kSatisfied : end_of_spin(limit, loc);
  }
  template <class T, class TestT, class U, class TestU>
  static Spin spin_for_either(const Atomic<T>& one, TestT one_holds, const Atomic<U>& other, TestU other_holds,
                              SpinLimit limit, Loc loc = Loc::here()) {
    explorer().step(
        [&, me = explorer().running()] {
          return one_holds(one.seen_by(me)) || other_holds(other.seen_by(me)) || owner_sleeps(explorer(), limit);
        },
        patience_of(limit));
    const bool one_is = one_holds(one.read(relaxed, loc, "spin_for_either"));
    const bool other_is = other_holds(other.read(relaxed, loc, "or"));
    return one_is || other_is ? Spin::kSatisfied : end_of_spin(limit, loc);
  }

  // A thread that sleeps has no core; any other may have lost it.
  static bool is_running(Thread thread, Loc loc = Loc::here()) {
    const int other = static_cast<int>(thread.index);
    explorer().step();
    explorer().atomic_read(explorer().park_object(other), false, loc);
    const bool running = !explorer().asleep(other) && !explorer().lose_core();
    if (explorer().tracing()) explorer().trace(loc, fmt::format("thread {} {}", other, running ? "runs" : "no core"));
    return running;
  }
  static bool should_yield(Loc loc = Loc::here()) {
    const bool yield = explorer().lose_core();
    if (explorer().tracing()) explorer().trace(loc, yield ? "should yield" : "need not yield");
    return yield;
  }

  static void prepare_park(Loc loc = Loc::here()) {
    const int me = explorer().running();
    explorer().step();
    explorer().fence();
    explorer().atomic_rmw(explorer().park_object(me), false, false, loc);
    explorer().park_permit(me) = false;
    if (explorer().tracing()) explorer().trace(loc, "prepare_park");
  }
  static void park(Loc loc = Loc::here()) { sleep(Explorer::Patience::kMayWakeSpuriously, loc); }
  static bool park_until(Deadline deadline, Loc loc = Loc::here()) {
    if (deadline == kNever) return park(loc), true;
    explorer().step_to_fence();
    if (has_passed(deadline, loc)) {
      explorer().park_permit(explorer().running()) = true;
      return false;
    }
    if (sleep(Explorer::Patience::kMayTimeOut, loc) != Explorer::Wake::kTimeout) return true;
    if (!has_passed(deadline, loc)) explorer().pass_deadline(deadline.ticks);
    return false;
  }
  static bool unpark(Thread thread, Loc loc = Loc::here()) {
    const int target = static_cast<int>(thread.index);
    explorer().step();
    explorer().fence();
    explorer().atomic_rmw(explorer().park_object(target), false, false, loc);
    const bool was_awake = std::exchange(explorer().park_permit(target), true);
    if (explorer().tracing())
      explorer().trace(loc, fmt::format("unpark thread {}{}", target, was_awake ? ", awake" : ""));
    return !was_awake;
  }

  static Deadline deadline_in(std::uint64_t) { return Deadline{explorer().new_deadline()}; }
  // Who asks first decides it for all who ask later, whichever thread they are.
  static bool expired(Deadline deadline, Loc loc = Loc::here()) {
    if (deadline == kNever) return false;
    explorer().step();
    const bool passed = has_passed(deadline, loc) || explorer().choose(2) == 1;
    if (passed) explorer().pass_deadline(deadline.ticks);
    if (explorer().tracing()) explorer().trace(loc, passed ? "expired" : "not expired");
    return passed;
  }

  // A node that comes back to its thread holds what it held, as in RealWorld, but is new to everybody else.
  template <class Node>
  static Node* take_spare(Loc loc = Loc::here()) {
    explorer().count_spares(1);
    Node* node = explorer().spares().take<Node>();
    if (node != nullptr) {
      if constexpr (!kTypeStable<Node>) explorer().revive(node, sizeof(Node));
    } else {
      using Spare = SpareNodes::Spare<Node>;
      node = new (explorer().spare_memory(sizeof(Spare), alignof(Spare))) Spare;
    }
    if (explorer().tracing()) explorer().trace(loc, fmt::format("takes spare node {}", show(node)));
    return node;
  }
  template <class Node>
  static void give_spare(Node* node, Loc loc = Loc::here()) {
    if (explorer().tracing()) explorer().trace(loc, fmt::format("gives node {} back", show(node)));
    if constexpr (!kTypeStable<Node>) explorer().retire(node, sizeof(Node));
    explorer().spares().give(node);
    explorer().count_spares(-1);
  }

  static std::uint32_t coin(std::uint32_t n) {
    return static_cast<std::uint32_t>(explorer().choose(static_cast<int>(n)));
  }

  template <class T>
  static T& shared() {
    return explorer().shared<T>();
  }

  static std::uint64_t ordinal(const void* object) { return explorer().ordinal(object); }
  static void at(const Site&) {}
  static HeldLocks& held_locks() { return explorer().held_locks(); }
  static LockOrder* lock_order() { return &explorer().lock_order(); }
  static void warn(const char* text) { explorer().fail("panic", text); }
  [[noreturn]] static void panic(const char* text) { explorer().fail("panic", text); }

  // Host
  static void touch(const void*, std::size_t, bool) {}
  static void require(bool claim, const char* text) {
    if (!claim) explorer().fail("claim", text);
  }
  static void witness(const char* name) { explorer().witness(name); }

 private:
  template <class Node>
  static constexpr bool kTypeStable = requires {
    Node::kTypeStable;
  };
  static Spin end_of_spin(const SpinLimit& limit, Loc loc) {
    const Spin end = convoy::end_of_spin(explorer(), limit, loc);
    if (end == Spin::kTimeIsUp && !has_passed(limit.until, loc)) explorer().pass_deadline(limit.until.ticks);
    return end;
  }

  static bool has_passed(Deadline deadline, Loc loc) {
    explorer().atomic_rmw(explorer().deadline_object(deadline.ticks), false, false, loc);
    return explorer().deadline_passed(deadline.ticks);
  }

  // The park word says running (permit) or not: it is running after every return, as after the kernel's schedule().
  static Explorer::Wake sleep(Explorer::Patience patience, Loc loc) {
    check_sleep<ExploreWorld>();
    const int me = explorer().running();
    explorer().step_to_fence();
    explorer().atomic_rmw(explorer().park_object(me), false, false, loc);  // from here on is_running() says no
    explorer().asleep(me) = true;
    const auto wake = explorer().step([me] { return explorer().park_permit(me); }, patience);
    explorer().atomic_rmw(explorer().park_object(me), false, false, loc);
    explorer().park_permit(me) = true;
    explorer().asleep(me) = false;
    if (explorer().tracing()) {
      constexpr const char* kHow[] = {"woken", "timed out", "woken spuriously"};
      explorer().trace(loc, fmt::format("park: {}", kHow[static_cast<int>(wake)]));
    }
    return wake;
  }
};

}  // namespace convoy
