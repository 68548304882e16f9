// machine.h — A simulated multicore machine: threads as fibres, in virtual time.
// SPDX-License-Identifier: MIT
//
// One event at a time, in strict order of time; equal times in the order of thread numbers, but for the fibre that
// runs, which goes first. It runs ahead while no event of anybody else is before its clock, so what it reads and writes
// happens at its clock.
//
// Simulated memory is one arena: the stacks of the threads, that of the main fibre, and what is allocated. A line is 64
// bytes of it. The stack of a thread counts as one line: what stands on it is a waiter, and where in the frame is the
// compiler's business. What is shared stands in an alignas(64) object, on the main fibre's stack or allocated, so that
// its layout alone says which fields share a line. Lines are numbered as they are first touched, and that number, no
// address, is what a lock may hash. So the run is a function of workload, machine and seed; its trace hash says so.
//
// run(f) calls f on the main fibre, which costs nothing: it builds the locks, calls run_threads(), and looks at the
// result. Every failure ends the process with a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/machine_lines.h"
#include "sim/machine_scheduler.h"
#include "sim/machine_spec.h"
#include "sim/machine_thread.h"
#include "sim/machine_trace.h"

namespace convoy {

struct MachineOptions {
  std::uint64_t seed = 1;
  std::uint32_t max_threads = 256;
  bool pinned = true;  // thread i to hardware thread i, round robin
  std::size_t heap_bytes = std::size_t{64} << 20;
  MachineTrace* trace = nullptr;  // null: none
};

// What the run took.
struct MachineStats {
  std::uint64_t accesses = 0;  // through the cost model; polls of a waiting core do not count
  std::uint64_t misses = 0;
  std::uint64_t events = 0;
  std::uint64_t fiber_switches = 0;
  std::uint64_t trace_hash = 0;
  MachineTime virtual_time = 0;
};

class Machine {
 public:
  Machine(const MachineSpec& spec, const MachineOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  static Machine& current() { return *current_; }

  // Calls body() on the main fibre.
  template <class F>
  void run(F body) {
    run_main([](void* argument) { (*static_cast<F*>(argument))(); }, &body);
  }
  // On the main fibre: body(0) to body(threads - 1), each on a thread; `duration_ns` from now stopped() becomes true.
  template <class F>
  void run_threads(int threads, std::uint64_t duration_ns, F& body) {
    run_all(
        threads, duration_ns, [](void* argument, int thread) { (*static_cast<F*>(argument))(thread); }, &body);
  }

  MachineStats stats() const;

  // For MachineWorld: what the running fibre does.

  MachineThread& running() { return *running_; }
  MachineThread& thread(std::uint32_t index) { return *threads_[index]; }
  // An access to the word at `pointer`; on return is the moment at which it happens.
  void access(const void* pointer, Access kind) {
    MachineThread& me = *running_;
    if (me.clock > events_.earliest() || me.cpu == kNoCpu) [[unlikely]] {
      if (me.cpu == kNoCpu) return;  // the main fibre
      take_turn();
    }
    ++accesses_;
    MachineLine& line = line_of(pointer);
    mix(me.clock + static_cast<std::uint64_t>(kind));
    if (!lines_.hits(line, me.cpu, me.clock, kind)) [[unlikely]]
      return miss(line, kind);
    me.clock += lines_.hit_cost(kind);
  }
  // Waits until nobody has an event before this fibre's clock, and gives its core away if it is wanted.
  void take_turn();

  struct SpinCall {
    const void* words[2];  // the second may be null
    bool (*holds)(const void* context);
    const void* context;
    bool keeps_line = false;
  };
  // Spins until holds(context), which was seen false, or an end of the limit; a null limit has none.
  Spin spin(const SpinCall& call, const SpinLimit* limit);

  bool is_running(Thread thread);
  bool should_yield();
  void prepare_park();
  bool park_until(Deadline deadline);
  bool unpark(Thread thread);
  Deadline deadline_in(std::uint64_t ns);
  bool expired(Deadline deadline);
  void enter_no_preempt();
  void leave_no_preempt();
  void work(std::uint64_t units) { work_for(units < kNoTime / (work_unit_ + 1) ? work_unit_ * units : kNoTime); }
  void work_for(MachineTime time);
  void touch(const void* pointer, std::size_t bytes, bool write);
  bool stopped() const { return running_->clock >= stop_at_; }
  MachineTime now() const { return running_->clock; }
  std::uint32_t coin(std::uint32_t n);
  std::uint64_t ordinal(const void* object);
  bool uses_ticket_locks() const { return ticket_locks_; }
  bool is_user_mode() const { return user_mode_; }

  void* allocate(std::size_t bytes, std::size_t alignment);
  template <class T>
  T& shared() {
    for (const Shared& shared : shared_) {
      if (shared.type == &kTypeOf<T>) return *static_cast<T*>(shared.object);
    }
    T* const object = new (allocate(sizeof(T), alignof(T) < 64 ? 64 : alignof(T))) T();
    shared_.push_back({&kTypeOf<T>, object, [](void* dying) { static_cast<T*>(dying)->~T(); }});
    return *object;
  }
  [[noreturn]] void panic(std::string_view text) const;

 private:
  static constexpr std::size_t kStackBytes = std::size_t{128} << 10;
  static constexpr std::size_t kMainStackBytes = std::size_t{1} << 20;
  static constexpr std::size_t kLineBytes = 64;
  using ThreadBody = void (*)(void* argument, int thread);

  struct Shared {
    const void* type;
    void* object;
    void (*destroy)(void*);
  };
  template <class T>
  static constexpr char kTypeOf{};

  void run_main(void (*body)(void*), void* argument);
  void run_all(int threads, std::uint64_t duration_ns, ThreadBody body, void* argument);
  void start_thread(std::uint32_t index);
  void end_thread();
  void loop();
  void happen(MachineThread& thread);
  void run_fiber(MachineThread& thread);
  void go_on(MachineThread& thread);
  void yield(MachineThread& me);
  void miss(MachineLine& line, Access kind);
  void look(MachineThread& thread, const MachineLine* arrived = nullptr);
  void end_spin(MachineThread& thread, Spin end);
  void watch_on(MachineThread& thread);
  void trace(const MachineThread& thread, TraceState state, MachineTime time) {
    if (options_.trace != nullptr) [[unlikely]]
      options_.trace->enter(thread.index, thread.cpu, state, time);
  }
  bool must_leave(const MachineThread& thread) const {
    return scheduler_.is_wanted(thread) && (user_mode_ || thread.no_preempt_depth == 0);
  }
  void issue_unpark(MachineThread& me, MachineThread& target);
  MachineTime end_of(Deadline deadline) const;

  MachineLine& line_of(const void* pointer) {
    std::size_t offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - arena_);
    if (offset < stacks_bytes_) {
      offset &= ~(kStackBytes - 1);
    } else if (offset >= arena_bytes_) [[unlikely]] {
      panic("an object of a lock is not in simulated memory: build it on the main fibre's stack or allocate it");
    }
    return line_table_[offset / kLineBytes];
  }
  void mix(std::uint64_t value) { hash_ = (hash_ ^ value) * 0x9E3779B97F4A7C15 + 1; }

  MachineSpec spec_;
  MachineOptions options_;
  MachineTopology topology_;
  MachineEvents events_;
  MachineLines lines_;
  MachineScheduler scheduler_;
  std::vector<std::unique_ptr<MachineThread>> threads_;  // 0 is the main fibre
  MachineThread* running_ = nullptr;
  MachineTime now_ = 0;
  MachineTime stop_at_ = kNoTime;
  std::uint64_t hash_ = 0;
  std::uint64_t accesses_ = 0;
  std::uint64_t misses_ = 0;
  std::uint64_t events_done_ = 0;
  std::uint64_t switches_ = 0;

  std::byte* arena_ = nullptr;
  std::size_t arena_bytes_ = 0;
  std::size_t stacks_bytes_ = 0;
  std::size_t heap_used_ = 0;  // offset in the arena
  MachineLine* line_table_ = nullptr;
  std::uint32_t lines_touched_ = 0;
  std::vector<Shared> shared_;

  bool user_mode_;
  bool ticket_locks_;
  MachineTime pause_, work_unit_, syscall_, wake_, wake_interrupt_, wake_awake_, jiffy_, spin_budget_;
  std::uint64_t yield_after_;

  ThreadBody body_ = nullptr;
  void* body_argument_ = nullptr;
  void (*main_body_)(void*) = nullptr;
  void* main_argument_ = nullptr;
  std::uint32_t alive_ = 0;
  bool main_done_ = false;

  static inline constinit thread_local Machine* current_ = nullptr;
};

}  // namespace convoy
