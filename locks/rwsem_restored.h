// rwsem_restored.h — The rwsem of the rework, with the old slow path of writers restored.
// SPDX-License-Identifier: MIT
//
// A middle way between rwsem.h and rwsem_transfer.h: a release only wakes the writer at the head of the queue, so that
// spinners may steal the lock, until hand-off is set; then the waker takes the lock for it. Only the first waiter may
// ask for a hand-off or pass readers who come and go.
//
// Fairness: as rwsem, but a hand-off is a transfer: no reader on its way can spoil it. Choose it to see that the loss
// of rwsem-transfer is the loss of stealing, and no more.
//
// Origin: Waiman Long's v2 series of 27 March 2023, eight patches, as posted; not merged so. Changed: a waker transfers
// the lock only if it finds it free (rwsem_transfer.h says why); and rwsem_engine.h.
#pragma once

#include "annotations.h"
#include "rwsem_engine.h"
#include "traits.h"

namespace convoy {

template <World W, int kReaderBits = 55>
class CONVOY_CAPABILITY("rwsem-restored") RwsemRestored
    : public RwsemEngine<W, RwsemRestored<W, kReaderBits>, kReaderBits> {
  using Base = RwsemEngine<W, RwsemRestored<W, kReaderBits>, kReaderBits>;
  friend Base;
  friend RwsemQueue<W, RwsemRestored<W, kReaderBits>, kReaderBits>;

 public:
  static constexpr PolicyTraits kTraits{
      .name = "rwsem-restored",
      .kind = Kind::kSharedSleeping,
      .fairness = "writers barge, readers in groups; transfer after 4 ms",
      .origin = "Long's v2 of the 2023 rework, as posted",
      .events = "rwsem_",
  };
  using Base::Base;

 private:
  using typename Base::Count;
  using typename Base::Waiter;
  static constexpr bool kHandoffEndsSpinning = true;

  [[gnu::noinline]] bool lock_slow(Deadline deadline) { return Base::spin_optimistically() || Base::compete(deadline); }

  void wake_writer(Waiter& first, WakeBatch<W>& wakes) {
    if (Base::is_handoff_set() && Base::claim_handed_off(first)) {
      Base::grant(first, wakes);
    } else {
      Base::wake_only(first, wakes);
    }
  }

  static bool may_pass(const Waiter& me, const Waiter& first, std::uint64_t count) {
    return &me == &first || (count & (Count::kHandoff | Count::kLocked)) == 0;
  }
};

}  // namespace convoy
