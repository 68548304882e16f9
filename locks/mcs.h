// mcs.h — MCS queue spinlock.
// SPDX-License-Identifier: MIT
//
// The lock is the tail of a queue of nodes (mcs_node.h). lock: put my node at the tail; if there was one before, link
// mine behind it and await my own flag. unlock: set the flag of the node behind mine; if none is linked, the queue is
// empty and the tail goes back to null, or somebody has taken the tail and is about to link. Each waiter polls a line
// of its own, so a release costs one miss, however many wait. Fairness: strict FIFO; a preempted waiter stalls everyone
// behind it. Needs a core per thread.
//
// Origin: Mellor-Crummey and Scott, ACM TOCS 1991. Changed: the caller brings no node. It is a spare one of the world,
// and the lock remembers which one its holder uses, in a word that only the holder reads and writes.
//
// Invariant: I1 holder_ is set => tail_ is not null.
//
// Synchronizes-with
//   A: A1 unlock → A0 lock, try_lock (critical section, holder_), when nobody waits; else F of mcs_node.h
//   B: B1 tail exchange → B0 tail exchange of the next (the fields of the node that it links behind)
#pragma once

#include "annotations.h"
#include "lock_class.h"
#include "mcs_node.h"
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
    Node* const me = Node::take();
    Node* const before = tail_.exchange(me, acq_rel);  // A0, B0, B1
    if (before != nullptr) me->await_turn_behind(*before);
    holder_ = me;
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    if (is_locked()) return false;
    Node* const me = Node::take();
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
  using Node = McsNode<W>;

  void pass_on(Node& me) {
    Node* next = me.next();
    if (next == nullptr) {
      Node* last = &me;
      if (tail_.compare_exchange(last, nullptr, release)) return;  // A1
      next = me.await_next();
    }
    next->grant();  // absolute last access to the lock's queue
  }

  Atomic<W, Node*> tail_{nullptr};
  Plain<W, Node*> holder_{nullptr};  // guarded by the lock itself
};

}  // namespace convoy
