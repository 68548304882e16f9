// machine_world.h — The world of the simulated machine: an access costs virtual time by the state of its cache line.
// SPDX-License-Identifier: MIT
//
// Executed with sequential consistency: a memory order costs and promises nothing here. What an operation costs and
// when it happens says machine_lines.h; who runs where, machine_scheduler.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "locks/events.h"
#include "locks/spare_nodes.h"
#include "locks/world.h"
#include "sim/machine.h"
#include "sim/machine_spin_lock.h"

namespace convoy {

class MachineWorld {
  static Machine& machine() { return Machine::current(); }

 public:
  static constexpr std::size_t kWaitQueues = 256;
  static constexpr bool kChecksOrder = false;
  static constexpr bool kDebugChecks = false;

  // As large as T, so that a lock has the layout that it has on a real machine.
  template <class T>
  class Atomic {
   public:
    constexpr Atomic(T value = T{}) : value_(value) {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    T load(LoadOrder auto) const {
      machine().access(this, Access::kLoad);
      return value_;
    }
    void store(T value, StoreOrder auto) {
      machine().access(this, Access::kStore);
      value_ = value;
    }
    // For MachineSpinLock: a store to some of the word's bytes; `f` is what that makes of the word.
    void store_part(auto f) {
      machine().access(this, Access::kStore);
      value_ = f(value_);
    }
    T exchange(T value, AnyOrder auto) {
      return modify([value](T) { return value; });
    }
    bool compare_exchange(T& expected, T desired, AnyOrder auto) {
      machine().access(this, Access::kAtomic);
      if (value_ == expected) {
        value_ = desired;
        return true;
      }
      expected = value_;
      return false;
    }
    T fetch_add(T operand, AnyOrder auto) {
      return modify([operand](T v) { return static_cast<T>(v + operand); });
    }
    T fetch_sub(T operand, AnyOrder auto) {
      return modify([operand](T v) { return static_cast<T>(v - operand); });
    }
    T fetch_or(T operand, AnyOrder auto) {
      return modify([operand](T v) { return static_cast<T>(v | operand); });
    }
    T fetch_and(T operand, AnyOrder auto) {
      return modify([operand](T v) { return static_cast<T>(v & operand); });
    }

   private:
    friend MachineWorld;
    T modify(auto f) {
      machine().access(this, Access::kAtomic);
      return std::exchange(value_, f(value_));
    }
    T value_;
  };

  template <class T>
  class Plain {
   public:
    constexpr Plain(T value = T{}) : value_(value) {}
    Plain(const Plain&) = delete;
    Plain& operator=(const Plain&) = delete;
    Plain& operator=(T value) {
      machine().access(this, Access::kStore);
      value_ = value;
      return *this;
    }
    operator T() const {
      machine().access(this, Access::kLoad);
      return value_;
    }
    T operator->() const { return static_cast<T>(*this); }

   private:
    T value_;
  };

  using SpinLock = MachineSpinLock<MachineWorld>;

  class NoPreempt {
   public:
    NoPreempt() { machine().enter_no_preempt(); }
    ~NoPreempt() { machine().leave_no_preempt(); }
    NoPreempt(const NoPreempt&) = delete;
    NoPreempt& operator=(const NoPreempt&) = delete;
  };

  class Counters {
   public:
    void add(std::uint32_t event) { ++events_[event]; }
    std::uint64_t total(std::uint32_t event) const { return events_[event]; }

   private:
    std::array<std::uint64_t, kEventCount> events_{};
  };

  static Thread self() { return Thread{machine().running().index}; }

  template <class T, LoadOrder O, class Predicate>
  static T await(const Atomic<T>& word, O order, Predicate predicate) {
    const T value = word.load(order);
    if (predicate(value)) return value;
    spin_on(word, predicate, nullptr);
    return word.value_;
  }

  template <class T, AnyOrder O, class Predicate>
  static T await_exchange(Atomic<T>& word, T value, O order, Predicate predicate) {
    for (;;) {
      const T seen = word.exchange(value, order);
      if (predicate(seen)) return seen;
      machine().spin({{&word, nullptr}, nullptr, nullptr, true}, nullptr);
    }
  }

  template <class T, class TestT, class U, class TestU>
  static void await_either(const Atomic<T>& one, TestT one_holds, const Atomic<U>& other, TestU other_holds) {
    if (one_holds(one.load(relaxed)) || other_holds(other.load(relaxed))) return;
    spin_on_either(one, one_holds, other, other_holds, nullptr);
  }

  template <class T, LoadOrder O, class Predicate>
  static Spin spin_for(const Atomic<T>& word, O order, Predicate predicate, SpinLimit limit) {
    if (predicate(word.load(order))) return Spin::kSatisfied;
    return spin_on(word, predicate, &limit);
  }
  template <class T, class TestT, class U, class TestU>
  static Spin spin_for_either(const Atomic<T>& one, TestT one_holds, const Atomic<U>& other, TestU other_holds,
                              SpinLimit limit) {
    if (one_holds(one.load(relaxed)) || other_holds(other.load(relaxed))) return Spin::kSatisfied;
    return spin_on_either(one, one_holds, other, other_holds, &limit);
  }

  static bool is_running(Thread thread) { return machine().is_running(thread); }
  static bool should_yield() { return machine().should_yield(); }

  static void prepare_park() { machine().prepare_park(); }
  static void park() { machine().park_until(kNever); }
  static bool park_until(Deadline deadline) { return machine().park_until(deadline); }
  static bool unpark(Thread thread) { return machine().unpark(thread); }

  static Deadline deadline_in(std::uint64_t ns) { return machine().deadline_in(ns); }
  static bool expired(Deadline deadline) { return machine().expired(deadline); }

  // A line of its own for each, as a processor's nodes in the kernel.
  template <class Node>
  static Node* take_spare() {
    using Spare = SpareNodes::Spare<Node>;
    if (Node* const node = machine().running().spares.template take<Node>()) return node;
    return new (machine().allocate(sizeof(Spare), alignof(Spare) < 64 ? 64 : alignof(Spare))) Spare;
  }
  template <class Node>
  static void give_spare(Node* node) {
    machine().running().spares.give(node);
  }

  static std::uint32_t coin(std::uint32_t n) { return machine().coin(n); }

  template <class T>
  static T& shared() {
    return machine().shared<T>();
  }

  static std::uint64_t ordinal(const void* object) { return machine().ordinal(object); }
  static void at(const Site& site) { machine().running().site = &site; }
  [[noreturn]] static void panic(const char* text) { machine().panic(text); }

  // Host
  static void touch(const void* pointer, std::size_t bytes, bool write) { machine().touch(pointer, bytes, write); }
  static void require(bool claim, const char* text) {
    if (!claim) panic(text);
  }
  static void witness(const char*) {}
  template <class F>
  static void run(int threads, std::uint64_t duration_ns, F&& body) {
    machine().run_threads(threads, duration_ns, body);
  }
  static bool stopped() { return machine().stopped(); }
  static void work(std::uint64_t units) { machine().work(units); }
  static std::uint64_t now_ns() { return machine().now() / 1000; }

  // For MachineSpinLock: the thread and the node that a tail names.
  static void owner_of_tail(std::uint32_t tail, std::uint32_t nesting, auto act) {
    act(machine().thread((tail - 1) / nesting), (tail - 1) % nesting);
  }

 private:
  template <class T, class Predicate>
  static Spin spin_on(const Atomic<T>& word, Predicate& predicate, const SpinLimit* limit) {
    const auto holds = [&word, &predicate] { return static_cast<bool>(predicate(word.value_)); };
    return machine().spin({{&word, nullptr}, &call<decltype(holds)>, &holds}, limit);
  }
  template <class T, class TestT, class U, class TestU>
  static Spin spin_on_either(const Atomic<T>& one, TestT& one_holds, const Atomic<U>& other, TestU& other_holds,
                             const SpinLimit* limit) {
    const auto holds = [&] { return one_holds(one.value_) || other_holds(other.value_); };
    return machine().spin({{&one, &other}, &call<decltype(holds)>, &holds}, limit);
  }
  template <class F>
  static bool call(const void* function) {
    return (*static_cast<const F*>(function))();
  }
};

static_assert(World<MachineWorld> && Host<MachineWorld>);

}  // namespace convoy
