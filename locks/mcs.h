// mcs.h — MCS queue spinlock.
// SPDX-License-Identifier: MIT
//
// The lock is the tail of a queue of nodes. lock: put my node at the tail; if there was one before, link mine behind it
// and await my own flag. unlock: set the flag of the node behind mine; if none is linked, the queue is empty and the
// tail goes back to null, or somebody has taken the tail and is about to link. Each waiter polls a line of its own, so
// a release costs one miss, however many wait. Fairness: strict FIFO; a preempted waiter stalls everyone behind it.
// Needs a core per thread.
//
// Origin: Mellor-Crummey and Scott, ACM TOCS 1991. Changed: the caller brings no node. It is a spare one of the world,
// and the lock remembers which one its holder uses, in a word that only the holder reads and writes.
//
// Life of a node: from lock() to unlock() of one thread. Others touch it only until its owner's unlock() has seen them:
// the waiter behind links itself once, the holder before sets the flag once.
//
// Invariant: I1 holder_ is set => tail_ is not null.
//
// Synchronizes-with
//   A: A1 unlock → A0 lock, try_lock (critical section, holder_), by the flag or, when nobody waits, by the tail
//   B: B1 tail exchange → B0 tail exchange of the next (the fields of the node that it links behind)
//   C: C1 link → C0 unlock (the fields of the node that was linked)
#pragma once

#include <cstdint>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("mcs") Mcs {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "mcs",
      .kind = Kind::kSpinning,
      .fairness = "FIFO",
      .origin = "Mellor-Crummey and Scott 1991",
      .needs_core_per_thread = true,
  };
  explicit Mcs(LockClass<W>&) {}
  Mcs(const Mcs&) = delete;
  Mcs& operator=(const Mcs&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    Node* const me = take_node();
    Node* const before = tail_.exchange(me, acq_rel);  // A0, B0, B1
    if (before != nullptr) {
      before->next.store(me, release);                                                     // C1
      W::await(me->granted, acquire, [](std::uint32_t granted) { return granted != 0; });  // A0
    }
    holder_ = me;
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    if (is_locked()) return false;
    Node* const me = take_node();
    Node* nobody = nullptr;
    if (!tail_.compare_exchange(nobody, me, acq_rel)) {  // A0, B1
      W::give_spare(me);
      return false;
    }
    holder_ = me;
    return true;
  }
  // By the thread that took it.
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    Node* const me = holder_;
    if (me == nullptr) [[unlikely]]
      W::panic("mcs: unlock of a lock that is not held");
    holder_ = nullptr;
    pass_on(*me);
    W::give_spare(me);
  }
  bool is_locked() const { return tail_.load(relaxed) != nullptr; }  // relaxed: a hint
  // I1. Requires: nothing moves.
  void check_invariants() const {
    if (static_cast<Node*>(holder_) != nullptr && !is_locked()) W::panic("mcs: a holder of a free lock (I1)");
  }

 private:
  // A line of its own, so that a waiter polls no word that others write.
  struct alignas(64) Node {
    Atomic<W, Node*> next{nullptr};
    Atomic<W, std::uint32_t> granted{0};
  };

  // Relaxed: B1 publishes both.
  static Node* take_node() {
    Node* const node = W::template take_spare<Node>();
    node->next.store(nullptr, relaxed);
    node->granted.store(0, relaxed);
    return node;
  }

  void pass_on(Node& me) {
    Node* next = me.next.load(acquire);  // C0
    if (next == nullptr) {
      Node* last = &me;
      if (tail_.compare_exchange(last, nullptr, release)) return;                         // A1
      next = W::await(me.next, acquire, [](Node* linked) { return linked != nullptr; });  // C0
    }
    next->granted.store(1, release);  // A1, absolute last access to the lock's queue
  }

  Atomic<W, Node*> tail_{nullptr};
  Plain<W, Node*> holder_{nullptr};  // guarded by the lock itself
};

}  // namespace convoy
