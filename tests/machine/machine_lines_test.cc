// machine_lines_test.cc — Goal: the price of a cache line, to the nanosecond. Method: scripts worked out by hand.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>

#include "tests/machine/small_machine.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using W = MachineWorld;

// Core 0 gets the line from memory, 80, and takes 5 for its addition; core 1 has asked at the same time and gets it
// from core 0, 40, and takes 5.
TEST(MachineLines, two_cores_and_one_line) {
  Machine machine(small_machine(1, 2), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int) {
    line.word.fetch_add(1, relaxed);
    return W::now_ns() - kStartNs;
  });
  EXPECT_THAT(ends, ElementsAre(85, 130));
}

// As before, but core 1 is on another socket: 100.
TEST(MachineLines, two_sockets_and_one_line) {
  Machine machine(small_machine(2, 1), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int) {
    line.word.fetch_add(1, relaxed);
    return W::now_ns() - kStartNs;
  });
  EXPECT_THAT(ends, ElementsAre(85, 190));
}

// A line that the core has alone: 5 for each addition, 2 for a store, 1 for a load.
TEST(MachineLines, hits) {
  Machine machine(small_machine(1, 1), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 1, [&](int) {
    line.word.fetch_add(1, relaxed);
    const auto begin = W::now_ns();
    line.word.fetch_add(1, relaxed);
    line.word.store(1, relaxed);
    line.word.load(relaxed);
    return W::now_ns() - begin;
  });
  EXPECT_THAT(ends, ElementsAre(8));
}

// Four cores read a line that nobody has touched: 80 from memory each, which serves one every 8.
TEST(MachineLines, readers_of_a_fresh_line) {
  Machine machine(small_machine(1, 4), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 4, [&](int) {
    line.word.load(relaxed);
    return W::now_ns() - kStartNs;
  });
  EXPECT_THAT(ends, ElementsAre(80, 88, 96, 104));
}

// A write to a line that both sockets have read costs the way to the other socket, once, and a read after it the way
// back.
TEST(MachineLines, write_to_a_shared_line) {
  Machine machine(small_machine(2, 2), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 4, [&](int thread) {
    line.word.load(relaxed);
    W::work(thread == 0 ? 100 : 200);
    const auto begin = W::now_ns();
    if (thread == 0) line.word.store(1, relaxed);
    if (thread == 3) line.word.load(relaxed);
    return W::now_ns() - begin;
  });
  EXPECT_THAT(ends, ElementsAre(102, 0, 0, 100));
}

// Core 1 spins from 588 on, every 10 (its copy of the line arrives then, 8 behind that of core 0). Core 0 stores at
// 1580: it takes the copy away half-way, at 1600, and the line is written at 1622; core 1 polls at 1608, waits for
// that, and gets the line 40 later.
TEST(MachineLines, spinner_pays_one_miss_per_write) {
  Machine machine(small_machine(1, 2), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int thread) -> std::uint64_t {
    if (thread == 0) {
      line.word.load(relaxed);
      W::work(100);
      line.word.store(1, relaxed);
    } else {
      W::await(line.word, acquire, [](std::uint32_t v) { return v == 1; });
    }
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(1622, 1662));
  EXPECT_EQ(machine.stats().misses, 4u) << "two first reads, a write, a read after it; polls cost nothing";
}

// Core 1 asks at 700 and has written at 742. Core 2 asks at 710 and waits; its request has come to core 1 by then, so
// that core 1 has lost the line at 752, when it writes again, and gets it back when core 2 has written at 784.
TEST(MachineLines, a_request_that_waited_takes_the_line_at_once) {
  Machine machine(small_machine(1, 3), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 3, [&](int thread) {
    if (thread != 0) W::work(thread == 1 ? 20 : 21);
    line.word.store(1, relaxed);
    if (thread == 1) {
      W::work(1);
      line.word.store(2, relaxed);
    }
    return W::now_ns();
  });
  EXPECT_THAT(ends, ElementsAre(582, 826, 784));
}

// The sibling's copy costs 10 instead of 40.
TEST(MachineLines, siblings_share_a_cache) {
  Machine machine(small_machine(1, 1, 2), {});
  WordLine& line = *new_line(machine);
  const auto ends = run_on(machine, 2, [&](int) {
    line.word.fetch_add(1, relaxed);
    return W::now_ns() - kStartNs;
  });
  EXPECT_THAT(ends, ElementsAre(85, 100));
}

// Core 0 has the line from 585 on. Core 1 asks at 2000 and is done with it at 2045; core 2 of the other socket asks at
// 2010, core 0 at 2025.
std::vector<std::uint64_t> contend(const MachineSpec& spec) {
  Machine machine(spec, {});
  WordLine& line = *new_line(machine);
  return run_on(machine, 3, [&](int thread) {
    if (thread == 0) line.word.fetch_add(1, relaxed);
    constexpr std::uint64_t kUnits[] = {144, 150, 151};
    W::work(kUnits[thread]);
    line.word.fetch_add(1, relaxed);
    return W::now_ns();
  });
}

TEST(MachineLines, nearest_first_only_when_the_machine_says_so) {
  MachineSpec spec = small_machine(2, 2);
  EXPECT_THAT(contend(spec), ElementsAre(2255, 2045, 2150));
  spec.line_service = "nearest";
  spec.nearest_window = 1000;
  EXPECT_THAT(contend(spec), ElementsAre(2090, 2045, 2195)) << "core 0 is nearer to core 1 than core 2 is";
  spec.nearest_window = 34;
  EXPECT_THAT(contend(spec), ElementsAre(2255, 2045, 2150)) << "core 2 has waited for 35: nobody may pass it";
}

}  // namespace
}  // namespace convoy
