// machine_spec.h — The numbers of a simulated machine, each described once.
// SPDX-License-Identifier: MIT
//
// Times are in nanoseconds here, as a machine file writes them; the machine itself counts whole picoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

// The machine's clock lasts five hours, and a run must end before the half of it.
inline constexpr double kLongestMachineRunNs = 2 * 3.6e12;

struct MachineSpec {
  std::string mode = "kernel";
  std::string spin_lock = "qspinlock";
  std::string line_service = "fifo";
  std::string scheduler = "cfs";
  std::uint32_t sockets = 1;
  std::uint32_t clusters_per_socket = 1;
  std::uint32_t cores_per_cluster = 2;
  std::uint32_t threads_per_core = 1;

  double hit_load = 1.5;
  double hit_store = 0.5;
  double hit_atomic = 6;
  double transfer_smt = 10;
  double transfer_cluster = 50;
  double transfer_socket = 50;
  double transfer_cross = 130;
  double memory_local = 80;
  double memory_remote = 140;
  double read_occupancy = 10;
  double nearest_window = 0;
  double pause = 40;
  double work_unit = 10;
  double smt_slowdown = 1.5;

  double syscall = 100;
  double wake = 700;
  double wake_interrupt = 0;
  double wake_awake = 50;
  double ipi = 300;
  double sleep = 600;
  double switch_in = 600;
  double idle_1_exit = 0, idle_1_residency = 0;
  double idle_2_exit = 0, idle_2_residency = 0;
  double idle_3_exit = 0, idle_3_residency = 0;

  std::uint32_t hz = 250;
  double sched_latency = 24e6;
  double min_granularity = 3e6;
  double wakeup_granularity = 4e6;
  double spin_budget = 25'000;
  std::uint32_t yield_after = 100;

  std::uint32_t cpus() const { return sockets * clusters_per_socket * cores_per_cluster * threads_per_core; }
  bool is_user_mode() const { return mode == "user"; }

  // The key is the one of the machine file and of --machine-set.
  template <class Self, class V>
  static void describe(Self& m, V& v) {
    constexpr auto kStart = When::kStart;
    constexpr Range kNs{0.0, 1e9};
    constexpr Range kHit{0.001, 1e9};  // so that no loop stands still in time
    v("mode", m.mode, OneOf{&modes}, kStart, "Whether locks run as in a kernel, or as in a program.");
    v("spin-lock", m.spin_lock, OneOf{&spin_locks}, kStart, "The internal lock of buckets and wait lists.");
    v("line-service", m.line_service, OneOf{&services}, kStart, "Whose request a cache line serves next.");
    v("scheduler", m.scheduler, OneOf{&schedulers}, kStart, "Linux's: cfs up to 6.5, eevdf since.");
    v("sockets", m.sockets, Range{1u, 8u}, kStart, "Sockets.");
    v("clusters-per-socket", m.clusters_per_socket, Range{1u, 64u}, kStart, "Groups of cores that share a cache.");
    v("cores-per-cluster", m.cores_per_cluster, Range{1u, 128u}, kStart, "Cores of such a group.");
    v("threads-per-core", m.threads_per_core, Range{1u, 2u}, kStart, "Hardware threads of a core.");
    v("hit-load-ns", m.hit_load, kHit, kStart, "Load of a line that the core has.");
    v("hit-store-ns", m.hit_store, kHit, kStart, "Store to a line that the core has alone.");
    v("hit-atomic-ns", m.hit_atomic, kHit, kStart, "Read-modify-write of a line that the core has alone.");
    v("line-transfer-smt-ns", m.transfer_smt, kNs, kStart, "A line comes from the other hardware thread.");
    v("line-transfer-cluster-ns", m.transfer_cluster, kNs, kStart, "A line comes from a core of the same cluster.");
    v("line-transfer-socket-ns", m.transfer_socket, kNs, kStart, "A line comes from another cluster of the socket.");
    v("line-transfer-cross-ns", m.transfer_cross, kNs, kStart, "A line comes from another socket.");
    v("memory-local-ns", m.memory_local, kNs, kStart, "A line that no core has comes from the socket's memory.");
    v("memory-remote-ns", m.memory_remote, kNs, kStart, "The same, from another socket's memory.");
    v("line-read-occupancy-ns", m.read_occupancy, kNs, kStart, "From one read of a line to the next that it serves.");
    v("nearest-window-ns", m.nearest_window, kNs, kStart, "How long a request may be passed by nearer ones.");
    v("pause-ns", m.pause, Range{0.1, 1e6}, kStart, "From one poll of a spinning core to the next.");
    v("work-unit-ns", m.work_unit, kNs, kStart, "One unit of prescribed work.");
    v("smt-slowdown", m.smt_slowdown, Range{1.0, 4.0}, kStart,
      "Work takes so many times as long beside a sibling that works.");
    v("syscall-ns", m.syscall, kNs, kStart, "In and out of the kernel; in user mode only.");
    v("wake-ns", m.wake, kNs, kStart, "What the waker of a sleeper pays.");
    v("wake-interrupt-ns", m.wake_interrupt, kNs, kStart, "What it pays more when that core is in an idle state.");
    v("wake-awake-ns", m.wake_awake, kNs, kStart, "What it pays when the thread is awake.");
    v("ipi-ns", m.ipi, kNs, kStart, "From the waker's end to the target core's beginning.");
    v("sleep-ns", m.sleep, kNs, kStart, "From park() until the thread has left its core.");
    v("switch-in-ns", m.switch_in, kNs, kStart, "From the choice of a thread until it runs.");
    v("idle-1-exit-ns", m.idle_1_exit, kNs, kStart, "Leaving the shallowest idle state.");
    v("idle-1-residency-ns", m.idle_1_residency, kNs, kStart, "Expected idle time from which on it is chosen.");
    v("idle-2-exit-ns", m.idle_2_exit, kNs, kStart, "Leaving the middle idle state.");
    v("idle-2-residency-ns", m.idle_2_residency, kNs, kStart, "Expected idle time from which on it is chosen.");
    v("idle-3-exit-ns", m.idle_3_exit, kNs, kStart, "Leaving the deepest idle state.");
    v("idle-3-residency-ns", m.idle_3_residency, kNs, kStart, "Expected idle time from which on it is chosen.");
    v("hz", m.hz, Range{100u, 1000u}, kStart, "Ticks a second.");
    v("sched-latency-ns", m.sched_latency, kNs, kStart, "cfs: period in which every runnable thread of a core runs.");
    v("min-granularity-ns", m.min_granularity, kNs, kStart, "Shortest time slice; eevdf: the time slice.");
    v("wakeup-granularity-ns", m.wakeup_granularity, kNs, kStart, "cfs: lag from which on a woken thread preempts.");
    v("spin-budget-ns", m.spin_budget, kNs, kStart, "Longest optimistic spin in user mode.");
    v("yield-after", m.yield_after, Range{1u, 1000000u}, kStart, "Polls before a spin in user mode yields its core.");
  }

 private:
  static std::vector<std::string> modes() { return {"kernel", "user"}; }
  static std::vector<std::string> spin_locks() { return {"ticket", "qspinlock"}; }
  static std::vector<std::string> services() { return {"fifo", "nearest"}; }
  static std::vector<std::string> schedulers() { return {"cfs", "eevdf"}; }
};

}  // namespace convoy
