// qrwlock.h — Fair reader/writer spinlock with a queue, as merged into Linux.
// SPDX-License-Identifier: MIT
//
// The engine is queued_rwlock.h. Readers and writers who have to wait stand in one FIFO queue, and a reader goes there
// as soon as it sees a writer, waiting or holding. Fairness: FIFO but for the fast path. At 3.16 a writer who waits can
// say so only while no other holds the lock, so until then a writer on the fast path may jump the head of the queue;
// the bit of its own (2017) ends that. Readers who fail count themselves first and so disturb the head writer. Needs a
// core per thread. To be chosen for short sections with readers and writers, many of them.
//
// Knob `waiting-bit`: 0 is 3.16, its queue lock a ticket lock; 1 is the layout of 2017, its queue lock the qspinlock
// that the kernel had by then. A lock has both queue locks and uses one: which, it decides when it is built, as a word
// that is held cannot change its layout.
//
// Origin: Linux 3.16, commit 70af2f8a4f48 (qspinlock from 4.2). Changed: see queued_rwlock.h.
#pragma once

#include "annotations.h"
#include "lock_class.h"
#include "qspinlock.h"
#include "queued_rwlock.h"
#include "ticket.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("qrwlock") Qrwlock : public QueuedRwlock<W, Qrwlock<W>> {
  using Base = QueuedRwlock<W, Qrwlock<W>>;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "qrwlock",
      .kind = Kind::kSharedSpinning,
      .fairness = "FIFO but for the fast path",
      .origin = "Linux 3.16; waiting-bit: 2017",
      .knobs = {Knob::kWaitingBit},
      .needs_core_per_thread = true,
  };
  explicit Qrwlock(LockClass<W>& lock_class)
      : Base(lock_class, lock_class.knob(Knob::kWaitingBit) == 0 ? Base::kReader : Base::kReaderAboveBit) {}

 private:
  friend Base;
  static constexpr bool kCountsThenWaits = false;
  static bool passes(std::uint32_t) { return false; }

  void enter_queue() CONVOY_NO_TSA {
    if (this->has_waiting_bit()) {
      qspinlock_.lock();
    } else {
      ticket_.lock();
    }
  }
  void leave_queue() CONVOY_NO_TSA {
    if (this->has_waiting_bit()) {
      qspinlock_.unlock();
    } else {
      ticket_.unlock();
    }
  }

  Ticket<W> ticket_{this->class_};
  Qspinlock<W> qspinlock_{this->class_};
};

}  // namespace convoy
