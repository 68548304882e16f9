// calibrate_test.cc — Goal: what was measured becomes a machine file that is read back. Method: made-up costs, one run.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "loadgen/host_machine.h"
#include "sim/machine_file.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::loadgen;

Costs around(double value) { return {value - 1, value - 1, value, value + 1, value + 1}; }

HostCosts made_up() {
  HostCosts costs;
  costs.load = costs.store = costs.atomic = around(2);
  costs.pause = around(40);
  costs.syscall = around(100);
  costs.memory = around(90);
  costs.slice = around(3e6);
  costs.switches = {around(600), around(2000)};
  costs.transfer[static_cast<std::size_t>(Nearness::kCluster)] = around(30);
  costs.transfer[static_cast<std::size_t>(Nearness::kCross)] = around(130);
  costs.wakes = {{20'000, {around(900), around(4000)}},
                 {200'000, {around(900), around(4500)}},
                 {1'000'000, {around(900), around(11'000)}},
                 {10'000'000, {around(900), around(12'000)}}};
  costs.tick_ns = 4e6;
  costs.scheduler = {.eevdf = false, .processors = 4};
  return costs;
}

HostTopology two_sockets() {
  return {{{.number = 0, .socket = 0, .cluster = 0, .core = 0},
           {.number = 1, .socket = 0, .cluster = 0, .core = 1},
           {.number = 2, .socket = 1, .cluster = 2, .core = 2},
           {.number = 3, .socket = 1, .cluster = 2, .core = 3}}};
}

TEST(HostTopology, counts_and_pairs) {
  const auto topology = two_sockets();
  EXPECT_EQ(topology.sockets(), 2u);
  EXPECT_EQ(topology.clusters_per_socket(), 1u);
  EXPECT_EQ(topology.cores_per_cluster(), 2u);
  EXPECT_EQ(topology.threads_per_core(), 1u);
  EXPECT_EQ(topology.pair_of(Nearness::kCluster), std::pair(0, 1));
  EXPECT_EQ(topology.pair_of(Nearness::kCross), std::pair(0, 2));
  EXPECT_FALSE(topology.pair_of(Nearness::kSmt) || topology.pair_of(Nearness::kSocket));
}

// Two hardware threads of a core, and a core with a cache of its own on the same socket.
TEST(HostTopology, is_read_from_sys) {
  const auto sys = fs::path(::testing::TempDir()) / ("sys_" + std::to_string(::getpid()));
  const auto write = [&](const std::string& path, const std::string& text) {
    fs::create_directories((sys / path).parent_path());
    std::ofstream(sys / path) << text << "\n";
  };
  for (const int cpu : {0, 1, 2}) {
    const auto folder = "cpu" + std::to_string(cpu) + "/";
    write(folder + "topology/physical_package_id", "0");
    write(folder + "topology/thread_siblings_list", cpu == 2 ? "2" : "0-1");
    write(folder + "cache/index3/shared_cpu_list", cpu == 2 ? "2,6" : "0-1");
  }
  const auto topology = read_host_topology({0, 1, 2}, sys.string());
  fs::remove_all(sys);
  EXPECT_EQ(topology.pair_of(Nearness::kSmt), std::pair(0, 1));
  EXPECT_EQ(topology.pair_of(Nearness::kSocket), std::pair(0, 2));
  EXPECT_EQ(topology.clusters_per_socket(), 2u);
  EXPECT_EQ(topology.threads_per_core(), 2u);
  // Nothing is known: a socket, a cache, a core each.
  EXPECT_EQ(read_host_topology({4, 5}, "/nowhere").pair_of(Nearness::kCluster), std::pair(4, 5));
}

TEST(HostMachine, its_file_is_read_back_with_every_number) {
  const auto text = machine_file_text(host_numbers(made_up(), two_sockets()), {"Question: none"});
  const auto file = parse_machine_file(text, "host.toml");
  ASSERT_TRUE(file) << file.error().message;
  const MachineSpec& spec = file->spec;
  EXPECT_TRUE(spec.is_user_mode());
  EXPECT_EQ(spec.cpus(), 4u);
  EXPECT_EQ(spec.transfer_cluster, 30);
  EXPECT_EQ(spec.transfer_smt, 30) << "no pair: as the next farther kind";
  EXPECT_EQ(spec.transfer_socket, 130);
  EXPECT_EQ(spec.transfer_cross, 130);
  EXPECT_EQ(spec.syscall, 100);
  EXPECT_EQ(spec.wake, 500) << "FUTEX_WAKE on the same core, 600, less a syscall";
  EXPECT_EQ(spec.wake_interrupt, 300) << "900 elsewhere, 600 on the same core";
  EXPECT_EQ(spec.sleep, 650) << "half of a turn of 2000 less FUTEX_WAKE 600 and a syscall";
  EXPECT_EQ(spec.switch_in, 650);
  EXPECT_EQ(spec.ipi, 0);
  EXPECT_EQ(spec.idle_1_exit, 2450) << "4000 less FUTEX_WAKE 900 and switch-in 650";
  EXPECT_EQ(spec.idle_1_residency, 0);
  EXPECT_EQ(spec.idle_2_exit, 10'450) << "12000 less 4000, and the first state's";
  EXPECT_EQ(spec.idle_2_residency, 1'000'000) << "4500 lies below the middle, 8000; 11000 above";
  EXPECT_EQ(spec.scheduler, "cfs");
  EXPECT_EQ(spec.hz, 250u);
  EXPECT_EQ(spec.min_granularity, 3e6);
  EXPECT_EQ(spec.wakeup_granularity, 3e6) << "1 ms x (1 + log2(4))";
  EXPECT_EQ(file->numbers.at("line-transfer-cluster-ns").mark, "measured");
  EXPECT_THAT(file->numbers.at("line-transfer-cluster-ns").source, HasSubstr("median 30.00, middle half 29.00 to 31"));
}

TEST(HostMachine, the_kernel_says_which_scheduler) {
  EXPECT_TRUE(scheduler_info("Linux 6.6.0-rc1 x86_64").eevdf);
  EXPECT_TRUE(scheduler_info("7.0").eevdf);
  EXPECT_FALSE(scheduler_info("6.5.13-debian").eevdf);
  EXPECT_FALSE(scheduler_info("5.18").eevdf);
  auto costs = made_up();
  costs.scheduler.eevdf = true;
  const auto file = parse_machine_file(machine_file_text(host_numbers(costs, two_sockets()), {"x"}), "host.toml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->spec.scheduler, "eevdf");
  EXPECT_EQ(file->spec.min_granularity, 2.1e6) << "0.7 ms x (1 + log2(4))";
}

TEST(HostMachine, without_a_rise_there_is_one_idle_state) {
  auto costs = made_up();
  for (auto& wake : costs.wakes) wake.costs.latency = around(4100);
  EXPECT_FALSE(idle_rise(costs));
  const auto file = parse_machine_file(machine_file_text(host_numbers(costs, two_sockets()), {"x"}), "host.toml");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->spec.idle_1_exit, 2550);
  EXPECT_EQ(file->spec.idle_2_exit, 0);
  EXPECT_EQ(file->spec.idle_2_residency, 0);
}

TEST(Calibrate, measures_this_host_in_under_a_minute) {
  const auto path = ::testing::TempDir() + "host_" + std::to_string(::getpid()) + ".toml";
  const auto end = loadgen({"calibrate", "--out", path, "-q"});
  // On one processor there is nobody to wake, and no line to pass.
  if (end.code == 3 && end.err.find("needs two processors") != std::string::npos) GTEST_SKIP() << end.err;
  ASSERT_EQ(end.code, 0) << end.err;
  EXPECT_LT(end.seconds, 60);
  for (const char* row : {"load, hit", "atomic, hit", "system call", "FUTEX_WAKE, other core", "turn on one core"})
    EXPECT_THAT(end.out, HasSubstr(row));
  const auto file = read_machine_file(path);
  fs::remove(path);
  ASSERT_TRUE(file) << file.error().message;
  const MachineSpec& spec = file->spec;
  EXPECT_GT(spec.hit_load, 0);
  EXPECT_GT(spec.memory_local, spec.hit_load);
  EXPECT_GT(spec.syscall, spec.hit_atomic);
  EXPECT_GT(spec.wake + spec.ipi + spec.switch_in, spec.syscall);
}

TEST(Calibrate, says_before_it_measures_that_it_cannot_write) {
  const auto end = loadgen({"calibrate", "--out", "/nowhere/host.toml"});
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("--out: "));
  EXPECT_LT(end.seconds, 5);
}

}  // namespace
}  // namespace convoy
