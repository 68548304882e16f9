// osq.h — Optimistic spin queue: an MCS queue that a spinner may leave.
// SPDX-License-Identifier: MIT
//
// Those who spin for a sleeping lock queue here, so that only the head looks at the lock's words and the others each at
// a line of their own. lock: put my node at the tail; if there was one before, link mine behind it and spin until I
// have no previous. A spinner leaves when its core is wanted, or when the previous spinner has no core, since then its
// turn will not come soon:
//
//   A  undo previous.next, so that previous can no longer act on me. It no longer says me: previous has just given me
//      my turn, or it leaves too and gives me a new previous; look again
//   B  get hold of my next: none if the tail goes back from me to previous, else what stands in my own next, taken
//      away so that it cannot leave meanwhile; one of the two comes true
//   C  join previous and next
//
// unlock is B without a previous, then the turn for my next. Fairness: FIFO among those who stay.
//
// Origin: Linux, kernel/locking/osq_lock.c of 4.10 and later. Changed: a node belongs to a thread instead of a
// processor, since here a spinner may lose its core; there is no flag `locked`: having no previous is having the turn,
// so that a spinner sees a new previous, on whose core its patience now depends, with the word that it polls.
//
// A node: next      the spinner behind; null while none is linked, and once it is taken (A, B)
//         previous  the spinner before; null once a turn was waited for; not read at the head
// A spinner in step A may look at the `next` of one that has left or unlocked. Such a node is type-stable (world.h) and
// never says the spinner's own name: that is stored by the spinner itself or by a neighbour in step C, and only into
// a node that cannot leave before it has seen it.
//
// Invariants
//   I1  The tail is null <=> nobody is in the queue.
//   I2  p.next == x => x.previous == p.
//   I3  At most one spinner that is linked has no previous.
//
// Synchronizes-with
//   A: A1 unlock -> A0 lock (what the head saw), by `previous` or, when nobody waits, by the tail
//   B: B1 tail exchange, tail goes back -> B0 tail exchange of the next (the node that it links behind)
//   C: C1 link, join -> C0 take next (the node that was linked)
//   D: D1 new previous -> D0 spinner (the node of the new previous)
#pragma once

#include "world.h"

namespace convoy {

template <World W>
class Osq {
  // A line of its own, so that a spinner polls no word that others write.
  struct alignas(64) Node {
    static constexpr bool kTypeStable = true;
    Atomic<W, Node*> next{nullptr};
    Atomic<W, Node*> previous{nullptr};
    Plain<W, Thread> thread{W::self()};  // set once
  };

 public:
  Osq() = default;
  Osq(const Osq&) = delete;
  Osq& operator=(const Osq&) = delete;

  // A thread's place in the queue, on its stack. Used once: lock(), and unlock() if that was true.
  class Spinner {
   public:
    explicit Spinner(Osq& queue) : queue_(queue), me_(*W::template take_spare<Node>()) {}
    ~Spinner() { W::give_spare(&me_); }
    Spinner(const Spinner&) = delete;
    Spinner& operator=(const Spinner&) = delete;

    // False when it left: the turn never came.
    bool lock() {
      me_.next.store(nullptr, relaxed);                       // relaxed: B1 publishes it
      Node* previous = queue_.tail_.exchange(&me_, acq_rel);  // A0, B0, B1
      if (previous == nullptr) return true;
      me_.previous.store(previous, relaxed);  // relaxed: C1 publishes it
      previous->next.store(&me_, release);    // C1
      while (previous != nullptr) {
        if (!await_turn(previous)) return leave(previous);
        previous = me_.previous.load(acquire);  // A0, D0
      }
      return true;
    }

    void unlock() {
      if (Node* const next = take_next(nullptr))
        next->previous.store(nullptr, release);  // A1, last access to the queue
    }

   private:
    // True when I have another previous, or none; false when it is time to leave. Relaxed: lock() looks again.
    bool await_turn(Node* previous) {
      return W::spin_for(
                 me_.previous, relaxed, [previous](Node* now) { return now != previous; },
                 SpinLimit{.owner = previous->thread, .optimistic = true}) == Spin::kSatisfied;
    }

    // True when the turn came meanwhile.
    bool leave(Node* previous) {
      while (!unlink_from(previous)) {
        W::await_either(
            previous->next, [this](Node* next) { return next == &me_; },  //
            me_.previous, [previous](Node* now) { return now != previous; });
        previous = me_.previous.load(acquire);  // A0, D0
        if (previous == nullptr) return true;
      }
      if (Node* const next = take_next(previous)) {
        next->previous.store(previous, release);  // D1
        previous->next.store(next, release);      // C1, last access to the queue
      }
      return false;
    }

    // Step A.
    bool unlink_from(Node* previous) {
      Node* mine = &me_;
      return previous->next.compare_exchange(mine, nullptr, relaxed);  // relaxed: only decides who acts on me; B1, C1
    }

    // Step B. Returns: who is behind me and cannot leave, or null when the tail went back to `previous`.
    Node* take_next(Node* previous) {
      for (;;) {
        Node* last = &me_;
        if (queue_.tail_.compare_exchange(last, previous, acq_rel)) return nullptr;  // A1, B1
        if (Node* const next = me_.next.exchange(nullptr, acquire)) return next;     // C0
        W::await_either(
            queue_.tail_, [this](Node* tail) { return tail == &me_; },  //
            me_.next, [](Node* next) { return next != nullptr; });
      }
    }

    Osq& queue_;
    Node& me_;
  };

  // Whether somebody spins: a hint.
  bool is_locked() const { return tail_.load(relaxed) != nullptr; }  // relaxed: out of date at once

 private:
  Atomic<W, Node*> tail_{nullptr};
};

}  // namespace convoy
