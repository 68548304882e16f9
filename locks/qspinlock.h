// qspinlock.h — Queued spinlock: one word of locked bit, pending bit and tail.
// SPDX-License-Identifier: MIT
//
// lock: take a free word. Held, and nobody waits: set pending, await that locked goes off, and turn pending into
// locked; the first who waits needs no node. Somebody waits: swap a node in as the tail of an MCS queue (mcs_node.h),
// await the turn, and as the head of the queue await that locked and pending go off; then set locked and let the next
// be the head, or, with nobody behind, empty the queue by the same operation. The node is free again as soon as the
// lock is held. Only the holder of pending and the head of the queue poll the word. Fairness: FIFO, but for who finds
// the word free or no tail in it for a moment. Needs a core per thread.
//
// Origin: Linux 4.2, kernel/locking/qspinlock.c. Changed: the kernel's 32-bit word has a byte for locked and the number
// of a CPU and a nesting level as its tail; a thread of a world has as many nodes as it likes, so the tail is the
// node's address, and the word has 64 bits. Without bytes of its own, unlock is a read-modify-write and not a store,
// and the tail is swapped by a loop, as in kernels for more than 16,384 CPUs. No second try between taking a node and
// queueing.
//
// State word
//   bit 0 locked     set by who takes the lock: on the free word, as the holder of pending, as the head of the queue;
//                    cleared by the holder in unlock()
//   bit 1 pending    set by who finds neither pending nor tail; turned into locked by the same thread. Set for a
//                    moment, and cleared again, by who finds a tail after all
//   bits 6.. tail    the last node of the queue, aligned to 64 bytes; null when nobody queues. Swapped by a newcomer,
//                    cleared by the head of the queue if it is the last
//
// Invariants
//   I1  Bits 2 to 5 are never set.
//   I2  locked goes from clear to set by one thread at a time: on the free word, by the holder of pending, or, with
//       pending clear and a tail, by the head of the queue.
//   I3  While a tail is set nobody takes pending for good, so what the head of the queue awaits comes.
//
// Transitions (tail,pending,locked)
//   (0,0,0) -> (0,0,1)  lock, try_lock                (n,x,y) -> (m,x,y)  queue
//   (t,0,y) -> (t,1,y)  pending; for t, undone        (n,0,0) -> (0,0,1)  head that is last
//   (t,1,0) -> (t,0,1)  pending turned into locked    (n,p,0) -> (n,p,1)  head
//   (t,p,1) -> (t,p,0)  unlock
//
// Synchronizes-with
//   A: A1 unlock → A0 lock, try_lock (critical section)
//   B: B1 tail swap → B0 tail swap of the next (the fields of the node that it links behind)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "mcs_node.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("qspinlock") Qspinlock {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "qspinlock",
      .kind = Kind::kSpinning,
      .fairness = "FIFO but for the fast path",
      .origin = "Linux 4.2",
      .events = "lock_",
      .needs_core_per_thread = true,
  };
  explicit Qspinlock(LockClass<W>& lock_class) : class_(lock_class) {}
  Qspinlock(const Qspinlock&) = delete;
  Qspinlock& operator=(const Qspinlock&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    std::uint64_t word = 0;
    if (!word_.compare_exchange(word, kLocked, acquire)) [[unlikely]]  // A0
      lock_slow(word);
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint64_t word = word_.load(relaxed);                            // relaxed: A0 follows
    return word == 0 && word_.compare_exchange(word, kLocked, acquire);  // A0
  }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint64_t old = word_.fetch_sub(kLocked, release);  // A1
    if ((old & kLocked) == 0) [[unlikely]]
      panic_unlock(old);
  }
  bool is_locked() const { return (word_.load(relaxed) & kLocked) != 0; }  // relaxed: a hint
  // I1. Requires: nothing moves.
  void check_invariants() const {
    if ((word_.load(relaxed) & ~(kTail | kPending | kLocked)) != 0)
      W::panic("qspinlock: a bit is set that has no meaning (I1)");
  }
  LockClass<W>& lock_class() { return class_; }

 private:
  using Node = McsNode<W>;
  static constexpr std::uint64_t kLocked = 1;
  static constexpr std::uint64_t kPending = 2;
  static constexpr std::uint64_t kTail = ~std::uint64_t{63};
  static_assert(alignof(Node) == 64 && sizeof(Node*) <= sizeof(std::uint64_t), "a node's address leaves 6 bits free");

  // Polls that a newcomer waits for a pending bit that is just being turned into locked: the kernel's on x86.
  static constexpr std::uint32_t kTurnPolls = 512;

  [[gnu::noinline]] void lock_slow(std::uint64_t word) {
    if (take_by_pending(word)) {
      class_.count(Event::kLockPending);
    } else {
      class_.count(Event::kLockSlowpath);
      take_by_queue();
    }
  }

  // False when somebody waits already.
  bool take_by_pending(std::uint64_t word) {
    if (word == kPending) {
      W::spin_for(
          word_, relaxed, [](std::uint64_t w) { return w != kPending; }, SpinLimit{kTurnPolls});
      word = word_.load(relaxed);  // relaxed, as the poll: A0 follows
    }
    if ((word & ~kLocked) != 0) return false;
    word = word_.fetch_or(kPending, acquire);  // A0
    if ((word & ~kLocked) != 0) {
      if ((word & kPending) == 0) word_.fetch_and(~kPending, relaxed);  // I3; relaxed: it guarded nothing
      return false;
    }
    if ((word & kLocked) != 0) W::await(word_, acquire, [](std::uint64_t w) { return (w & kLocked) == 0; });  // A0
    word_.fetch_sub(kPending - kLocked, relaxed);  // I2; relaxed: A0 has been
    return true;
  }

  void take_by_queue() {
    Node* const me = Node::take();
    if (Node* const before = swap_tail(me); before != nullptr) me->await_turn_behind(*before);
    std::uint64_t word =
        W::await(word_, acquire, [](std::uint64_t w) { return (w & (kLocked | kPending)) == 0; });  // A0
    // Relaxed, both: A0 has been, and nobody else takes the lock (I2). The exchange also fails on a newcomer's pending,
    // who will find our tail and link itself.
    if (word != tail_of(me) || !word_.compare_exchange(word, kLocked, relaxed)) {
      word_.fetch_or(kLocked, relaxed);
      me->await_next()->grant();
    }
    W::give_spare(me);
  }

  // Returns the node that was the tail, null if there was none.
  Node* swap_tail(Node* me) {
    std::uint64_t word = word_.load(relaxed);                                                // relaxed: B0 follows
    while (!word_.compare_exchange(word, tail_of(me) | (word & ~kTail), acq_rel)) continue;  // B0, B1
    return reinterpret_cast<Node*>(static_cast<std::uintptr_t>(word & kTail));
  }
  static std::uint64_t tail_of(Node* node) { return reinterpret_cast<std::uintptr_t>(node); }

  [[noreturn, gnu::noinline]] void panic_unlock(std::uint64_t old) {
    char text[160];
    std::snprintf(text, sizeof text, "%.*s: unlock of a qspinlock that is not held; word = { %s%s} by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), (old & kPending) != 0 ? "pending " : "",
                  (old & kTail) != 0 ? "tail " : "", W::self().index);
    W::panic(text);
  }

  LockClass<W>& class_;
  Atomic<W, std::uint64_t> word_{0};
};

}  // namespace convoy
