// host_costs.h — What lines, sleeping and waking cost on this host, each measured again and again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace convoy {

// One value a round, or one an event, in nanoseconds. Every function pins the threads that it measures with, starts
// them and ends them; none takes more than a few seconds.
using Costs = std::vector<double>;

// On one processor: a load and a store that hit the first cache, an atomic addition to a line that nobody else has, one
// pause instruction, the shortest system call.
Costs load_costs(int cpu);
Costs store_costs(int cpu);
Costs atomic_costs(int cpu);
Costs pause_costs(int cpu);
Costs syscall_costs(int cpu);

// A load that misses every cache: a walk through 128 MiB, huge pages where there are any.
Costs memory_costs(int cpu);

// A line from one processor to another: two threads compare-and-swap one word in turn; half of a round trip.
Costs transfer_costs(int one, int other);

// How much longer a pause loop takes on `one` while `other` runs one too: ratios, not nanoseconds.
Costs slowdowns(int one, int other);

struct WakeCosts {
  Costs call;     // of the system call that ends a sleep, for who makes it
  Costs latency;  // from its beginning until the sleeper runs in its program again
};
// A thread on `sleeper` sleeps on a futex for `idle_ns`, then one on `waker` wakes it. A sleeper that had not slept
// yet, or had woken by itself, is left out.
WakeCosts wake_costs(int waker, int sleeper, std::int64_t idle_ns, int events);

struct SwitchCosts {
  Costs call;  // of the system call that wakes the other one
  Costs turn;  // from one's run to the other's: this call, the one that sleeps, the switch
};
// Two threads on one processor wake each other and sleep, in turn. As SCHED_BATCH, so that no wake-up preempts.
SwitchCosts switch_costs(int cpu);

// How long a thread runs before another one that is always ready gets the processor.
Costs slice_costs(int cpu);

// The scheduler's tick, as the coarse clock says.
double tick_ns();

struct SchedulerInfo {
  bool eevdf = false;            // Linux 6.6 and later
  std::uint32_t processors = 1;  // that are online, by which the kernel scales its time slice
};
// By a kernel's release, "6.18.4" or "Linux 6.18.4".
SchedulerInfo scheduler_info(const std::string& release);

}  // namespace convoy
