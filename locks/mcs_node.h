// mcs_node.h — Node of an MCS queue: the part that mcs and qspinlock share.
// SPDX-License-Identifier: MIT
//
// Waiters stand in a row, each with a node of its own. The lock has the tail of the row: a newcomer swaps its node in,
// links itself behind the node that was there, and awaits its own flag, which the thread before it sets when its turn
// is over. So each waiter polls a line of its own. Origin: Mellor-Crummey and Scott, ACM TOCS 1991. Changed: a node is
// a spare one of the world.
//
// Life of a node: from take() to W::give_spare() by one thread. Others touch it only until its owner has seen them: the
// waiter behind links itself once, the thread before sets the flag once.
//
// Synchronizes-with
//   F: F1 grant → F0 await_turn_behind (all that the thread before did; its last access to this node)
//   L: L1 link → L0 next, await_next (the fields of the node that was linked)
#pragma once

#include <cstdint>

#include "world.h"

namespace convoy {

// A line of its own, so that a waiter polls no word that others write.
template <World W>
class alignas(64) McsNode {
 public:
  // A node of the calling thread, with nobody behind it and its flag clear. Relaxed: who swaps it into a tail publishes
  // both, by a release there.
  static McsNode* take() {
    McsNode* const node = W::template take_spare<McsNode>();
    node->next_.store(nullptr, relaxed);
    node->granted_.store(0, relaxed);
    return node;
  }

  // Requires: `before` was the tail until this node took its place, and was read there with acquire.
  void await_turn_behind(McsNode& before) {
    before.next_.store(this, release);                                                // L1
    W::await(granted_, acquire, [](std::uint32_t granted) { return granted != 0; });  // F0
  }

  // The node behind this one; null while none has linked itself.
  McsNode* next() const { return next_.load(acquire); }  // L0
  // Requires: this node is the tail no more, so that somebody links himself.
  McsNode* await_next() const {
    return W::await(next_, acquire, [](McsNode* linked) { return linked != nullptr; });  // L0
  }

  // By the thread before. Absolute last access to this node.
  void grant() { granted_.store(1, release); }  // F1

 private:
  Atomic<W, McsNode*> next_{nullptr};
  Atomic<W, std::uint32_t> granted_{0};
};

}  // namespace convoy
