// qrwlock_2013.h — Reader/writer spinlock with a queue, as first posted: a reconstruction from its cover text.
// SPDX-License-Identifier: MIT
//
// The engine is queued_rwlock.h, the queue an MCS lock. Writers queue in order. A reader passes a writer who waits, and
// queues only behind one who holds the lock; at the head of the queue it counts itself and lets the writer go first.
// Fairness: reader preference, writers FIFO but for the fast path; readers that overlap keep writers out for ever. With
// the knob `fair-readers` a reader queues behind a writer who waits, and the lock is as fair as qrwlock. Needs a core
// per thread. To be chosen to reproduce the figures of 2013; else qrwlock.
//
// Origin: Linux mailing list, September to November 2013, not merged. This is a reconstruction: made from what the
// cover texts of the series say of readers, writers and the queue, and not from its code. Changed, as far as can be
// said: see queued_rwlock.h; the queue is a whole MCS lock in place, where the posted lock has a pointer to its last
// node; fair readers are a knob, read once per wait, where the posted lock has another initialiser.
#pragma once

#include "annotations.h"
#include "lock_class.h"
#include "mcs.h"
#include "queued_rwlock.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("qrwlock-2013") Qrwlock2013 : public QueuedRwlock<W, Qrwlock2013<W>> {
  using Base = QueuedRwlock<W, Qrwlock2013<W>>;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "qrwlock-2013",
      .kind = Kind::kSharedSpinning,
      .fairness = "reader preference, writers FIFO",
      .origin = "as posted in 2013, a reconstruction",
      .knobs = {Knob::kFairReaders},
      .needs_core_per_thread = true,
  };
  explicit Qrwlock2013(LockClass<W>& lock_class) : Base(lock_class, Base::kReader) {}

 private:
  friend Base;
  static constexpr bool kCountsThenWaits = true;
  bool passes(std::uint32_t word) const {
    return !Base::is_write_locked(word) && this->class_.knob(Knob::kFairReaders) == 0;
  }
  void enter_queue() CONVOY_NO_TSA { queue_.lock(); }
  void leave_queue() CONVOY_NO_TSA { queue_.unlock(); }

  Mcs<W> queue_{this->class_};
};

}  // namespace convoy
