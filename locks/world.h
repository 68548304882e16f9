// world.h — What a lock may observe: the concept World, and nothing else is reachable from a lock.
// SPDX-License-Identifier: MIT
//
// A lock, or the page cache, is written once as `template <World W>` and runs in three worlds:
//
//   RealWorld     world_real.h         the processor's atomics, pause and clock, futex: the server
//   ExploreWorld  sim/explore_world.h  fibres; every atomic operation is a step and a schedule is an input: the tests
//   MachineWorld  sim/machine_world.h  fibres on N simulated cores; an access costs time by cache-line state
//
// This header is a specification. It includes no world, so a lock header that includes it knows none either.
//
// Memory orders are types: an operation that may not have an order does not compile, the order is always written, and
// an unoptimised build passes no run-time order to the atomic. The guarantees are those of the C++ memory model.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace convoy {

struct Relaxed {};
struct Acquire {};
struct Release {};
struct AcqRel {};
struct SeqCst {};
inline constexpr Relaxed relaxed{};
inline constexpr Acquire acquire{};
inline constexpr Release release{};
inline constexpr AcqRel acq_rel{};
inline constexpr SeqCst seq_cst{};

template <class O>
concept LoadOrder = std::same_as<O, Relaxed> || std::same_as<O, Acquire> || std::same_as<O, SeqCst>;
template <class O>
concept StoreOrder = std::same_as<O, Relaxed> || std::same_as<O, Release> || std::same_as<O, SeqCst>;
template <class O>
concept AnyOrder = LoadOrder<O> || StoreOrder<O> || std::same_as<O, AcqRel>;

// A thread of a world: a small dense number that fits into an owner or tail word. The record behind it is type-stable:
// unpark() of a thread that has ended is harmless.
struct Thread {
  std::uint32_t index = 0;
  friend bool operator==(Thread, Thread) = default;
};

// A moment that a wait ends at. Made by W::deadline_in(), read by W::expired(), W::park_until() and spins only.
struct Deadline {
  std::uint64_t ticks = 0;
  friend bool operator==(Deadline, Deadline) = default;
};
inline constexpr Deadline kNever{~std::uint64_t{0}};

// Where a lock is taken, by the name a profile shows. Made as a constant: `static constexpr Site
// kSite{"page_fault_map"}`.
struct Site {
  const char* name;
};

inline constexpr Thread kNobody{~std::uint32_t{0}};

class HeldLocks;  // lock_order.h
class LockOrder;

// What ends W::spin_for() while its predicate does not hold; every field is a reason of its own.
struct SpinLimit {
  std::uint32_t polls = ~std::uint32_t{0};  // looks at the word: kBudgetSpent
  Deadline until = kNever;                  // passes: kTimeIsUp
  Thread owner = kNobody;                   // on whom the word's change waits; it loses its core: kOwnerSlept
  bool optimistic = false;                  // this core is wanted by somebody else: kMustYield, as should_yield()
};

// Why W::spin_for() ended.
enum class Spin : std::uint8_t { kSatisfied, kBudgetSpent, kTimeIsUp, kOwnerSlept, kMustYield };

namespace detail {

struct EmptyNode {};

struct AlwaysTrue {
  template <class T>
  bool operator()(const T&) const {
    return true;
  }
};

template <class A, class T>
concept AtomicOf = requires(A a, const A ca, T v) {
  requires !std::copyable<A>;
  { ca.load(relaxed) } -> std::same_as<T>;
  { ca.load(acquire) } -> std::same_as<T>;
  { a.store(v, release) } -> std::same_as<void>;
  { a.exchange(v, acq_rel) } -> std::same_as<T>;
  { a.compare_exchange(v, v, acquire) } -> std::same_as<bool>;  // strong; on failure the first argument has the value
  requires !requires { ca.load(); };                            // no default order
  requires !requires { ca.load(release); };                     // no nonsense order
};

template <class A, class T>
concept AtomicIntegerOf = AtomicOf<A, T> && requires(A a, T v) {
  { a.fetch_add(v, acquire) } -> std::same_as<T>;
  { a.fetch_sub(v, release) } -> std::same_as<T>;
  { a.fetch_or(v, acquire) } -> std::same_as<T>;
  { a.fetch_and(v, release) } -> std::same_as<T>;
};

}  // namespace detail

// What a lock may observe. Every member is static.
//
//   Atomic<T>          load, store, exchange, compare_exchange, fetch_*; one step of a schedule
//   Plain<T>           data that a lock guards: converts from and to T; ExploreWorld reports a race on it
//   SpinLock           the internal lock of a bucket or wait list: lock(), unlock(); never held across a park
//   NoPreempt          a scope in which the thread keeps its core where the world can promise that. RealWorld collects
//                      the unparks of the scope, up to 16 at a time, and issues them at the outermost end, so that a
//                      SpinLock is not held across their system calls
//   Counters           the events of one lock class: add(event), total(event); never a step, never a cost
//   self()             the calling thread
//   await(a, o, p)     spins until p(a.load(o)); returns that value
//   await_exchange(a, v, o, p)   the same, but every poll is an exchange with v: spinning by read-modify-write.
//                      Requires: p refuses no value but v, so that a poll that fails changes nothing
//   await_either(a, p, b, q)     spins until p holds of a or q of b; orders nothing: the caller looks again
//   spin_for(a,o,p,l)  as await, within the limits of l; says why it ended. The predicate is looked at once at least
//   spin_for_either(a, p, b, q, l)   the same, until p holds of a or q of b; orders nothing
//   is_running(t)      whether t has a core: optimistic spinning asks it of an owner. A woken thread has none before it
//                      runs. RealWorld guesses: not within the sleep of park(), and it was not on this core when it
//                      last asked for self()
//   should_yield()     whether somebody else wants this core: the kernel's need_resched(). RealWorld guesses: the last
//                      optimistic spin of the thread has lasted as long as it may, and the thread has not slept since
//   prepare_park()     forgets older wakes: the kernel's set_current_state(). The caller then re-tests its condition
//   park()             sleeps unless an unpark came since prepare_park(); may return spuriously
//   park_until(d)      the same, but not beyond d; false when d has passed
//   unpark(t)          ends t's sleep, or the one it is about to begin; true if there was one. Orders nothing: what the
//                      sleeper must see is published by an atomic of the lock
//   deadline_in(ns), expired(d)   a lock asks whether time is up, it never reads a clock
//   take_spare<Node>(), give_spare(node)   a queue node that outlives the wait: with whoever took it until the same
//                      thread gives it back, after which nobody may touch it. It may have been used before, by the
//                      same thread, and still hold what stood in it. RealWorld allocates only when a thread uses more
//                      nodes of the type at a time than ever before, and frees none; ExploreWorld ends the life of what
//                      is in the node with give_spare(), and so finds who comes late. A Node with a kTypeStable member
//                      may be touched for ever: it stays a node of its thread, and its atomics keep their meaning
//   coin(n)            a number from 0 to n - 1: by a generator, or by the schedule's choice
//   shared<T>()        the one T of this world, made when it is first asked for: a default lock class
//   ordinal(object)    a number to hash: its address in RealWorld, never an address in a simulated world
//   at(site)           names the call site of the thread's next acquisition, for a profile
//   kWaitQueues        number of hashed wait queues of a lock class, a power of two: 256 as in the kernel; 1 in
//                      ExploreWorld, where every two locks are to collide
//   kChecksOrder       whether guards check the order in which locks are taken (lock_order.h). Where it is true:
//   held_locks()       what the calling thread holds
//   lock_order()       the order of this world's classes, for the calling thread alone as long as the result lives;
//                      never a step
//   warn(text)         something that is wrong and can go on: RealWorld prints it, in ExploreWorld it is a defect
//   kDebugChecks       whether slow paths call check_invariants(), and unlocks look where that costs the transfer of a
//                      line: RealWorld in debug builds; ExploreWorld asks for invariants between any two steps instead
//   panic(text)        misuse, or a broken invariant: does not return
template <class W>
concept World = requires(typename W::template Atomic<std::uint32_t>& word,
                         const typename W::template Atomic<std::uint32_t>& const_word,
                         typename W::template Plain<int>& plain, typename W::SpinLock& spin_lock,
                         typename W::Counters& counters, Thread thread, Deadline deadline, detail::EmptyNode* node,
                         const void* object, const Site& site, const char* text) {
  requires detail::AtomicIntegerOf<typename W::template Atomic<std::uint32_t>, std::uint32_t>;
  requires detail::AtomicIntegerOf<typename W::template Atomic<std::uint64_t>, std::uint64_t>;
  // clang-format off
  requires detail::AtomicOf<typename W::template Atomic<void*>, void*>;
  { W::template take_spare<detail::EmptyNode>() } -> std::same_as<detail::EmptyNode*>;
  // clang-format on
  W::give_spare(node);
  { static_cast<int>(plain) } -> std::same_as<int>;
  plain = 1;
  spin_lock.lock();
  spin_lock.unlock();
  typename W::NoPreempt;
  counters.add(0u);
  { counters.total(0u) } -> std::same_as<std::uint64_t>;
  { W::self() } -> std::same_as<Thread>;
  { W::await(const_word, acquire, detail::AlwaysTrue{}) } -> std::same_as<std::uint32_t>;
  W::await_either(const_word, detail::AlwaysTrue{}, const_word, detail::AlwaysTrue{});
  { W::await_exchange(word, std::uint32_t{1}, acquire, detail::AlwaysTrue{}) } -> std::same_as<std::uint32_t>;
  { W::spin_for(const_word, relaxed, detail::AlwaysTrue{}, SpinLimit{1}) } -> std::same_as<Spin>;
  // clang-format off
  { W::spin_for_either(const_word, detail::AlwaysTrue{}, const_word, detail::AlwaysTrue{},
                       SpinLimit{1}) } -> std::same_as<Spin>;
  // clang-format on
  { W::is_running(thread) } -> std::same_as<bool>;
  { W::should_yield() } -> std::same_as<bool>;
  { W::coin(2u) } -> std::same_as<std::uint32_t>;
  // clang-format off
  { W::template shared<detail::EmptyNode>() } -> std::same_as<detail::EmptyNode&>;
  // clang-format on
  W::prepare_park();
  W::park();
  { W::park_until(deadline) } -> std::same_as<bool>;
  { W::unpark(thread) } -> std::same_as<bool>;
  { W::deadline_in(std::uint64_t{1}) } -> std::same_as<Deadline>;
  { W::expired(deadline) } -> std::same_as<bool>;
  { W::ordinal(object) } -> std::same_as<std::uint64_t>;
  W::at(site);
  requires std::has_single_bit(W::kWaitQueues);
  requires !W::kChecksOrder || requires {
    { W::held_locks() } -> std::same_as<HeldLocks&>;
    { *W::lock_order() } -> std::same_as<LockOrder&>;
    W::warn(text);
  };
  { W::kDebugChecks } -> std::convertible_to<bool>;
  W::panic(text);
};

// A world as the page cache, workloads and tests see it; never for locks.
//
//   touch(p, n, w)  the cost of reading (w false) or writing (w true) n bytes at p that a simulated world does not
//                   execute; nothing in RealWorld, where the bytes are really touched
//   require(c, t)   what a test claims: reports t and ends the run when c is false
//   witness(t)      something that a test must see happen in some schedule; for ExploreWorld to remember
template <class W>
concept Host = World<W> && requires(const void* pointer, std::size_t bytes, bool write, bool claim, const char* text) {
  W::touch(pointer, bytes, write);
  W::require(claim, text);
  W::witness(text);
};

// A host that runs a whole workload for a given time: real threads and the simulated machine. For the explorer there is
// no time. Never for locks.
//
//   run(n, ns, f)   calls f(0) to f(n - 1), each on a thread of its own; returns when all have returned
//   stopped()       whether ns have passed since run() began; cheap enough to be asked after every operation
//   work(units)     prescribed work: one pause a unit in RealWorld, a constant of the machine file on a machine
//   now_ns()        time since some start
template <class W>
concept WorkloadHost = Host<W> && requires(std::uint32_t threads, std::uint64_t n, void (*body)(std::uint32_t)) {
  W::run(threads, n, body);
  { W::stopped() } -> std::same_as<bool>;
  W::work(n);
  { W::now_ns() } -> std::same_as<std::uint64_t>;
};

// Written here once, because clang 14 wants every keyword of `typename W::template Atomic<T>`.
template <class W, class T>
using Atomic = typename W::template Atomic<T>;
template <class W, class T>
using Plain = typename W::template Plain<T>;

}  // namespace convoy
