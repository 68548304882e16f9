// explorer.cc — The search: choices, schedules, pruning, the ladder.
// SPDX-License-Identifier: MIT
#include "sim/explorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

const char* base_name(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash == nullptr ? file : slash + 1;
}

using Pair = std::pair<std::size_t, unsigned>;

std::optional<std::vector<Pair>> pairs_of(const std::string& schedule) {
  std::vector<Pair> pairs;
  if (schedule == "-") return pairs;
  const char* at = schedule.data();
  const char* const end = at + schedule.size();
  for (;;) {
    std::size_t position = 0;
    unsigned choice = 0;
    const auto first = std::from_chars(at, end, position);
    if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':' || position > 100'000) return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, choice);
    if (second.ec != std::errc{} || choice == 0 || choice > 255) return std::nullopt;
    if (!pairs.empty() && position <= pairs.back().first) return std::nullopt;
    pairs.emplace_back(position, choice);
    if (second.ptr == end) return pairs;
    if (*second.ptr != ',') return std::nullopt;
    at = second.ptr + 1;
  }
}

}  // namespace

bool is_schedule(const std::string& text) { return pairs_of(text).has_value(); }

Explorer::Explorer() = default;

Exploration Explorer::explore(const ScenarioFactory& make, const ExploreOptions& options) {
  options_ = options;
  path_.clear();
  seen_.clear();
  witnesses_.clear();
  Exploration result;
  do {
    execute(make);
    ++result.schedules;
    result.pruned += pruned_ ? 1 : 0;
    result.steps += static_cast<std::uint64_t>(steps_);
    if (defect_) {
      repeat_with_trace(make, result);
      break;
    }
    path_.resize(std::min(path_.size(), depth_));
    if (!next_path()) {
      result.exhausted = true;
      break;
    }
  } while (result.schedules < options_.max_schedules);
  result.witnesses = witnesses_;
  return result;
}

Exploration Explorer::replay(const ScenarioFactory& make, const ExploreOptions& options, const std::string& schedule) {
  options_ = options;
  options_.cache = false;
  path_.clear();
  for (const auto& [position, choice] : pairs_of(schedule).value_or(std::vector<Pair>{})) {
    path_.resize(position + 1, Choice{0, 0});
    path_[position].taken = static_cast<std::uint8_t>(choice);
  }
  const std::size_t asked = path_.size();
  Exploration result;
  execute(make);
  result.schedules = 1;
  result.steps = static_cast<std::uint64_t>(steps_);
  result.exhausted = depth_ >= asked && !foreign_;
  if (defect_) repeat_with_trace(make, result);
  return result;
}

// The defect is known: the same schedule again, this time written down.
void Explorer::repeat_with_trace(const ScenarioFactory& make, Exploration& result) {
  path_.resize(std::min(path_.size(), depth_));
  const bool cache = std::exchange(options_.cache, false);
  tracing_ = true;
  trace_.clear();
  execute(make);
  tracing_ = false;
  options_.cache = cache;
  if (!defect_) {
    std::fprintf(stderr,
                 "explorer: a schedule did not repeat; the scenario depends on something outside of its world\n");
    std::abort();
  }
  defect_->schedule = schedule_text();
  defect_->ladder = ladder();
  result.defect = defect_;
}

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
  objects_.clear();
  setup_objects_ = 0;
  node_memory_.release();
  deadlines_ = 0;
  passed_deadlines_ = 0;
  running_ = -1;
  scheduling_ = false;
  for (ExploredThread& thread : threads_) {
    thread.permit = true;
    thread.asleep = false;
    thread.dependence = {};
    thread.synchronisation = {};
    thread.objects_made = 0;
    thread.spares = {};
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
    explorer->in_finish_ = false;
    for (;;) explorer->finish_fiber_.yield();
  }
  explorer->scenario_->run(thread);
  explorer->step_to_fence();
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
  if (++steps_ > options_.max_steps) fail("no_progress", fmt::format("no end within {} steps", options_.max_steps));
  pick();
  if (running_ != index || abandoned_) self.fiber.yield();
  if (self.wake == Wake::kSpurious) --spurious_left_;
  if (self.wake != Wake::kReady) {
    begin_event(self);
    sign(self, 0, self.wake == Wake::kTimeout ? 5 : 6);
  }
  return self.wake;
}

// All ways to go on: the running thread first, if it can, then delayed stores that reach the memory; then the other
// threads; then time-outs and spurious wakes.
Explorer::Candidates Explorer::collect_candidates() {
  const auto can_go_on = [this](int i) {
    ExploredThread& thread = threads_[static_cast<std::size_t>(i)];
    return !thread.done && thread.ready(thread.ready_argument);
  };
  Candidates candidates;
  candidates.here = running_ >= 0 && can_go_on(running_);
  if (candidates.here) candidates.add(running_, Wake::kReady);
  for (int i = 0; delayed_now_ > 0 && i < thread_count_; ++i) {
    if (!threads_[static_cast<std::size_t>(i)].delayed.empty()) candidates.add(i, Wake::kReady, true);
  }
  candidates.without_preemption = candidates.count;
  bool time_outs = false;
  std::array<std::pair<int, Wake>, kMaxExploredThreads> late;
  std::size_t late_count = 0;
  for (int i = 0; i < thread_count_; ++i) {
    if (candidates.here && i == running_) continue;
    const ExploredThread& thread = threads_[static_cast<std::size_t>(i)];
    if (thread.done) continue;
    if (can_go_on(i)) {
      candidates.add(i, Wake::kReady);
    } else if (thread.patience == Patience::kMayTimeOut) {
      time_outs = true;
      late[late_count++] = {i, Wake::kTimeout};
    } else if (thread.patience == Patience::kMayWakeSpuriously && spurious_left_ > 0) {
      late[late_count++] = {i, Wake::kSpurious};
    }
  }
  // A spurious wake may come, but nothing may depend on it.
  if (candidates.count == 0 && !time_outs) return candidates;
  for (std::size_t i = 0; i < late_count; ++i) candidates.add(late[i].first, late[i].second);
  return candidates;
}

// Chooses who goes on and makes it the running thread; delayed stores may reach the memory before. False when all have
// ended, or the execution is.
bool Explorer::pick() {
  for (;;) {
    Candidates candidates = collect_candidates();
    if (candidates.count == 0) return nobody_can_go_on();
    if (candidates.here && preemptions_ >= options_.preemption_bound) candidates.count = candidates.without_preemption;
    if (candidates.count > 1 && known_state()) {
      pruned_ = true;
      abandoned_ = true;
      return false;
    }
    const Candidate chosen = candidates.all[static_cast<std::size_t>(take(candidates.count))];
    if (chosen.drains) {
      drain(chosen.thread);
      continue;
    }
    if (candidates.here && chosen.thread != running_) ++preemptions_;
    running_ = chosen.thread;
    me().wake = chosen.wake;
    return true;
  }
}

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

// At a new node: whether an equivalent prefix with no more preemptions led here before.
bool Explorer::known_state() {
  if (!options_.cache || depth_ < path_.size()) return false;
  const auto left = static_cast<std::uint64_t>(spurious_left_) << 32 | static_cast<std::uint64_t>(delayed_left_) << 16;
  const std::uint64_t key = signature_ ^ mix(left | static_cast<std::uint64_t>(running_ + 2));
  const auto [found, fresh] = seen_.try_emplace(key, static_cast<std::uint8_t>(preemptions_));
  if (fresh) return false;
  if (found->second <= preemptions_) return true;
  found->second = static_cast<std::uint8_t>(preemptions_);
  return false;
}

int Explorer::choose(int n) {
  if (!scheduling_) return 0;
  const int taken = take(n);
  begin_event(me());
  sign(me(), static_cast<std::uint64_t>(taken), 4);
  return taken;
}

int Explorer::take(int n) {
  if (n == 1) return 0;
  if (depth_ == path_.size()) path_.push_back(Choice{0, 0});
  Choice& choice = path_[depth_++];
  choice.of = static_cast<std::uint8_t>(n);
  if (choice.taken >= n) {  // a schedule written for another source
    choice.taken = 0;
    foreign_ = true;
  }
  return choice.taken;
}

// The next path in depth-first order; false when there is none.
bool Explorer::next_path() {
  while (!path_.empty() && path_.back().taken + 1 >= path_.back().of) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

// position:choice of every choice that is not the first; "-" when all are.
std::string Explorer::schedule_text() const {
  std::string text;
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (path_[i].taken != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, path_[i].taken);
  }
  return text.empty() ? "-" : text;
}

void Explorer::trace(Loc loc, std::string text) {
  trace_.push_back({running_, fmt::format("{}:{} {}", base_name(loc.file), loc.line, text)});
}

std::string Explorer::ladder() const {
  constexpr std::size_t kWidth = 46;
  std::string text;
  for (int i = 0; i < thread_count_; ++i) text += fmt::format("{:<{}}", fmt::format("thread {}", i), kWidth);
  text += '\n';
  for (const TraceLine& line : trace_) {
    const auto column = static_cast<std::size_t>(std::max(line.thread, 0));
    text += fmt::format("{}{}\n", std::string(column * kWidth, ' '), line.text);
  }
  return text;
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
