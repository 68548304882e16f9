// machine_scheduler_test.cc — Goal: who runs when, to the nanosecond. Method: scripts whose times are worked out.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "tests/machine/small_machine.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using W = MachineWorld;

// Thread 0 parks at 500 and has left its core at 1100; the core has never been idle and takes its deepest state.
// Thread 1 wakes it at 5500, pays 700 until 6200; then interrupt 300, idle exit 9000, switch-in 500.
TEST(MachineScheduler, park_and_unpark) {
  Machine machine(small_machine(1, 2), {});
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::prepare_park();
      W::park();
    } else {
      W::work(500);
      EXPECT_TRUE(W::unpark(Thread{1}));
      EXPECT_FALSE(W::unpark(Thread{1})) << "it is awake now, if not yet running";
      EXPECT_FALSE(W::is_running(Thread{1}));
    }
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(16'000, 6'250));
}

// The same where an interrupt costs the waker 200 more. The control: a core that polls while it is idle needs none.
TEST(MachineScheduler, an_interrupt_costs_the_waker) {
  for (const bool has_states : {true, false}) {
    MachineSpec spec = small_machine(1, 2);
    spec.wake_interrupt = 200;
    if (!has_states) spec.idle_1_exit = spec.idle_2_exit = 0;
    Machine machine(spec, {});
    const auto ends = run_on(machine, 2, sleep_and_wake);
    if (has_states) {
      EXPECT_THAT(ends, ElementsAre(16'200, 6'400));
    } else {
      EXPECT_THAT(ends, ElementsAre(6'700, 6'200));
    }
  }
}

// In a program nobody can know who is on a core: a thread counts as running but when it sleeps, until it runs again, or
// was on the asker's core. Thread 0 loses core 0 to thread 2 at the tick of 4 ms, for a millisecond.
TEST(MachineScheduler, is_running_as_a_program_knows) {
  MachineSpec spec = small_machine(1, 2);
  spec.mode = "user";
  spec.scheduler = "eevdf";
  Machine machine(spec, {.pinned = true});
  run_on(machine, 3, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::work(600'000);
      W::prepare_park();
      W::park();
      W::work(100'000);
    }
    if (thread == 1) {
      W::work(450'000);
      EXPECT_TRUE(W::is_running(Thread{1})) << "waits for its core";
      W::work(450'000);
      EXPECT_FALSE(W::is_running(Thread{1})) << "asleep";
      W::unpark(Thread{1});
      EXPECT_FALSE(W::is_running(Thread{1})) << "woken, not yet on its core";
      W::work(5000);
      EXPECT_TRUE(W::is_running(Thread{1}));
    }
    if (thread == 2) {
      EXPECT_FALSE(W::is_running(Thread{1})) << "on this core, so it does not run";
      W::work(100'000);
    }
    return 0;
  });
}

// An unpark between prepare_park() and park() costs the waker 50 and nobody a sleep.
TEST(MachineScheduler, unpark_before_park) {
  Machine machine(small_machine(1, 2), {});
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::prepare_park();
      W::work(100);
      W::park();
    } else {
      W::work(50);
      EXPECT_TRUE(W::unpark(Thread{1}));
    }
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(1500, 1050));
}

// A wake that comes while the thread is leaving its core: it has left at 1100, the wake is issued from 600 to 1300, and
// the core is in its deepest state by then.
TEST(MachineScheduler, unpark_while_it_leaves) {
  Machine machine(small_machine(1, 2), {});
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::prepare_park();
      W::park();
    } else {
      W::work(10);
      EXPECT_TRUE(W::is_running(Thread{1})) << "until it has been switched out";
      EXPECT_TRUE(W::unpark(Thread{1}));
    }
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(1300 + 300 + 9000 + 500, 1300));
}

// The deadline is a jiffy and one more (4 ms each) from now; no interrupt is sent by another core.
TEST(MachineScheduler, park_until) {
  Machine machine(small_machine(1, 1), {});
  const auto ends = run_on(machine, 1, [&](int) {
    W::prepare_park();
    EXPECT_FALSE(W::park_until(W::deadline_in(4'000'000)));
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(8'000'000 + 9000 + 500));
}

// The time is up at 5500; the idle exit and the switch-in last until 15000, and an unpark at 10000 still counts.
TEST(MachineScheduler, unpark_after_the_deadline) {
  for (const bool is_woken : {true, false}) {
    Machine machine(small_machine(1, 2), {});
    const auto ends = run_on(machine, 2, [&](int thread) {
      if (thread == 0) {
        W::prepare_park();
        EXPECT_EQ(W::park_until(W::deadline_in(5000)), is_woken);
      } else {
        W::work(950);
        EXPECT_EQ(is_woken && W::unpark(Thread{1}), is_woken);
      }
      return W::now_ns();
    });
    EXPECT_THAT(ends, ElementsAre(15'000, is_woken ? 10'050 : 10'000));
  }
}

TEST(MachineScheduler, short_deadlines_are_exact) {
  Machine machine(small_machine(1, 1), {});
  const auto ends = run_on(machine, 1, [&](int) {
    const Deadline deadline = W::deadline_in(10'000);
    W::work(999);
    EXPECT_FALSE(W::expired(deadline));
    W::work(1);
    EXPECT_TRUE(W::expired(deadline));
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(kStartNs + 10'000));
}

// Sleeps of 1000 ns: the mean falls below the first state's residency, and then the core polls while it is idle.
TEST(MachineScheduler, idle_state_follows_the_idle_times) {
  Machine machine(small_machine(1, 1), {});
  const auto costs = run_on(machine, 1, [&](int) {
    std::uint64_t last = 0;
    for (int i = 0; i < 100; ++i) {
      const auto begin = W::now_ns();
      W::prepare_park();
      W::park_until(W::deadline_in(1600));
      last = W::now_ns() - begin;
    }
    return last;
  });
  EXPECT_THAT(costs, ElementsAre(1600 + 500));
}

// 30 ms of work each. Threads 0 and 2 share core 0, in slices of 12 ms (24 / 2) looked at every 4 ms: thread 0 has run
// for 11.9995 ms at the tick of 12 ms, so it is preempted at 16 ms, leaves for 600 ns, and thread 2 runs from
// 16.0011 ms to 46.0011 ms. Thread 1 ends at 30.0005 ms; its core pulls thread 0, which has 14.0005 ms to go, and runs
// it from 30.0016 ms on.
TEST(MachineScheduler, three_threads_on_two_cores) {
  Machine machine(small_machine(1, 2), {.pinned = false});
  const auto ends = run_on(machine, 3, [&](int) {
    W::work(3'000'000);
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(44'002'100, 30'000'500, 46'001'100));
}

// Pinned, nobody pulls: thread 0 waits for its core until thread 2 has had its slice, from 16.0011 ms to 32 ms.
TEST(MachineScheduler, pinned_threads_stay) {
  Machine machine(small_machine(1, 2), {.pinned = true});
  const auto ends = run_on(machine, 3, [&](int) {
    W::work(3'000'000);
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(32'001'100 + 14'000'500, 30'000'500, testing::Gt(46'001'100u)));
}

// Both siblings work: 1.5 times as long. Thread 0 ends after 1500; thread 1 has done 1000 of 2000 then, and goes on
// undisturbed.
TEST(MachineScheduler, siblings_slow_each_other) {
  Machine machine(small_machine(1, 1, 2), {});
  const auto ends = run_on(machine, 2, [&](int thread) {
    W::work(thread == 0 ? 100 : 200);
    return W::now_ns() - kStartNs;
  });
  EXPECT_THAT(ends, ElementsAre(1500, 2500));
}

// The owner leaves its core 600 after it parks at 5500; the spinner polls every 10 from 500 on.
TEST(MachineScheduler, spin_ends_when_the_owner_leaves) {
  Machine machine(small_machine(1, 2), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::work(500);
      W::prepare_park();
      W::park_until(W::deadline_in(50'000));
      return 0;
    }
    const auto never = [](std::uint32_t v) { return v == 1; };
    EXPECT_EQ(W::spin_for(line.word, relaxed, never, SpinLimit{.owner = Thread{1}}), Spin::kOwnerSlept);
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(0, 6100));
}

TEST(MachineScheduler, spin_ends_by_time_and_by_polls) {
  Machine machine(small_machine(1, 1), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 1, [&](int) {
    const auto never = [](std::uint32_t v) { return v == 1; };
    line.word.load(relaxed);
    const auto begin = W::now_ns();
    EXPECT_EQ(W::spin_for(line.word, relaxed, never, SpinLimit{.until = W::deadline_in(1001)}), Spin::kTimeIsUp);
    EXPECT_EQ(W::now_ns() - begin, 1001u);
    EXPECT_EQ(W::spin_for(line.word, relaxed, never, SpinLimit{.polls = 5}), Spin::kBudgetSpent);
    return W::now_ns() - begin;
  });
  EXPECT_THAT(ends, ElementsAre(1001 + 1 + 50));
}

// Two threads on one core: the spinner's slice ends, and its optimistic spin with it; the other one then runs.
TEST(MachineScheduler, spin_ends_when_the_core_is_wanted) {
  Machine machine(small_machine(1, 1), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 1) return W::now_ns();
    const auto never = [](std::uint32_t v) { return v == 1; };
    EXPECT_EQ(W::spin_for(line.word, relaxed, never, SpinLimit{.optimistic = true}), Spin::kMustYield);
    EXPECT_TRUE(W::should_yield() || W::now_ns() > 16'000'000);
    return W::now_ns();
  });
  EXPECT_GT(ends[1], 16'000'000u);
}

// Thread 0 sleeps until 8 ms (a jiffy and one more of 4 ms), and thread 1 works for 100 ms, on one core.
std::uint64_t end_of_sleep_beside_work(const MachineSpec& spec) {
  Machine machine(spec, {});
  return run_on(machine, 2, [&](int thread) {
    if (thread == 1) {
      W::work(10'000'000);
    } else {
      W::prepare_park();
      W::park_until(W::deadline_in(4'000'000));
    }
    return W::now_ns();
  })[0];
}

// Thread 1 works on the core of thread 0, which wakes at 8 ms with less virtual run time behind it, by more than the
// granularity of 4 ms: thread 1 leaves the core, 600, and thread 0 is switched in, 500. The control: with a granularity
// of a second it waits for the end of the slice, 12 ms, at the tick of 16 ms.
TEST(MachineScheduler, woken_thread_preempts) {
  for (const double granularity : {4e6, 1e9}) {
    MachineSpec spec = small_machine(1, 1);
    spec.wakeup_granularity = granularity;
    EXPECT_EQ(end_of_sleep_beside_work(spec), granularity == 4e6 ? 8'001'100 : 16'001'100);
  }
}

// By EEVDF it preempts at 8 ms, since thread 1 has had its slice of 3 ms. The control: with a slice of 20 ms that is
// over at the tick of 24 ms.
TEST(MachineScheduler, woken_thread_preempts_who_has_had_its_slice) {
  for (const double slice : {3e6, 20e6}) {
    MachineSpec spec = small_machine(1, 1);
    spec.scheduler = "eevdf";
    spec.min_granularity = slice;
    EXPECT_EQ(end_of_sleep_beside_work(spec), slice == 3e6 ? 8'001'100 : 24'001'100);
  }
}

// Thread 0 works for 30 ms and two spin until it has, on one core. By EEVDF a spinner that gives way is a slice behind,
// so that thread 0 is back after a few microseconds; by CFS the two let each other by until both ran as long as it.
TEST(MachineScheduler, spinners_give_way) {
  for (const char* scheduler : {"eevdf", "cfs"}) {
    MachineSpec spec = small_machine(1, 1);
    spec.mode = "user";
    spec.scheduler = scheduler;
    Machine machine(spec, {});
    WordLine& line = *new_line(machine);
    const auto ends = run_on(machine, 3, [&](int thread) {
      if (thread == 0) {
        W::work(3'000'000);
        line.word.store(1, relaxed);
      } else {
        W::await(line.word, relaxed, [](std::uint32_t v) { return v == 1; });
      }
      return W::now_ns();
    });
    if (spec.scheduler == "eevdf") {
      EXPECT_LT(ends[0], 31'000'000u);
    } else {
      EXPECT_GT(ends[0], 60'000'000u);
    }
  }
}

// Thread 0 sleeps and thread 4 takes its core. Cores 1 and 2 fall idle; core 2 is on the socket of the waker, which is
// thread 3.
TEST(MachineScheduler, woken_thread_goes_near_its_waker) {
  Machine machine(small_machine(2, 2), {.pinned = false});
  const auto cores = run_on(machine, 5, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::prepare_park();
      W::park();
    }
    if (thread == 3) {
      W::work(10'000);
      W::unpark(Thread{1});
    }
    if (thread == 4) W::work(100'000);
    return Machine::current().running().cpu;
  });
  EXPECT_THAT(cores, ElementsAre(2, 1, 2, 3, 0));
}

// The core where it ran last is idle: it goes there, wherever the waker is.
TEST(MachineScheduler, woken_thread_goes_back_to_its_idle_core) {
  Machine machine(small_machine(2, 2), {.pinned = false});
  const auto cores = run_on(machine, 4, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      W::prepare_park();
      W::park();
    }
    if (thread == 3) {
      W::work(10'000);
      W::unpark(Thread{1});
    }
    return Machine::current().running().cpu;
  });
  EXPECT_THAT(cores, ElementsAre(0, 1, 2, 3));
}

// A kernel's spinlock keeps its core, a program's does not.
TEST(MachineScheduler, no_preempt_in_kernel_mode_only) {
  for (const char* mode : {"kernel", "user"}) {
    MachineSpec spec = small_machine(1, 1);
    spec.mode = mode;
    Machine machine(spec, {});
    const auto ends = run_on(machine, 2, [&](int thread) {
      if (thread == 1) return W::now_ns();
      const W::NoPreempt keep;
      W::work(10'000'000);
      return W::now_ns();
    });
    EXPECT_EQ(ends[1] > 100'000'000, spec.mode == "kernel") << mode;
  }
}

TEST(MachineSchedulerDeathTest, deadlock_is_found) {
  const auto sleep_for_ever = [] {
    Machine machine(small_machine(1, 1), {});
    run_on(machine, 1, [&](int) {
      W::prepare_park();
      W::park();
      return std::uint64_t{0};
    });
  };
  EXPECT_DEATH(sleep_for_ever(), "deadlock");
}

}  // namespace
}  // namespace convoy
