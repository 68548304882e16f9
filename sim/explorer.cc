// explorer.cc — One execution: threads, steps, and who chooses among the ways to go on.
// SPDX-License-Identifier: MIT
#include "sim/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace convoy {
namespace {

constexpr std::uint64_t mix(std::uint64_t x) {  // the finaliser of splitmix64
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9;
  x ^= x >> 27;
  x *= 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

void Explorer::execute(const ScenarioFactory& make) {
  Explorer* const outer = std::exchange(current_, this);
  defect_.reset();
  depth_ = 0;
  preemptions_ = 0;
  spurious_left_ = options_.spurious_wakes;
  delayed_left_ = options_.delayed_stores;
  delayed_now_ = 0;
  memory_ = {};
  steps_ = 0;
  signature_ = 0;
  pruned_ = false;
  foreign_ = false;
  abandoned_ = false;
  turn_left_ = 0;
  fair_steps_ = 0;
  turns_missed_ = {};
  objects_.clear();
  setup_objects_ = std::uint64_t{1} << 32;
  node_memory_.release();
  spares_in_use_ = 0;
  deadlines_ = 0;
  passed_deadlines_ = 0;
  lock_order_.clear();
  running_ = -1;
  scheduling_ = false;
  for (ExploredThread& thread : threads_) {
    thread.permit = true;
    thread.asleep = false;
    thread.dependence = {};
    thread.synchronisation = {};
    thread.objects_made = 0;
    thread.spares = {};
    thread.held_locks.clear();
    thread.delayed.clear();
    constructed(&thread.permit);
  }
  {
    const std::unique_ptr<Scenario> scenario = make();
    scenario_ = scenario.get();
    thread_count_ = scenario->threads();
    if (thread_count_ < 1 || thread_count_ > kMaxExploredThreads) std::abort();
    run_threads();
    running_ = -1;
    scheduling_ = false;
  }
  for (const SharedObject& shared : shared_objects_) shared.destroy(shared.object);
  shared_objects_.clear();
  current_ = outer;
}

void Explorer::thread_body(void* argument) {
  auto* explorer = static_cast<Explorer*>(argument);
  const int thread = explorer->running_;
  if (explorer->in_finish_) {
    explorer->scenario_->finish();
    if (explorer->spares_in_use_ != 0) explorer->fail("leak", "a spare node was not given back");
    explorer->in_finish_ = false;
    for (;;) explorer->finish_fiber_.yield();
  }
  explorer->begin_event(explorer->me());
  explorer->sign(explorer->me(), 0, 7);  // or a state in which it waits for its first step would be that before
  explorer->scenario_->run(thread);
  explorer->step_to_fence();
  explorer->check_scenario();
  ExploredThread& self = explorer->threads_[static_cast<std::size_t>(thread)];
  self.done = true;
  for (;;) self.fiber.yield();
}

void Explorer::run_threads() {
  for (int i = 0; i < thread_count_; ++i) {
    ExploredThread& thread = threads_[static_cast<std::size_t>(i)];
    thread.done = false;
    thread.ready = [](void*) { return true; };
    thread.patience = Patience::kUntilReady;
    thread.fiber.start(&Explorer::thread_body, this);
  }
  scheduling_ = true;
  running_ = -1;
  while (!abandoned_) {
    // A thread has yielded: it ended, or it wants to take a step that another was chosen for.
    const bool ended = running_ < 0 || me().done;
    if (ended && !pick()) break;
    me().fiber.resume();
  }
  scheduling_ = false;
  if (abandoned_) return;
  running_ = 0;
  in_finish_ = true;
  finish_fiber_.start(&Explorer::thread_body, this);
  finish_fiber_.resume();
  in_finish_ = false;
}

Explorer::Wake Explorer::wait_for_turn(bool (*ready)(void*), void* argument, Patience patience) {
  ExploredThread& self = me();
  const int index = running_;
  self.ready = ready;
  self.ready_argument = argument;
  self.patience = patience;
  count_step();
  check_scenario();
  pick();
  if (running_ != index || abandoned_) self.fiber.yield();
  if (self.wake == Wake::kSpurious) --spurious_left_;
  if (self.wake != Wake::kReady) {
    begin_event(self);
    sign(self, 0, self.wake == Wake::kTimeout ? 5 : 6);
  }
  return self.wake;
}

void Explorer::count_step() {
  ++steps_;
  if (is_fair()) {
    if (++fair_steps_ > options_.fair_steps)
      fail("starvation", fmt::format("no end within {} steps of a fair schedule", options_.fair_steps));
  } else if (steps_ > options_.max_steps) {
    fail("no_progress", fmt::format("no end within {} steps", options_.max_steps));
  }
}

// What it reads is no step, and no event of the running thread.
void Explorer::check_scenario() {
  scheduling_ = false;
  scenario_->check();
  scheduling_ = true;
}

bool Explorer::can_go_on(int index) {
  ExploredThread& thread = threads_[static_cast<std::size_t>(index)];
  return !thread.done && thread.ready(thread.ready_argument);
}

// All ways to go on: the running thread first, if it can, then delayed stores that reach the memory; then the other
// threads; then time-outs, spurious wakes, and who gives up.
Explorer::Candidates Explorer::collect_candidates() {
  Candidates candidates;
  const bool here = candidates.here = running_ >= 0 && can_go_on(running_);
  if (here) candidates.add(running_, Wake::kReady, false);
  for (int i = 0; delayed_now_ > 0 && i < thread_count_; ++i) {
    if (!threads_[static_cast<std::size_t>(i)].delayed.empty()) candidates.add(i, Wake::kReady, false, true);
  }
  for (int i = 0; i < thread_count_; ++i) {
    if (i != running_ && can_go_on(i)) candidates.add(i, Wake::kReady, here);
  }
  const auto add_late = [&](Patience patience, Wake wake, bool preempts) {
    for (int i = 0; i < thread_count_; ++i) {
      const ExploredThread& thread = threads_[static_cast<std::size_t>(i)];
      if (!thread.done && thread.patience == patience && !can_go_on(i)) candidates.add(i, wake, preempts);
    }
  };
  add_late(Patience::kMayTimeOut, Wake::kTimeout, here);
  const bool nobody = candidates.count == 0;
  if (nobody) add_late(Patience::kMayGiveUp, Wake::kTimeout, false);
  // A spurious wake may come, but nothing may depend on it.
  if (candidates.count > 0 && spurious_left_ > 0) add_late(Patience::kMayWakeSpuriously, Wake::kSpurious, here);
  if (!nobody) add_late(Patience::kMayGiveUp, Wake::kTimeout, true);
  return candidates;
}

// Chooses who goes on and makes it the running thread; delayed stores may reach the memory before. False when all have
// ended, or the execution is.
bool Explorer::pick() {
  for (;;) {
    if (is_fair()) return pick_fairly();
    Candidates candidates = collect_candidates();
    if (candidates.count == 0) return nobody_can_go_on();
    const int possible = candidates.count;
    if (!may_preempt()) candidates.count = candidates.without_preemption;
    cut_ = cut_ || candidates.count < possible;
    if (candidates.count > 1 && known_state(candidates.here)) {
      pruned_ = true;
      abandoned_ = true;
      return false;
    }
    const int preferred = guide_ == Guide::kPriorities ? by_priority(candidates) : 0;
    const Candidate chosen = candidates.all[static_cast<std::size_t>(take(candidates.count, possible, preferred))];
    if (!chosen.drains) {
      if (chosen.preempts) ++preemptions_;
      return go_on_with(chosen.thread, chosen.wake);
    }
    drain(chosen.thread);
  }
}

bool Explorer::go_on_with(int thread, Wake wake) {
  running_ = thread;
  me().wake = wake;
  return true;
}

// In turns of turn_steps_ steps. Who waits with a deadline or a limit has waited long enough after some turns that it
// missed; a store is never delayed for long.
bool Explorer::pick_fairly() {
  constexpr int kPatience = 16;  // turns: time enough for every other thread to take a lock and let it go
  for (int i = 0; i < thread_count_; ++i) {
    while (!threads_[static_cast<std::size_t>(i)].delayed.empty()) drain(i);
  }
  if (running_ >= 0 && turn_left_ > 0 && can_go_on(running_)) {
    --turn_left_;
    return go_on_with(running_, Wake::kReady);
  }
  turn_left_ = turn_steps_ - 1;
  const int last = running_;
  for (bool time_passes = true; time_passes;) {
    time_passes = false;
    for (int k = 1; k <= thread_count_; ++k) {
      const int i = (last + k) % thread_count_;
      ExploredThread& thread = threads_[static_cast<std::size_t>(i)];
      int& missed = turns_missed_[static_cast<std::size_t>(i)];
      if (thread.done) continue;
      const bool ready = can_go_on(i);
      const bool may_end = thread.patience == Patience::kMayTimeOut || thread.patience == Patience::kMayGiveUp;
      if (!ready && !may_end) continue;
      time_passes = true;
      if (!ready && ++missed < kPatience) continue;
      missed = 0;
      return go_on_with(i, ready ? Wake::kReady : Wake::kTimeout);
    }
  }
  return nobody_can_go_on();
}

void Explorer::set_priorities() {
  for (int i = 0; i < kMaxExploredThreads; ++i) {
    const auto place = static_cast<std::size_t>(random_below(i + 1));
    priorities_[static_cast<std::size_t>(i)] = priorities_[place];
    priorities_[place] = i;
  }
  for (int& point : change_points_) point = 1 + random_below(longest_);
}

// The position of the candidate of the highest priority; now and then something that no thread does.
int Explorer::by_priority(const Candidates& candidates) {
  for (std::size_t i = 0; i < change_points_.size(); ++i) {
    if (steps_ == change_points_[i] && running_ >= 0)
      priorities_[static_cast<std::size_t>(running_)] = ~static_cast<int>(i);
  }
  const auto priority = [&](int position) {
    return priorities_[static_cast<std::size_t>(candidates.all[static_cast<std::size_t>(position)].thread)];
  };
  int best = -1;
  for (int i = 0; i < candidates.count; ++i) {
    const Candidate& candidate = candidates.all[static_cast<std::size_t>(i)];
    if (candidate.drains || candidate.wake != Wake::kReady) {
      if (random_below(8) == 0) return i;
    } else if (best < 0 || priority(i) > priority(best)) {
      best = i;
    }
  }
  return best < 0 ? random_below(candidates.count) : best;
}

std::uint64_t Explorer::random() { return mix(random_ += 0x9E3779B97F4A7C15); }

// All have ended, or it is a deadlock.
bool Explorer::nobody_can_go_on() {
  std::string who;
  int count = 0;
  for (int i = 0; i < thread_count_; ++i) {
    if (threads_[static_cast<std::size_t>(i)].done) continue;
    who += fmt::format("{}thread {}", count++ == 0 ? "" : ", ", i);
  }
  if (count == 0) return false;
  defect_ = Defect{"deadlock", fmt::format("{} wait{} for ever", who, count == 1 ? "s" : ""), "", ""};
  abandoned_ = true;
  return false;
}

// At a new node: whether an equivalent prefix with no more preemptions led here before. When the thread that ran last
// cannot go on, it does not matter which it was.
bool Explorer::known_state(bool here) {
  if (!options_.cache || depth_ < path_.size()) return false;
  const auto left = static_cast<std::uint64_t>(spurious_left_) << 32 | static_cast<std::uint64_t>(delayed_left_) << 16;
  const std::uint64_t key = signature_ ^ mix(left | static_cast<std::uint64_t>(here ? running_ + 2 : 1));
  const auto [found, fresh] = seen_.try_emplace(key, static_cast<std::uint8_t>(preemptions_));
  if (fresh) return false;
  if (found->second <= preemptions_) return true;
  found->second = static_cast<std::uint8_t>(preemptions_);
  return false;
}

int Explorer::choose(int n) {
  if (!scheduling_) return 0;
  count_step();
  const int taken = is_fair()
                        ? static_cast<int>(mix(static_cast<std::uint64_t>(steps_)) % static_cast<std::uint64_t>(n))
                        : take(n, n, guide_ == Guide::kPriorities ? random_below(n) : 0);
  begin_event(me());
  sign(me(), static_cast<std::uint64_t>(taken), 4);
  return taken;
}

// Not by choose(): a position of the schedule also where the bound allows no loss.
bool Explorer::lose_core() {
  if (!scheduling_) return false;
  count_step();
  const auto unlikely = [this] { return guide_ == Guide::kPriorities && random_below(8) == 0 ? 1 : 0; };
  const bool lost =
      is_fair() ? mix(static_cast<std::uint64_t>(steps_)) % 4 == 0 : take(may_preempt() ? 2 : 1, 2, unlikely()) == 1;
  cut_ = cut_ || !may_preempt();
  if (lost) ++preemptions_;
  begin_event(me());
  sign(me(), lost ? 1 : 0, 4);
  return lost;
}

// One of `allowed` ways to go on. A position of the schedule if there are more in truth: positions do not depend on the
// bound.
int Explorer::take(int allowed, int possible, int preferred) {
  if (possible == 1) return 0;
  if (depth_ == path_.size()) path_.push_back(Choice{static_cast<std::uint8_t>(preferred), 0});
  Choice& choice = path_[depth_++];
  choice.of = static_cast<std::uint8_t>(allowed);
  if (choice.taken >= allowed) {  // a schedule written for another source
    choice.taken = 0;
    foreign_ = true;
  }
  return choice.taken;
}

void Explorer::witness(const char* name) {
  if (std::find(witnesses_.begin(), witnesses_.end(), name) == witnesses_.end()) witnesses_.emplace_back(name);
}

void Explorer::fail(const char* kind, std::string text) {
  if (running_ < 0) {
    std::fprintf(stderr, "explorer: outside of a thread: %s: %s\n", kind, text.c_str());
    std::abort();
  }
  defect_ = Defect{kind, std::move(text), "", ""};
  text = {};  // this frame is abandoned: it must own nothing
  abandoned_ = true;
  for (;;) {
    if (in_finish_) {
      finish_fiber_.yield();
    } else {
      me().fiber.yield();
    }
  }
}

}  // namespace convoy
