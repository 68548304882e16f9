// machine_thread.h — What the machine knows of each simulated thread and of each hardware thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "locks/spare_nodes.h"
#include "locks/world.h"
#include "sim/fiber.h"
#include "sim/machine_events.h"
#include "sim/machine_topology.h"

namespace convoy {

struct MachineLine;
struct MachineThread;

enum class Access : std::uint8_t { kLoad, kStore, kAtomic };

// What the event of a thread means when its time has come.
enum class Next : std::uint8_t {
  kNothing,      // it waits for somebody else's event
  kRun,          // its fibre goes on
  kServe,        // it is first in the queue of a line, which is free now
  kArrive,       // the line that it asked for has come
  kPoll,         // it spins, and looks at its words
  kSwitchedOut,  // it has left its core
  kSwitchedIn,   // it has its core
  kPlaced,       // it was woken, and needs a core
  kDeadline,     // it sleeps, and its deadline has come
  kWorked,       // its work has ended, or its core's sibling has begun or ended some, or its core is wanted
};

// A spinning thread's interest in a line.
struct LineWatch {
  MachineThread* thread = nullptr;
  MachineLine* line = nullptr;
  MachineTime phase = 0;  // of its polls, within their period
  LineWatch* next = nullptr;
  LineWatch* previous = nullptr;
};

struct SpinWait {
  bool (*holds)(const void* context) = nullptr;
  const void* context = nullptr;
  std::array<LineWatch, 2> watches;
  MachineTime started = 0;
  MachineTime until = kNoTime;      // the deadline of the caller: kTimeIsUp
  MachineTime spent_at = kNoTime;   // its number of polls: kBudgetSpent
  MachineTime yields_at = kNoTime;  // user mode: from here on the core is given away to who wants it
  MachineThread* owner = nullptr;   // whose core the wait depends on
  MachineThread* next_on_owner = nullptr;
  MachineThread* previous_on_owner = nullptr;
  bool optimistic = false;
  bool keeps_line = false;  // polls by read-modify-write: goes on only once another core has written the line
  bool active = false;
  Spin end = Spin::kSatisfied;
};

struct MachineThread {
  std::uint32_t index = 0;
  std::uint32_t cpu = kNoCpu;     // where it runs, or ran last
  std::uint32_t pinned = kNoCpu;  // kNoCpu: anywhere
  MachineTime clock = 0;          // its own time while its fibre runs; never behind the machine's
  Next next = Next::kNothing;
  bool on_cpu = false;        // from switch-in to switch-out
  bool asleep = false;        // has left its core by park(), or is about to
  bool leaving = false;       // the switch-out is under way
  bool away = false;          // from the beginning of a sleep until it runs again
  bool wake_pending = false;  // was woken while it was leaving, from wake_at on
  MachineTime wake_at = 0;
  bool ended = false;

  // The kernel's task state: false from prepare_park() until a wake.
  bool permit = true;
  bool timed_out = false;
  MachineTime sleep_until = kNoTime;
  std::uint32_t waker_cpu = kNoCpu;

  // A request for a line.
  MachineLine* line = nullptr;
  MachineThread* next_in_line = nullptr;
  MachineTime asked_at = 0;
  Access access = Access::kLoad;

  SpinWait spin;
  MachineThread* spinners = nullptr;  // whose wait depends on this thread's core

  // Work under way, in picoseconds of an undisturbed core.
  bool computing = false;
  MachineTime work_left = 0;
  MachineTime work_since = 0;
  MachineTime work_factor = 0;  // how much longer it takes now, of 1024

  std::uint32_t no_preempt_depth = 0;
  bool spun_enough = false;  // user mode: as RealWorld's
  std::uint32_t unparks_held = 0;
  std::array<std::uint32_t, 16> held{};

  std::int64_t virtual_runtime = 0;  // in the queue of a core; else relative to the core's least
  std::int64_t least_at_sleep = 0;   // what the core's least was when the thread left it
  MachineTime ran_since = 0;

  std::uint64_t random = 0;
  const Site* site = nullptr;
  SpareNodes spares;
  void* spin_nodes = nullptr;  // of the qspinlock
  std::uint32_t spin_depth = 0;
  std::unique_ptr<Fiber> fiber;
};

// A hardware thread.
struct MachineCpu {
  std::uint32_t index = 0;
  MachineThread* current = nullptr;  // runs, or is being switched in or out
  std::vector<MachineThread*> queue;
  bool wanted = false;  // the kernel's need_resched
  std::int64_t least_runtime = 0;
  MachineTime slice_since = 0;
  MachineTime idle_since = 0;
  MachineTime idle_exit = 0;      // of the state that it is in
  MachineTime expected_idle = 0;  // a running mean of its idle times
  bool is_measured = false;       // whether it has ended an idle time
  bool counts_idle = false;       // whether idle_since is one: not before its first thread
};

}  // namespace convoy
