// machine_trace_test.cc — Goal: a trace that a viewer reads and that tells the truth. Method: a script, read back.
// SPDX-License-Identifier: MIT
#include "sim/machine_trace.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/files.h"
#include "common/json.h"
#include "tests/machine/small_machine.h"

namespace convoy {
namespace {

using W = MachineWorld;

// Thread 0 sleeps from 1.1 us on, is woken at 6.2 us, and runs again at 16 us (machine_scheduler_test.cc).
TEST(MachineTrace, states_of_a_sleeper) {
  const std::string path = testing::TempDir() + "/machine_trace_" + std::to_string(getpid()) + ".json";
  {
    const auto trace = MachineTrace::open(path);
    ASSERT_TRUE(trace) << trace.error().message;
    Machine machine(small_machine(1, 2), {.trace = trace->get()});
    run_on(machine, 2, sleep_and_wake);
  }
  const auto text = read_text_file(path);
  unlink(path.c_str());
  ASSERT_TRUE(text) << text.error().message;
  const Json json = Json::parse(*text);
  std::map<std::string, std::pair<double, double>> states;
  for (const Json& event : json.at("traceEvents")) {
    if (event.at("ph") != "X" || event.at("pid") != 1 || event.at("tid") != 1) continue;
    states.try_emplace(event.at("name"), event.at("ts"), event.at("dur"));
  }
  EXPECT_EQ(states.at("running"), std::pair(0.5, 0.6));
  EXPECT_EQ(states.at("asleep"), std::pair(1.1, 5.1));
  EXPECT_EQ(states.at("waking"), std::pair(6.2, 9.8));
}

TEST(MachineTrace, error_names_the_file) {
  const auto trace = MachineTrace::open("/nowhere/trace.json");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().message, "--trace '/nowhere/trace.json': No such file or directory");
}

}  // namespace
}  // namespace convoy
