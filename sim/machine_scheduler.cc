// machine_scheduler.cc — Run queues, slices, wake-ups, idle states.
// SPDX-License-Identifier: MIT
#include "sim/machine_scheduler.h"

#include <algorithm>

namespace convoy {

MachineScheduler::MachineScheduler(const MachineSpec& spec, const MachineTopology& topology, MachineEvents& events,
                                   MachineLines& lines)
    : topology_(topology),
      events_(events),
      lines_(lines),
      cpus_(topology.cpus()),
      sleep_(picoseconds(spec.sleep)),
      switch_in_(picoseconds(spec.switch_in)),
      ipi_(picoseconds(spec.ipi)),
      tick_(picoseconds(1e9) / spec.hz),
      latency_(picoseconds(spec.sched_latency)),
      min_granularity_(picoseconds(spec.min_granularity)),
      wakeup_granularity_(static_cast<std::int64_t>(picoseconds(spec.wakeup_granularity))),
      slowdown_(static_cast<MachineTime>(spec.smt_slowdown * 1024 + 0.5)),
      eevdf_(spec.scheduler == "eevdf"),
      user_mode_(spec.is_user_mode()) {
  for (std::uint32_t i = 0; i < cpus_.size(); ++i) cpus_[i].index = i;
  const IdleState states[] = {{picoseconds(spec.idle_1_exit), picoseconds(spec.idle_1_residency)},
                              {picoseconds(spec.idle_2_exit), picoseconds(spec.idle_2_residency)},
                              {picoseconds(spec.idle_3_exit), picoseconds(spec.idle_3_residency)}};
  for (const IdleState& state : states) {
    if (state.exit != 0) idle_states_.push_back(state);
  }
}

void MachineScheduler::start(MachineThread& thread, std::uint32_t cpu, MachineTime now) {
  thread.cpu = cpu;
  thread.waker_cpu = kNoCpu;
  thread.virtual_runtime = 0;
  if (is_idle(cpu)) return leave_idle(cpus_[cpu], thread, now);
  enqueue(cpus_[cpu], thread, now);
}

void MachineScheduler::leave(MachineThread& thread, bool asleep, MachineTime now) {
  thread.asleep = thread.away = asleep;
  thread.leaving = true;
  thread.next = Next::kSwitchedOut;
  events_.set(thread.index, now + sleep_);
  if (user_mode_ && asleep) poke_spinners_on(thread, now);
}

void MachineScheduler::poke_spinners_on(MachineThread& owner, MachineTime now) {
  for (MachineThread* spinner = owner.spinners; spinner != nullptr; spinner = spinner->spin.next_on_owner)
    poke(spinner, now);
}

void MachineScheduler::give_way(MachineThread& thread, MachineTime now) {
  MachineCpu& cpu = cpus_[thread.cpu];
  charge_runtime(cpu, now);
  if (eevdf_)
    thread.virtual_runtime =
        std::max(thread.virtual_runtime, cpu.least_runtime + static_cast<std::int64_t>(min_granularity_));
  leave(thread, false, now);
}

void MachineScheduler::switched_out(MachineThread& thread, MachineTime now) {
  MachineCpu& cpu = cpus_[thread.cpu];
  charge_runtime(cpu, now);
  thread.on_cpu = false;
  thread.leaving = false;
  thread.virtual_runtime -= cpu.least_runtime;
  thread.least_at_sleep = cpu.least_runtime;
  cpu.current = nullptr;
  cpu.wanted = false;
  poke_spinners_on(thread, now);
  thread.next = Next::kNothing;
  events_.set(thread.index, kNoTime);
  if (thread.ended) return run_next(cpu, now);
  const bool runnable = !thread.asleep;
  if (thread.asleep && thread.wake_pending) {
    thread.next = Next::kPlaced;
    events_.set(thread.index, std::max(now, thread.wake_at));
  } else if (thread.asleep && thread.sleep_until != kNoTime) {
    thread.next = Next::kDeadline;
    events_.set(thread.index, std::max(now, thread.sleep_until));
  }
  MachineThread* const next = runnable ? pick(cpu) : nullptr;
  if (runnable && next == nullptr) {
    thread.virtual_runtime += cpu.least_runtime;
    return switch_in(cpu, thread, now);
  }
  if (runnable) {
    cpu.current = next;  // so that it is no idle core
    enqueue(cpu, thread, now);
    return switch_in(cpu, *next, now);
  }
  run_next(cpu, now);
}

void MachineScheduler::switched_in(MachineThread& thread, MachineTime now) {
  MachineCpu& cpu = cpus_[thread.cpu];
  thread.on_cpu = true;
  thread.away = false;
  thread.ran_since = now;
  cpu.slice_since = now;
}

void MachineScheduler::wake(MachineThread& thread, std::uint32_t waker, MachineTime now) {
  thread.waker_cpu = waker;
  thread.sleep_until = kNoTime;
  if (thread.leaving) {
    thread.wake_pending = true;
    thread.wake_at = now;
    return;
  }
  thread.next = Next::kPlaced;
  events_.set(thread.index, now);
}

void MachineScheduler::place(MachineThread& thread, MachineTime now) {
  thread.asleep = false;
  thread.wake_pending = false;
  thread.next = Next::kNothing;
  events_.set(thread.index, kNoTime);
  if (!eevdf_) {  // what it missed counts, up to half a latency
    charge_runtime(cpus_[thread.cpu], now);
    const std::int64_t missed = cpus_[thread.cpu].least_runtime - thread.least_at_sleep;
    thread.virtual_runtime = std::max(thread.virtual_runtime - missed, -static_cast<std::int64_t>(latency_ / 2));
  }
  MachineCpu& cpu = cpus_[choose_cpu(thread, thread.waker_cpu)];
  const bool moves = cpu.index != thread.cpu;
  thread.cpu = cpu.index;
  if (cpu.current == nullptr) return leave_idle(cpu, thread, now);
  if (moves) thread.waker_cpu = kNoCpu;
  charge_runtime(cpu, now);
  enqueue(cpu, thread, now);
  if (preempts(thread, cpu, now)) want(cpu, now);
}

bool MachineScheduler::preempts(const MachineThread& woken, const MachineCpu& cpu, MachineTime now) const {
  if (!cpu.current->on_cpu) return false;
  if (eevdf_) return now - cpu.slice_since >= min_granularity_;
  return cpu.current->virtual_runtime - woken.virtual_runtime > wakeup_granularity_;
}

bool MachineScheduler::needs_interrupt(const MachineThread& thread, std::uint32_t waker) const {
  if (thread.leaving) return false;
  const MachineCpu& cpu = cpus_[choose_cpu(thread, waker)];
  return cpu.current == nullptr && cpu.idle_exit != 0;
}

std::uint32_t MachineScheduler::choose_cpu(const MachineThread& thread, std::uint32_t waker) const {
  if (thread.pinned != kNoCpu) return thread.pinned;
  if (is_idle(thread.cpu)) return thread.cpu;
  const std::uint32_t near = idle_near(waker == kNoCpu ? thread.cpu : waker);
  return near == kNoCpu ? thread.cpu : near;
}

// An idle core of the socket, else an idle hardware thread of it, else none.
std::uint32_t MachineScheduler::idle_near(std::uint32_t target) const {
  const std::uint32_t cpus = topology_.cpus();
  std::uint32_t some = kNoCpu;
  for (std::uint32_t i = 0; i < cpus; ++i) {
    const std::uint32_t cpu = (target + i) % cpus;
    if (!is_idle(cpu) || topology_.socket_of(cpu) != topology_.socket_of(target)) continue;
    const std::uint32_t sibling = topology_.sibling_of(cpu);
    if (sibling == kNoCpu || is_idle(sibling)) return cpu;
    if (some == kNoCpu) some = cpu;
  }
  return some;
}

// It comes at the multiples of its period, as long as a core has a queue.
void MachineScheduler::tick(MachineTime now) {
  events_.set(kTickSlot, kNoTime);
  if (queued_ == 0) return;
  for (MachineCpu& cpu : cpus_) {
    if (cpu.queue.empty() || cpu.current == nullptr || !cpu.current->on_cpu) continue;
    charge_runtime(cpu, now);
    if (now - cpu.slice_since >= slice_of(cpu)) want(cpu, now);
  }
  set_tick(now);
}

MachineTime MachineScheduler::slice_of(const MachineCpu& cpu) const {
  return eevdf_ ? min_granularity_ : std::max(latency_ / (cpu.queue.size() + 1), min_granularity_);
}

void MachineScheduler::set_tick(MachineTime now) {
  if (events_.at(kTickSlot) == kNoTime) events_.set(kTickSlot, (now / tick_ + 1) * tick_);
}

void MachineScheduler::want(MachineCpu& cpu, MachineTime now) {
  cpu.wanted = true;
  poke(cpu.current, now);
}

// Lets a thread that works or spins look around.
void MachineScheduler::poke(MachineThread* thread, MachineTime now) {
  if (thread == nullptr) return;
  if (thread->next == Next::kWorked) events_.set(thread->index, now);
  if (thread->next != Next::kPoll) return;
  const MachineTime poll = lines_.next_poll(*thread, now);
  if (poll < events_.at(thread->index)) events_.set(thread->index, poll);
}

void MachineScheduler::enqueue(MachineCpu& cpu, MachineThread& thread, MachineTime now) {
  thread.virtual_runtime += cpu.least_runtime;
  thread.next = Next::kNothing;
  events_.set(thread.index, kNoTime);
  cpu.queue.push_back(&thread);
  ++queued_;
  set_tick(now);
  poke(cpu.current, now);
}

void MachineScheduler::charge_runtime(MachineCpu& cpu, MachineTime now) {
  if (cpu.current == nullptr || !cpu.current->on_cpu) return;
  MachineThread& current = *cpu.current;
  current.virtual_runtime += static_cast<std::int64_t>(now - current.ran_since);
  current.ran_since = now;
  std::int64_t least = current.virtual_runtime;
  for (const MachineThread* thread : cpu.queue) least = std::min(least, thread->virtual_runtime);
  cpu.least_runtime = std::max(cpu.least_runtime, least);
}

// Takes the one with the least virtual run time out of the queue.
MachineThread* MachineScheduler::pick(MachineCpu& cpu) {
  if (cpu.queue.empty()) return nullptr;
  auto best = cpu.queue.begin();
  for (auto at = best; at != cpu.queue.end(); ++at) {
    if ((*at)->virtual_runtime < (*best)->virtual_runtime) best = at;
  }
  MachineThread* const thread = *best;
  cpu.queue.erase(best);
  --queued_;
  return thread;
}

MachineThread* MachineScheduler::take_unpinned(MachineCpu& from) {
  for (auto at = from.queue.begin(); at != from.queue.end(); ++at) {
    MachineThread* const thread = *at;
    if (thread->pinned != kNoCpu) continue;
    from.queue.erase(at);
    --queued_;
    thread->virtual_runtime -= from.least_runtime;
    return thread;
  }
  return nullptr;
}

MachineThread* MachineScheduler::pull(MachineCpu& cpu) {
  if (queued_ == 0) return nullptr;
  for (const bool same_socket : {true, false}) {
    MachineCpu* busiest = nullptr;
    for (MachineCpu& other : cpus_) {
      if ((topology_.socket_of(other.index) == topology_.socket_of(cpu.index)) != same_socket) continue;
      if (busiest == nullptr || other.queue.size() > busiest->queue.size()) busiest = &other;
    }
    if (busiest == nullptr) continue;
    if (MachineThread* const thread = take_unpinned(*busiest)) {
      thread->virtual_runtime += cpu.least_runtime;
      return thread;
    }
  }
  return nullptr;
}

void MachineScheduler::run_next(MachineCpu& cpu, MachineTime now) {
  MachineThread* next = pick(cpu);
  if (next == nullptr) next = pull(cpu);
  if (next != nullptr) return switch_in(cpu, *next, now);
  go_idle(cpu, now);
}

void MachineScheduler::go_idle(MachineCpu& cpu, MachineTime now) {
  cpu.idle_since = now;
  cpu.counts_idle = true;
  cpu.idle_exit = 0;
  for (const IdleState& state : idle_states_) {
    if (!cpu.is_measured || state.residency <= cpu.expected_idle) cpu.idle_exit = state.exit;
  }
}

// A core that polls while it is idle needs no interrupt.
void MachineScheduler::leave_idle(MachineCpu& cpu, MachineThread& thread, MachineTime now) {
  if (cpu.counts_idle) {
    const MachineTime idle = now - cpu.idle_since;
    cpu.expected_idle = cpu.is_measured ? (cpu.expected_idle * 7 + idle) / 8 : idle;
    cpu.is_measured = true;
  }
  thread.virtual_runtime += cpu.least_runtime;
  const bool interrupt = cpu.idle_exit != 0 && thread.waker_cpu != kNoCpu;
  switch_in(cpu, thread, now + cpu.idle_exit + (interrupt ? ipi_ : 0));
}

void MachineScheduler::switch_in(MachineCpu& cpu, MachineThread& thread, MachineTime at) {
  cpu.current = &thread;
  thread.cpu = cpu.index;
  thread.next = Next::kSwitchedIn;
  events_.set(thread.index, at + switch_in_);
}

}  // namespace convoy
