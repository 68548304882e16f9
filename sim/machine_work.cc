// machine_work.cc — Prescribed work of simulated threads, and what the siblings of a core do to each other's.
// SPDX-License-Identifier: MIT
#include "sim/machine_scheduler.h"

namespace convoy {

MachineThread* MachineScheduler::working_sibling(const MachineThread& thread) {
  const std::uint32_t sibling = topology_.sibling_of(thread.cpu);
  if (sibling == kNoCpu) return nullptr;
  MachineThread* const other = cpus_[sibling].current;
  return other != nullptr && other->computing ? other : nullptr;
}

// Takes off what was done since the last time.
void MachineScheduler::settle(MachineThread& thread, MachineTime now) {
  const MachineTime done = (now - thread.work_since) * 1024 / thread.work_factor;
  thread.work_left -= done < thread.work_left ? done : thread.work_left;
  thread.work_since = now;
}

void MachineScheduler::schedule_end(MachineThread& thread, bool disturbed, MachineTime now) {
  thread.work_factor = disturbed ? slowdown_ : 1024;
  thread.work_since = now;
  thread.next = Next::kWorked;
  events_.set(thread.index, now + thread.work_left * thread.work_factor / 1024);
}

void MachineScheduler::begin_work(MachineThread& thread, MachineTime work, MachineTime now) {
  thread.work_left = work;
  resume_work(thread, now);
}

void MachineScheduler::resume_work(MachineThread& thread, MachineTime now) {
  MachineThread* const sibling = working_sibling(thread);
  thread.computing = true;
  schedule_end(thread, sibling != nullptr, now);
  if (sibling == nullptr) return;
  settle(*sibling, now);
  schedule_end(*sibling, true, now);
}

void MachineScheduler::pause_work(MachineThread& thread, MachineTime now) {
  settle(thread, now);
  thread.computing = false;
  MachineThread* const sibling = working_sibling(thread);
  if (sibling == nullptr) return;
  settle(*sibling, now);
  schedule_end(*sibling, false, now);
}

// The rounding of a disturbed stretch may leave a picosecond.
bool MachineScheduler::end_work(MachineThread& thread, MachineTime now) {
  settle(thread, now);
  if (thread.work_left > 1) return false;
  pause_work(thread, now);
  return true;
}

}  // namespace convoy
