// machine_waits.cc — How simulated threads spin, sleep and wake.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "sim/machine.h"

namespace convoy {

Spin Machine::spin(const SpinCall& call, const SpinLimit* limit) {
  MachineThread& me = *running_;
  if (me.index == 0) panic("the main fibre would spin for ever");
  SpinWait& spin = me.spin;
  spin.holds = call.holds;
  spin.context = call.context;
  spin.keeps_line = call.keeps_line;
  spin.started = me.clock;
  spin.optimistic = limit != nullptr && limit->optimistic;
  spin.until = limit == nullptr ? kNoTime : end_of(limit->until);
  const bool counts = limit != nullptr && limit->polls != ~std::uint32_t{0};
  spin.spent_at = counts ? me.clock + limit->polls * pause_ : kNoTime;
  spin.yields_at = user_mode_ && !spin.optimistic ? me.clock + yield_after_ * pause_ : kNoTime;
  if (user_mode_ && spin.optimistic) spin.yields_at = me.clock + spin_budget_;
  lines_.watch(spin.watches[0], me, line_of(call.words[0]));
  if (call.words[1] != nullptr && &line_of(call.words[1]) != spin.watches[0].line)
    lines_.watch(spin.watches[1], me, line_of(call.words[1]));
  spin.owner = limit == nullptr || limit->owner == kNobody ? nullptr : threads_[limit->owner.index].get();
  if (spin.owner != nullptr) {
    spin.previous_on_owner = nullptr;
    spin.next_on_owner = spin.owner->spinners;
    if (spin.next_on_owner != nullptr) spin.next_on_owner->spin.previous_on_owner = &me;
    spin.owner->spinners = &me;
  }
  spin.active = true;
  trace(me, TraceState::kSpinning, me.clock);
  me.next = Next::kPoll;
  events_.set(me.index, me.clock);  // looks at once: the words may have changed since the caller read them
  yield(me);
  return spin.end;
}

void Machine::end_spin(MachineThread& thread, Spin end) {
  SpinWait& spin = thread.spin;
  lines_.unwatch(spin.watches[0]);
  lines_.unwatch(spin.watches[1]);
  if (spin.owner != nullptr) {
    if (spin.next_on_owner != nullptr) spin.next_on_owner->spin.previous_on_owner = spin.previous_on_owner;
    if (spin.previous_on_owner != nullptr) {
      spin.previous_on_owner->spin.next_on_owner = spin.next_on_owner;
    } else {
      spin.owner->spinners = spin.next_on_owner;
    }
  }
  spin.active = false;
  spin.end = end;
  trace(thread, TraceState::kRunning, now_);
  run_fiber(thread);
}

// One poll. A word whose line the core has lost is asked for first; of one that has just arrived the value is known.
void Machine::look(MachineThread& thread, const MachineLine* arrived) {
  SpinWait& spin = thread.spin;
  for (const LineWatch& watch : spin.watches) {
    if (watch.line == nullptr) continue;
    if (spin.keeps_line) {
      if (watch.line->alone != thread.cpu + 1) return end_spin(thread, Spin::kSatisfied);
    } else if (watch.line != arrived && !lines_.has_copy(*watch.line, thread.cpu, now_)) {
      ++accesses_;
      ++misses_;
      return lines_.request(thread, *watch.line, Access::kLoad, now_);
    }
  }
  if (!spin.keeps_line && spin.holds(spin.context)) return end_spin(thread, Spin::kSatisfied);
  if (now_ >= spin.spent_at) return end_spin(thread, Spin::kBudgetSpent);
  if (spin.owner != nullptr && !scheduler_.seems_running(*spin.owner, thread.cpu))
    return end_spin(thread, Spin::kOwnerSlept);
  if (now_ >= spin.until) return end_spin(thread, Spin::kTimeIsUp);
  if (spin.optimistic) {
    thread.spun_enough = now_ >= spin.yields_at;
    if (thread.spun_enough || scheduler_.is_wanted(thread)) return end_spin(thread, Spin::kMustYield);
  } else if (must_leave(thread)) {
    return scheduler_.leave(thread, false, now_);
  } else if (now_ >= spin.yields_at && scheduler_.others_wait(thread)) {
    return scheduler_.give_way(thread, now_);
  }
  watch_on(thread);
}

// Until somebody writes one of its lines, or an end comes that is known now.
void Machine::watch_on(MachineThread& thread) {
  const SpinWait& spin = thread.spin;
  MachineTime end = std::min(spin.until, spin.spent_at);
  if (spin.optimistic || scheduler_.others_wait(thread)) end = std::min(end, spin.yields_at);
  for (const LineWatch& watch : spin.watches) {
    if (watch.line != nullptr && !spin.keeps_line && lines_.is_being_taken(*watch.line))
      end = std::min(end, std::max(watch.line->leaves_at, now_ + 1));
  }
  thread.next = Next::kPoll;
  events_.set(thread.index, end == kNoTime ? kNoTime : lines_.next_poll(thread, end));
}

bool Machine::is_running(Thread thread) {
  take_turn();
  return scheduler_.seems_running(*threads_[thread.index], running_->cpu);
}

bool Machine::should_yield() {
  take_turn();
  if (running_->index == 0) return false;
  return running_->spun_enough || scheduler_.is_wanted(*running_);
}

void Machine::prepare_park() {
  take_turn();
  running_->permit = false;
  running_->spun_enough = false;
}

bool Machine::park_until(Deadline deadline) {
  MachineThread& me = *running_;
  if (me.index == 0) panic("the main fibre would sleep for ever");
  take_turn();
  if (me.permit) return true;
  me.clock += syscall_;
  take_turn();
  const MachineTime until = end_of(deadline);
  if (me.permit) return true;
  if (me.clock >= until) {
    me.permit = true;
    return false;
  }
  me.sleep_until = until;
  me.timed_out = false;
  scheduler_.leave(me, true, me.clock);
  yield(me);
  // An unpark that came once the time was up counts.
  const bool woken = me.permit;
  me.permit = true;
  return woken || !me.timed_out;
}

bool Machine::unpark(Thread thread) {
  take_turn();
  MachineThread& me = *running_;
  MachineThread& target = *threads_[thread.index];
  if (me.index == 0) panic("the main fibre wakes nobody");
  if (target.permit) {
    me.clock += user_mode_ ? 0 : wake_awake_;
    return false;
  }
  target.permit = true;
  if (!target.asleep) {
    me.clock += user_mode_ ? 0 : wake_awake_;
  } else if (user_mode_ && me.no_preempt_depth != 0) {
    if (me.unparks_held == me.held.size()) {
      for (std::uint32_t i = 0; i < me.unparks_held; ++i) issue_unpark(me, *threads_[me.held[i]]);
      me.unparks_held = 0;
    }
    me.held[me.unparks_held++] = target.index;
  } else {
    issue_unpark(me, target);
  }
  return true;
}

void Machine::issue_unpark(MachineThread& me, MachineThread& target) {
  take_turn();
  me.clock += wake_ + syscall_;
  if (target.asleep && scheduler_.needs_interrupt(target, me.cpu)) me.clock += wake_interrupt_;
  if (target.asleep && !target.timed_out) scheduler_.wake(target, me.cpu, me.clock);
}

void Machine::enter_no_preempt() { ++running_->no_preempt_depth; }

// As RealWorld in user mode: the wakes of the scope come after it.
void Machine::leave_no_preempt() {
  MachineThread& me = *running_;
  if (--me.no_preempt_depth != 0) return;
  for (std::uint32_t i = 0; i < me.unparks_held; ++i) issue_unpark(me, *threads_[me.held[i]]);
  me.unparks_held = 0;
}

// In picoseconds. A kernel counts what is longer than a jiffy in jiffies, and it has passed once the jiffy after it has
// begun.
Deadline Machine::deadline_in(std::uint64_t ns) {
  const MachineTime now = running_->clock;
  if (ns >= kNoTime / 2000) return kNever;
  const MachineTime length = ns * 1000;
  if (user_mode_ || length < jiffy_) return Deadline{now + length};
  return Deadline{(now / jiffy_ + (length + jiffy_ - 1) / jiffy_ + 1) * jiffy_};
}

MachineTime Machine::end_of(Deadline deadline) const { return deadline == kNever ? kNoTime : deadline.ticks; }

bool Machine::expired(Deadline deadline) { return deadline != kNever && running_->clock >= deadline.ticks; }

}  // namespace convoy
