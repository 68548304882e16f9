// machine_spin_lock.h — The kernel's spinlock as simulated threads use it under buckets and wait lists.
// SPDX-License-Identifier: MIT
//
// 4 bytes, as the kernel's, so that what shares a line with it still does. By the era of the machine a ticket lock
// (x86 up to 4.1) or a qspinlock (from 4.2): locks/ticket.h and locks/qspinlock.h describe them. In user mode the
// ticket's strict order would make every preempted waiter stall the rest, and RealWorld's lock has none: there it is
// test-and-test-and-set, whose waiters yield.
#pragma once

#include <cstdint>
#include <new>

#include "locks/world.h"
#include "sim/machine.h"

namespace convoy {

// W is MachineWorld, which is not complete yet where its SpinLock is declared.
template <class W>
class MachineSpinLock {
  using Word = std::uint32_t;

 public:
  MachineSpinLock() {}
  MachineSpinLock(const MachineSpinLock&) = delete;
  MachineSpinLock& operator=(const MachineSpinLock&) = delete;

  void lock() {
    Machine::current().enter_no_preempt();
    if (Machine::current().is_user_mode()) return lock_ttas();
    if (Machine::current().uses_ticket_locks()) return lock_ticket();
    Word free = 0;
    if (!word_.compare_exchange(free, kLocked, acquire)) lock_queued(free);
  }
  void unlock() {
    if (Machine::current().is_user_mode()) {
      word_.store(0, release);
    } else if (Machine::current().uses_ticket_locks()) {
      word_.store_part([](Word word) { return (word & kTail) | ((word + kServed) & ~kTail); });
    } else {
      word_.store_part([](Word word) { return word & ~kLocked; });
    }
    Machine::current().leave_no_preempt();
  }

 private:
  static constexpr Word kLocked = 1;
  static constexpr Word kPending = 1 << 8;
  static constexpr Word kTail = ~Word{0xFFFF};
  static constexpr Word kDrawn = 1 << 16;  // ticket: next in the upper half, served in the lower
  static constexpr Word kServed = 1;
  static constexpr std::uint32_t kNesting = 4;

  // Four stand in a line, as a processor's in the kernel.
  struct Node {
    typename W::template Atomic<Node*> next{nullptr};
    typename W::template Atomic<Word> turn{0};
  };
  struct alignas(64) Nodes {
    Node nodes[kNesting];
  };

  void lock_ttas() {
    for (;;) {
      Word free = 0;
      if (word_.compare_exchange(free, kLocked, acquire)) return;
      W::await(word_, relaxed, [](Word word) { return word == 0; });
    }
  }

  void lock_ticket() {
    const Word mine = word_.fetch_add(kDrawn, acquire) >> 16;
    W::await(word_, acquire, [mine](Word word) { return (word & 0xFFFF) == mine; });
  }

  // The first to wait spins on the locked bit, with the pending bit set; others queue.
  void lock_queued(Word seen) {
    if ((seen & ~kLocked) != 0) return queue();
    const Word old = word_.fetch_or(kPending, acquire);
    if ((old & ~kLocked) != 0) {
      if ((old & kPending) == 0) word_.fetch_and(~kPending, relaxed);
      return queue();
    }
    if ((old & kLocked) != 0) W::await(word_, acquire, [](Word word) { return (word & kLocked) == 0; });
    word_.fetch_sub(kPending - kLocked, relaxed);
  }

  static Nodes& nodes_of(MachineThread& thread) {
    if (thread.spin_nodes == nullptr)
      thread.spin_nodes = new (Machine::current().allocate(sizeof(Nodes), alignof(Nodes))) Nodes;
    return *static_cast<Nodes*>(thread.spin_nodes);
  }

  void queue() {
    MachineThread& me = Machine::current().running();
    if (me.spin_depth == kNesting) Machine::current().panic("spin locks nest deeper than four");
    const std::uint32_t depth = me.spin_depth++;
    Node& node = nodes_of(me).nodes[depth];
    const Word mine = (me.index * kNesting + depth + 1) << 16;
    node.next.store(nullptr, relaxed);
    node.turn.store(0, relaxed);
    Word old = word_.load(relaxed);
    while (!word_.compare_exchange(old, (old & ~kTail) | mine, acq_rel)) {}
    if ((old & kTail) != 0) {
      W::owner_of_tail(old >> 16, kNesting, [&node](MachineThread& thread, std::uint32_t at) {
        nodes_of(thread).nodes[at].next.store(&node, release);
      });
      W::await(node.turn, acquire, [](Word turn) { return turn != 0; });
    }
    take_at_head(node, mine);
    --me.spin_depth;
  }

  void take_at_head(Node& node, Word mine) {
    Word word = W::await(word_, acquire, [](Word now) { return (now & (kLocked | kPending)) == 0; });
    if ((word & kTail) == mine && word_.compare_exchange(word, kLocked, relaxed)) return;
    word_.fetch_or(kLocked, relaxed);
    Node* const next = W::await(node.next, acquire, [](Node* behind) { return behind != nullptr; });
    next->turn.store(1, release);
  }

  typename W::template Atomic<Word> word_{0};
};

}  // namespace convoy
