// small_machine.h — A machine of round numbers, on which expected times are worked out by hand.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine_world.h"

namespace convoy {

// A thread runs from 500 ns on: it is switched in on a core that polls.
inline constexpr std::uint64_t kStartNs = 500;

inline MachineSpec small_machine(std::uint32_t sockets, std::uint32_t cores, std::uint32_t threads_per_core = 1) {
  MachineSpec m;
  m.sockets = sockets;
  m.clusters_per_socket = 1;
  m.cores_per_cluster = cores;
  m.threads_per_core = threads_per_core;
  m.hit_load = 1;
  m.hit_store = 2;
  m.hit_atomic = 5;
  m.transfer_smt = 10;
  m.transfer_cluster = 40;
  m.transfer_socket = 60;
  m.transfer_cross = 100;
  m.memory_local = 80;
  m.memory_remote = 120;
  m.read_occupancy = 8;
  m.pause = 10;
  m.work_unit = 10;
  m.smt_slowdown = 1.5;
  m.wake = 700;
  m.wake_awake = 50;
  m.ipi = 300;
  m.sleep = 600;
  m.switch_in = 500;
  m.idle_1_exit = 1000;
  m.idle_1_residency = 2000;
  m.idle_2_exit = 9000;
  m.idle_2_residency = 20'000;
  return m;
}

// What body(thread) returned for each thread.
template <class Body>
std::vector<std::uint64_t> run_on(Machine& machine, int threads, Body body) {
  std::vector<std::uint64_t> results(static_cast<std::size_t>(threads));
  machine.run([&] {
    MachineWorld::run(threads, 0, [&](int thread) { results[static_cast<std::size_t>(thread)] = body(thread); });
  });
  return results;
}

// A body for two: thread 0 sleeps, and thread 1 wakes it after 500 units of work.
inline std::uint64_t sleep_and_wake(int thread) {
  using W = MachineWorld;
  if (thread == 0) {
    W::prepare_park();
    W::park();
  } else {
    W::work(500);
    W::unpark(Thread{1});
  }
  return W::now_ns();
}

// An atomic word on a line of its own.
struct alignas(64) WordLine {
  MachineWorld::Atomic<std::uint32_t> word{0};
};

inline WordLine* new_line(Machine& machine) { return new (machine.allocate(sizeof(WordLine), 64)) WordLine; }

}  // namespace convoy
