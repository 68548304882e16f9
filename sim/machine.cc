// machine.cc — The machine's memory, its events, and the fibres that they run.
// SPDX-License-Identifier: MIT
#include "sim/machine.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>

namespace convoy {
namespace {

void* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return memory;
}

TraceState state_without_core(const MachineThread& thread) {
  if (thread.ended) return TraceState::kNone;
  return thread.asleep ? TraceState::kAsleep : TraceState::kRunnable;
}

}  // namespace

Machine::Machine(const MachineSpec& spec, const MachineOptions& options)
    : spec_(spec),
      options_(options),
      topology_(spec),
      lines_(spec, topology_, events_),
      scheduler_(spec, topology_, events_, lines_),
      user_mode_(spec.is_user_mode()),
      ticket_locks_(spec.spin_lock == "ticket"),
      pause_(picoseconds(spec.pause)),
      work_unit_(picoseconds(spec.work_unit)),
      syscall_(user_mode_ ? picoseconds(spec.syscall) : 0),
      wake_(picoseconds(spec.wake)),
      wake_interrupt_(picoseconds(spec.wake_interrupt)),
      wake_awake_(picoseconds(spec.wake_awake)),
      jiffy_(picoseconds(1e9) / spec.hz),
      spin_budget_(picoseconds(spec.spin_budget)),
      yield_after_(spec.yield_after) {
  stacks_bytes_ = options.max_threads * kStackBytes;
  heap_used_ = stacks_bytes_ + kMainStackBytes;
  arena_bytes_ = heap_used_ + options.heap_bytes;
  arena_ = static_cast<std::byte*>(reserve(arena_bytes_));
  line_table_ = static_cast<MachineLine*>(reserve(arena_bytes_ / kLineBytes * sizeof(MachineLine)));
  threads_.push_back(std::make_unique<MachineThread>());
  threads_[0]->fiber = std::make_unique<Fiber>(arena_ + stacks_bytes_, kMainStackBytes);
  hash_ = options.seed;
}

Machine::~Machine() {
  running_ = threads_[0].get();
  current_ = this;
  while (!shared_.empty()) {
    shared_.back().destroy(shared_.back().object);
    shared_.pop_back();
  }
  threads_.clear();
  current_ = nullptr;
  munmap(line_table_, arena_bytes_ / kLineBytes * sizeof(MachineLine));
  munmap(arena_, arena_bytes_);
}

void Machine::panic(std::string_view text) const {
  const Site* const site = running_ == nullptr ? nullptr : running_->site;
  std::fprintf(stderr, "panic: machine at %.3f us, thread %d%s%s: %.*s\n", static_cast<double>(now_) / 1e6,
               running_ == nullptr ? -1 : static_cast<int>(running_->index), site == nullptr ? "" : " at ",
               site == nullptr ? "" : site->name, static_cast<int>(text.size()), text.data());
  std::abort();
}

MachineStats Machine::stats() const {
  return {accesses_ + lines_.polls(), misses_ + lines_.polls(), events_done_, switches_, hash_, now_};
}

void* Machine::allocate(std::size_t bytes, std::size_t alignment) {
  heap_used_ = (heap_used_ + alignment - 1) / alignment * alignment;
  if (bytes > arena_bytes_ - heap_used_) panic("the heap of simulated memory is full");
  void* const memory = arena_ + heap_used_;
  heap_used_ += bytes;
  return memory;
}

std::uint64_t Machine::ordinal(const void* object) {
  MachineLine& line = line_of(object);
  if (line.number == 0) line.number = ++lines_touched_;
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(object) - arena_);
  return line.number * kLineBytes + offset % kLineBytes;
}

void Machine::run_main(void (*body)(void*), void* argument) {
  if (current_ != nullptr) panic("a machine runs inside another");
  if (options_.max_threads >= kMaxSlots) panic("a machine has at most 1023 threads");
  current_ = this;
  main_body_ = body;
  main_argument_ = argument;
  main_done_ = false;
  MachineThread& main = *threads_[0];
  main.fiber->start(
      [](void* self) {
        auto& machine = *static_cast<Machine*>(self);
        machine.main_body_(machine.main_argument_);
        machine.main_done_ = true;
        for (;;) machine.threads_[0]->fiber->yield();
      },
      this);
  run_fiber(main);
  while (!main_done_) {
    loop();
    main.clock = now_;
    run_fiber(main);
  }
  running_ = &main;
  current_ = nullptr;
}

void Machine::run_all(int threads, std::uint64_t duration_ns, ThreadBody body, void* argument) {
  if (running_->index != 0) panic("threads are started by the main fibre");
  if (static_cast<std::uint32_t>(threads) > options_.max_threads) panic("more threads than the machine was built for");
  events_.grow(static_cast<std::size_t>(threads) + 1);
  body_ = body;
  body_argument_ = argument;
  stop_at_ = duration_ns >= kNoTime / 2000 ? kNoTime : now_ + duration_ns * 1000;
  alive_ = static_cast<std::uint32_t>(threads);
  for (std::uint32_t i = 0; i < alive_; ++i) start_thread(i + 1);
  threads_[0]->fiber->yield();
}

void Machine::start_thread(std::uint32_t index) {
  while (threads_.size() <= index) {
    threads_.push_back(std::make_unique<MachineThread>());
    MachineThread& made = *threads_.back();
    made.index = static_cast<std::uint32_t>(threads_.size() - 1);
    // Not all tops on the same set of the real processor's caches.
    const std::size_t colour = made.index * std::size_t{320} % 16384;
    made.fiber = std::make_unique<Fiber>(arena_ + (made.index - 1) * kStackBytes, kStackBytes - colour);
    made.random = options_.seed * 0x9E3779B97F4A7C15 + made.index;
  }
  MachineThread& thread = *threads_[index];
  const std::uint32_t cpu = (index - 1) % topology_.cpus();
  thread.ended = false;
  thread.asleep = false;
  thread.permit = true;
  thread.clock = now_;
  thread.pinned = options_.pinned ? cpu : kNoCpu;
  thread.fiber->start(
      [](void* self) {
        auto& machine = *static_cast<Machine*>(self);
        machine.body_(machine.body_argument_, static_cast<int>(machine.running_->index) - 1);
        machine.end_thread();
      },
      this);
  scheduler_.start(thread, cpu, now_);
}

void Machine::end_thread() {
  MachineThread& me = *running_;
  take_turn();
  me.ended = true;
  scheduler_.leave(me, false, me.clock);
  for (;;) me.fiber->yield();
}

// Until all threads have ended.
void Machine::loop() {
  while (alive_ != 0) {
    const MachineTime time = events_.earliest();
    const std::uint32_t slot = events_.first();
    if (time == kNoTime) panic("deadlock: every thread sleeps");
    now_ = time;
    ++events_done_;
    if (slot == MachineScheduler::kTickSlot) {
      mix(time);
      scheduler_.tick(time);
      continue;
    }
    MachineThread& thread = *threads_[slot];
    mix(time ^ (std::uint64_t{slot} << 48) ^ (static_cast<std::uint64_t>(thread.next) << 60));
    happen(thread);
  }
}

void Machine::happen(MachineThread& thread) {
  switch (thread.next) {
    case Next::kRun:
      return run_fiber(thread);
    case Next::kServe:
      return lines_.serve(*thread.line, now_);
    case Next::kArrive: {
      const MachineLine* const line = thread.line;
      lines_.arrive(thread, now_);
      return thread.spin.active ? look(thread, line) : run_fiber(thread);
    }
    case Next::kPoll:
      return look(thread);
    case Next::kSwitchedOut:
      scheduler_.switched_out(thread, now_);
      trace(thread, state_without_core(thread), now_);
      if (thread.ended) --alive_;
      return;
    case Next::kSwitchedIn:
      scheduler_.switched_in(thread, now_);
      trace(thread, thread.spin.active ? TraceState::kSpinning : TraceState::kRunning, now_);
      return go_on(thread);
    case Next::kPlaced:
      trace(thread, TraceState::kWaking, now_);
      return scheduler_.place(thread, now_);
    case Next::kDeadline:
      thread.timed_out = true;
      return scheduler_.wake(thread, kNoCpu, now_);
    case Next::kWorked:
      if (scheduler_.end_work(thread, now_)) return run_fiber(thread);
      if (!must_leave(thread)) return scheduler_.resume_work(thread, now_);
      scheduler_.pause_work(thread, now_);
      return scheduler_.leave(thread, false, now_);
    case Next::kNothing:
      panic("an event without a meaning");
  }
}

// A thread that has its core again takes up what it was doing.
void Machine::go_on(MachineThread& thread) {
  // Another thread may have written the line on this very core, so one that polls by read-modify-write tries again.
  if (thread.spin.active && thread.spin.keeps_line) return end_spin(thread, Spin::kSatisfied);
  if (thread.spin.active) return look(thread);
  if (thread.work_left > 1) return scheduler_.resume_work(thread, now_);
  run_fiber(thread);
}

void Machine::run_fiber(MachineThread& thread) {
  thread.next = Next::kNothing;
  events_.set(thread.index, kNoTime);
  thread.clock = now_;
  running_ = &thread;
  ++switches_;
  thread.fiber->resume();
}

void Machine::yield(MachineThread& me) { me.fiber->yield(); }

void Machine::take_turn() {
  MachineThread& me = *running_;
  if (me.index == 0) return;
  do {
    if (me.clock > events_.earliest()) {
      me.next = Next::kRun;
      events_.set(me.index, me.clock);
      yield(me);
    }
    if (must_leave(me)) {
      scheduler_.leave(me, false, me.clock);
      yield(me);
    }
  } while (me.clock > events_.earliest());
}

void Machine::miss(MachineLine& line, Access kind) {
  MachineThread& me = *running_;
  ++misses_;
  if (line.number == 0) line.number = ++lines_touched_;
  lines_.request(me, line, kind, me.clock);
  yield(me);
  me.clock += kind == Access::kLoad ? 0 : lines_.hit_cost(kind);
}

void Machine::touch(const void* pointer, std::size_t bytes, bool write) {
  const auto* const first = static_cast<const std::byte*>(pointer);
  for (std::size_t at = 0; at < bytes; at += kLineBytes) access(first + at, write ? Access::kStore : Access::kLoad);
}

void Machine::work_for(MachineTime time) {
  MachineThread& me = *running_;
  if (me.index == 0 || time == 0) return;
  if (time > picoseconds(kLongestMachineRunNs)) panic("work that lasts longer than the machine's clock");
  take_turn();
  scheduler_.begin_work(me, time, me.clock);
  yield(me);
}

// xorshift64* by Vigna.
std::uint32_t Machine::coin(std::uint32_t n) {
  std::uint64_t& x = running_->random;
  x ^= x >> 12;
  x ^= x << 25;
  x ^= x >> 27;
  return static_cast<std::uint32_t>(((x * 0x2545F4914F6CDD1D >> 32) * n) >> 32);
}

}  // namespace convoy
