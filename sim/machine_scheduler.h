// machine_scheduler.h — Which thread runs on which hardware thread, in the manner of Linux's CFS or EEVDF.
// SPDX-License-Identifier: MIT
//
// A run queue per hardware thread, ordered by virtual run time; a tick looks whether a slice is over. A woken thread
// goes where it ran last if nobody is there, else near its waker: an idle core of that socket, an idle hardware thread,
// its own queue. A hardware thread that runs out of work pulls a waiting thread, from its own socket first. There is no
// periodic balancing.
//
//         slice                             a woken thread               who gives its core away
//   cfs   by latency and granularity        is credited half a latency;  only lets the next one by
//                                           preempts who is ahead by more
//                                           than the wake-up granularity
//   eevdf the granularity                   is as it was when it went;   is a slice ahead of the last, as if it had run
//                                           preempts whose slice is over (6.18)
//
// Sleeping costs the sleeper `sleep`; until that has passed the thread counts as running. A wake reaches the thread's
// core by an interrupt; the core leaves the idle state that it chose when it went idle, by the mean of its idle times
// so far; then the thread is switched in, and runs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine_lines.h"
#include "sim/machine_thread.h"

namespace convoy {

class MachineScheduler {
 public:
  static constexpr std::uint32_t kTickSlot = 0;

  // The tick has the slot `kTickSlot`, which is no thread's.
  MachineScheduler(const MachineSpec& spec, const MachineTopology& topology, MachineEvents& events,
                   MachineLines& lines);

  MachineCpu& cpu(std::uint32_t index) { return cpus_[index]; }
  // A thread that has never run: it becomes runnable.
  void start(MachineThread& thread, std::uint32_t cpu, MachineTime now);
  // The thread leaves its core. Asleep: until it is woken; else it stays runnable.
  void leave(MachineThread& thread, bool asleep, MachineTime now);
  // The thread gives its core to who waits for it (sched_yield).
  void give_way(MachineThread& thread, MachineTime now);
  // The event kSwitchedOut.
  void switched_out(MachineThread& thread, MachineTime now);
  // The event kSwitchedIn.
  void switched_in(MachineThread& thread, MachineTime now);
  // Ends the sleep of a thread, or the one that it is about to begin, from `now` on. waker: a core, or kNoCpu.
  void wake(MachineThread& thread, std::uint32_t waker, MachineTime now);
  // The event kPlaced.
  void place(MachineThread& thread, MachineTime now);
  // The event of the tick: all cores with a queue look whether a slice is over.
  void tick(MachineTime now);

  // Whether a wake of the thread would have to interrupt an idle core.
  bool needs_interrupt(const MachineThread& thread, std::uint32_t waker) const;

  // Whether the thread has a core, as far as one on core `asker` can know: in a program, only whether it sleeps, and
  // whether it was on the same core.
  bool seems_running(const MachineThread& thread, std::uint32_t asker) const {
    return user_mode_ ? !thread.away && thread.cpu != asker : thread.on_cpu;
  }

  // Whether somebody else wants the core of a thread that runs.
  bool is_wanted(const MachineThread& thread) const { return cpus_[thread.cpu].wanted; }
  bool others_wait(const MachineThread& thread) const { return !cpus_[thread.cpu].queue.empty(); }

  // The thread begins work; its event is kWorked.
  void begin_work(MachineThread& thread, MachineTime work, MachineTime now);
  // The event kWorked: whether the work is done.
  bool end_work(MachineThread& thread, MachineTime now);
  void pause_work(MachineThread& thread, MachineTime now);
  void resume_work(MachineThread& thread, MachineTime now);

 private:
  struct IdleState {
    MachineTime exit;
    MachineTime residency;
  };

  void want(MachineCpu& cpu, MachineTime now);
  void poke(MachineThread* thread, MachineTime now);
  void poke_spinners_on(MachineThread& owner, MachineTime now);
  void enqueue(MachineCpu& cpu, MachineThread& thread, MachineTime now);
  void charge_runtime(MachineCpu& cpu, MachineTime now);
  MachineThread* pick(MachineCpu& cpu);
  MachineThread* pull(MachineCpu& cpu);
  MachineThread* take_unpinned(MachineCpu& from);
  void run_next(MachineCpu& cpu, MachineTime now);
  void go_idle(MachineCpu& cpu, MachineTime now);
  void switch_in(MachineCpu& cpu, MachineThread& thread, MachineTime at);
  void leave_idle(MachineCpu& cpu, MachineThread& thread, MachineTime now);
  std::uint32_t choose_cpu(const MachineThread& thread, std::uint32_t waker) const;
  MachineTime slice_of(const MachineCpu& cpu) const;
  bool preempts(const MachineThread& woken, const MachineCpu& cpu, MachineTime now) const;
  std::uint32_t idle_near(std::uint32_t target) const;
  bool is_idle(std::uint32_t cpu) const { return cpus_[cpu].current == nullptr; }
  void set_tick(MachineTime now);
  MachineThread* working_sibling(const MachineThread& thread);
  void settle(MachineThread& thread, MachineTime now);
  void schedule_end(MachineThread& thread, bool disturbed, MachineTime now);

  const MachineTopology& topology_;
  MachineEvents& events_;
  MachineLines& lines_;
  std::vector<MachineCpu> cpus_;
  std::vector<IdleState> idle_states_;  // the shallowest first
  std::uint64_t queued_ = 0;            // threads in all queues
  MachineTime sleep_, switch_in_, ipi_;
  MachineTime tick_;
  MachineTime latency_, min_granularity_;
  std::int64_t wakeup_granularity_;
  MachineTime slowdown_;  // of 1024
  bool eevdf_;
  bool user_mode_;
};

}  // namespace convoy
