// locktest_test.cc — Goal: locktest counts what it did, and says it as published. Method: every policy, short runs.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/locktest_result.h"
#include "loadgen/locktest_worlds.h"
#include "locks/policies.h"
#include "tests/identities.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::loadgen;
using ::testing::Not;
using testing::Program;

constexpr std::uint64_t kMilli = 1'000'000;

const LocktestPolicy& policy_of(std::string_view name) {
  for (const auto& policy : real_locktest_policies()) {
    if (policy.traits.name == name) return policy;
  }
  ADD_FAILURE() << "no policy " << name;
  return real_locktest_policies().front();
}

LocktestLoad load_of(std::uint32_t threads, std::uint32_t read_percent) {
  LocktestLoad load;
  load.threads = threads;
  load.read_percent = read_percent;
  load.load = 10;
  load.duration_ns = 40 * kMilli;
  return load;
}

LocktestOutcome run(const LocktestPolicy& policy, const LocktestLoad& load) {
  auto outcome = run_on_real_threads(policy, load);
  EXPECT_TRUE(outcome) << outcome.error().message;
  return outcome ? *outcome : LocktestOutcome{};
}

// A class that has counted the same, for the claims of identities.h.
void claim_identities_of(const LocktestOutcome& outcome, Acquisitions done) {
  LockClass<RealWorld> counted("counted");
  for (std::size_t e = 0; e < kEventCount; ++e) {
    for (std::uint64_t i = 0; i < outcome.events[e]; ++i) counted.count(static_cast<Event>(e));
  }
  claim_identities<RealWorld>(counted, done);
}

TEST(Locktest, counts_and_events_of_every_policy_add_up) {
  ASSERT_EQ(real_locktest_policies().size(), AllPolicies<RealWorld>::kSize);
  for (const auto& policy : real_locktest_policies()) {
    for (const std::uint32_t threads : {1u, 4u}) {
      SCOPED_TRACE(std::string(policy.traits.name) + ", threads " + std::to_string(threads));
      const auto load = load_of(threads, policy.shared ? 50 : 0);
      const auto outcome = run(policy, load);
      ASSERT_EQ(outcome.threads.size(), threads);
      LocktestThread all;
      for (const auto& thread : outcome.threads) {
        EXPECT_LE(thread.late_reads + thread.late_writes, 1u);
        all.reads += thread.reads;
        all.writes += thread.writes;
        all.late_reads += thread.late_reads;
        all.late_writes += thread.late_writes;
      }
      convoy::Run row;
      describe_locktest(policy, load, outcome, row);
      EXPECT_EQ(all.reads + all.writes, row.transactions);
      EXPECT_EQ(row.started, all.operations() + all.late_reads + all.late_writes);
      EXPECT_EQ(row.users, threads);
      EXPECT_GT(row.transactions, 0u);
      EXPECT_GT(row.duration_s, 0);
      EXPECT_EQ(all.reads > 0, policy.shared);
      claim_identities_of(outcome, {.exclusive = all.writes + all.late_writes, .shared = all.reads + all.late_reads});
    }
  }
}

TEST(Locktest, a_page_lock_counts_every_acquisition) {
  for (const char* name : {"bounded", "barging", "handoff"}) {
    const auto outcome = run(policy_of(name), load_of(3, 0));
    std::uint64_t started = 0, counted = 0;
    for (const auto& thread : outcome.threads) started += thread.writes + thread.late_writes;
    for (const Event event :
         {Event::kPageLockFast, Event::kPageLockLate, Event::kPageLockWoken, Event::kPageLockHandoff}) {
      counted += outcome.events[static_cast<std::size_t>(event)];
    }
    EXPECT_EQ(counted, started) << name;
  }
}

TEST(Locktest, a_knob_is_in_force) {
  auto load = load_of(4, 0);
  load.knobs = {{Knob::kUnfairness, 0}};
  const auto fair = run(policy_of("bounded"), load);
  EXPECT_EQ(fair.knobs[static_cast<std::size_t>(Knob::kUnfairness)], 0u);
  EXPECT_EQ(fair.events[static_cast<std::size_t>(Event::kPageLockRequeue)], 0u);
  EXPECT_EQ(fair.events[static_cast<std::size_t>(Event::kPageLockWoken)], 0u);
}

TEST(Locktest, reads_come_by_the_given_chance) {
  for (const std::uint32_t percent : {0u, 10u, 50u, 100u}) {
    const auto outcome = run(policy_of("rwsem"), load_of(2, percent));
    for (const auto& thread : outcome.threads) {
      const auto n = static_cast<double>(thread.operations());
      const double p = percent / 100.0;
      // Five standard deviations: of a million such tests one would fail by chance, were the seed not fixed.
      EXPECT_LE(std::abs(static_cast<double>(thread.reads) - n * p), 5 * std::sqrt(n * p * (1 - p))) << percent;
    }
  }
}

// Drawn one by one, not in turn, and by each thread for itself: pairs of draws come as often as chance has it.
TEST(Locktest, every_choice_is_drawn_independently) {
  constexpr int kDraws = 100'000;
  const double spread = 5 * std::sqrt(kDraws * 0.25);
  Random mine(1, 0), other(1, 1), again(1, 0);
  int reads = 0, same_as_before = 0, same_as_other = 0;
  bool before = false;
  for (int i = 0; i < kDraws; ++i) {
    const bool read = mine.below(100) < 50;
    EXPECT_EQ(read, again.below(100) < 50);
    reads += read;
    same_as_before += read == before;
    same_as_other += read == (other.below(100) < 50);
    before = read;
  }
  EXPECT_NEAR(reads, kDraws / 2, spread);
  EXPECT_NEAR(same_as_before, kDraws / 2, spread);
  EXPECT_NEAR(same_as_other, kDraws / 2, spread);
}

// The published run, as far as its figures are known (configs/published: 96 threads, 15 s).
TEST(Locktest, prints_the_lines_of_the_kernel_module) {
  LocktestLoad load;
  load.threads = 96;
  load.read_percent = 50;
  load.load = 100;
  load.duration_ns = 15'000 * kMilli;
  convoy::Run row;
  row.per_user.min = 74'506;
  row.per_user.mean = 91'260.7;
  row.per_user.max = 112'409;
  row.transactions_per_second = 584'091.4;
  row.lock_events = std::map<std::string, Counts>{{"lock", {{"rwsem_opt_lock", 1234}, {"rwsem_rlock", 0}}}};
  EXPECT_EQ(locktest_text(policy_of("rwsem"), load, row),
            "Running locktest with rwsem [runtime = 15 s, r% = 50%, load = 100]\n"
            "Threads = 96, Min/Mean/Max = 74,506/91,260/112,409\n"
            "Total Rate = 584,091 op/s; Percpu Rate = 6,084 op/s\n"
            "rwsem_opt_lock=1234\n"
            "rwsem_rlock=0\n");
  load.duration_ns = 250 * kMilli;
  load.threads = 1;
  row.per_user = {0, 999, 1'000'000, 1};
  row.transactions_per_second = std::nullopt;
  row.lock_events = std::map<std::string, Counts>{{"lock", {}}};
  EXPECT_EQ(locktest_text(policy_of("mutex-3.12"), load, row),
            "Running locktest with mutex-3.12 [runtime = 0.25 s, r% = 50%, load = 100]\n"
            "Threads = 1, Min/Mean/Max = 0/999/1,000,000\n"
            "Total Rate = 0 op/s; Percpu Rate = 0 op/s\n");
}

// The machine: what a run is depends on workload, machine and seed alone, and its identities hold as on real threads.
TEST(Locktest, every_policy_runs_on_a_machine_and_repeats_itself) {
  const MachineSpec two_cores;
  ASSERT_EQ(machine_locktest_policies().size(), WorldPolicies<RealWorld>::kSize);
  for (const auto& policy : machine_locktest_policies()) {
    SCOPED_TRACE(std::string(policy.traits.name));
    auto load = load_of(2, policy.shared ? 50 : 0);
    load.duration_ns = kMilli;
    MachineStats first, second, other;
    Result<void> traced{};
    const auto outcome = *run_on_machine(policy, load, two_cores, "", first, traced);
    EXPECT_EQ(run_on_machine(policy, load, two_cores, "", second, traced)->events, outcome.events);
    EXPECT_EQ(first.trace_hash, second.trace_hash);
    LocktestThread all;
    for (const auto& thread : outcome.threads) {
      all.reads += thread.reads + thread.late_reads;
      all.writes += thread.writes + thread.late_writes;
    }
    EXPECT_GT(all.operations(), 0u);
    EXPECT_EQ(all.reads > 0, policy.shared);
    // The time that was asked for, but for the operation under way at its end.
    EXPECT_NEAR(static_cast<double>(outcome.window_ns()), kMilli, 0.1 * kMilli);
    claim_identities_of(outcome, {.exclusive = all.writes, .shared = all.reads});
    load.seed = 2;
    (void)run_on_machine(policy, load, two_cores, "", other, traced);
    EXPECT_NE(first.trace_hash, other.trace_hash);
  }
}

// As a program.

ResultFile result_of(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  auto result = from_json(json);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : ResultFile{};
}

const std::string kXeon = "configs/machines/xeon-2s-96t.toml";

TEST(LocktestProgram, usage_errors_name_option_value_and_what_is_allowed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"--lock", "bogus"}, "--lock: 'bogus' is not allowed; one of bounded, "},
      {{"--lock", "bounded", "--read-percent", "50"},
       "--read-percent: 50 is not allowed; 0, since bounded has no shared mode"},
      {{"--lock", "std-mutex", "--read-percent", "1"}, "std-mutex has no shared mode"},
      {{"--read-percent", "101"}, "--read-percent: '101' is not allowed; a whole number from 0 to 100"},
      {{"--unfairness", "5"}, "--unfairness: 5 is not allowed; the knobs of rwsem: none"},
      {{"--lock", "bounded", "--waiting-bit", "1"},
       "--waiting-bit: 1 is not allowed; the knobs of bounded: unfairness, spin"},
      {{"--lock", "bounded", "--unfairness", "1001"}, "--unfairness: '1001' is not allowed"},
      {{"--threads", "0"}, "--threads: '0' is not allowed"},
      {{"--threads", "4097"}, "--threads: '4097' is not allowed"},
      {{"--users", "1,,2"}, "--users"},
      {{"--load", "-1"}, "--load"},
      {{"--duration", "0s"}, "--duration"},
      {{"--repeat", "0"}, "--repeat"},
      {{"--json", "-", "--csv", "-"}, "stdout takes one of them"},
      {{"--json", "/nowhere/result.json"}, "--json: "},
      {{"--machine", "/nowhere/m.toml"}, "--machine: /nowhere/m.toml: cannot be read"},
      {{"--machine-set", "pause-ns=1"}, "--machine-set: 'pause-ns=1' is not allowed without --machine"},
      {{"--machine", kXeon, "--machine-set", "bogus=1"}, "--machine-set: no setting 'bogus'"},
      {{"--trace", "t.json"}, "--trace: 't.json' is not allowed without --machine"},
      {{"--machine", kXeon, "--trace", "t.json", "-c", "1,2"}, "--trace: 't.json' is not allowed; it is of one run"},
      {{"--machine", kXeon, "--lock", "std-mutex"}, "--lock: std-mutex is not allowed; it runs on real threads only"},
      {{"--machine", kXeon, "--load", "1000000000", "--machine-set", "work-unit-ns=1000000000"},
       "--load: 1000000000 is not allowed; 50 threads with so many units of 1e+09 ns"},
      {{"--machine", kXeon, "-c", "1024"}, "--threads: 1024 is not allowed; at most 1023 with --machine"},
      {{"--machine", kXeon, "-t", "3h"}, "--duration: 3h is not allowed; at most 2 h with --machine"},
      {{"--stats"}, "--stats: not allowed without --machine"},
      {{"--machine", kXeon, "--trace", "-"}, "--trace: '-' is not allowed; a file"},
      {{"--machine", kXeon, "--trace", "/nowhere/t.json"}, "--trace: "},
      {{"--json", "same.json", "--csv", "same.json"}, "--csv: 'same.json' is not allowed; it is the file of --json"},
      {{"--machine", kXeon, "--trace", kXeon}, "--trace: '"},
      {{"extra"}, "unexpected argument 'extra'"},
      {{"--bogus"}, "unknown option '--bogus'"},
  };
  for (auto [words, text] : wrong) {
    words.insert(words.begin(), "locktest");
    const auto end = loadgen(words);
    EXPECT_EQ(end.code, 2) << ::testing::PrintToString(words);
    EXPECT_THAT(end.err, HasSubstr(text)) << ::testing::PrintToString(words);
    EXPECT_THAT(end.out, IsEmpty());
    EXPECT_LT(end.seconds, 10);
  }
}

TEST(LocktestProgram, writes_a_valid_result_alone_on_stdout) {
  const auto end =
      loadgen({"locktest", "--lock",         "qrwlock", "--threads", "1,3",    "--repeat", "2", "-t",
               "30ms",     "--read-percent", "90",      "--load",    "7",      "--seed",   "5", "--waiting-bit",
               "1",        "--label",        "l",       "--pin",     "--json", "-"});
  EXPECT_EQ(end.code, 0) << end.err;
  const auto result = result_of(end.out);
  ASSERT_EQ(result.runs.size(), 4u);
  EXPECT_FALSE(result.server);
  std::vector<std::uint64_t> users, repeats;
  for (const auto& run : result.runs) {
    users.push_back(run.users);
    repeats.push_back(run.repeat);
    EXPECT_EQ(run.workload, "locktest");
    EXPECT_EQ(run.target, "r% = 90%, load = 7, pinned");
    EXPECT_EQ(run.world, "real");
    EXPECT_EQ(run.label, "l");
    EXPECT_EQ(run.seed, 5u);
    EXPECT_EQ(run.policy->at("lock"), "qrwlock");
    EXPECT_EQ(*run.knobs, (Counts{{"waiting-bit", 1}}));
    EXPECT_GT(run.transactions, 0u);
    EXPECT_FALSE(run.interrupted);
    EXPECT_FALSE(run.machine || run.trace_hash || run.server_requests || run.latency_us.min);
  }
  EXPECT_THAT(users, ElementsAre(1, 3, 1, 3));
  EXPECT_THAT(repeats, ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(end.err, HasSubstr("Running locktest with qrwlock [runtime = 0.03 s, r% = 90%, load = 7]\n"));
}

TEST(LocktestProgram, results_can_be_validated_and_compared) {
  std::vector<std::string> paths;
  for (const char* name : {"bounded", "std-mutex"}) {
    paths.push_back(::testing::TempDir() + "locktest_" + name + std::to_string(::getpid()) + ".json");
    const auto end = loadgen({"locktest", "--lock", name, "-c", "1,2", "-t", "20ms", "-q", "--json", paths.back()});
    EXPECT_EQ(end.code, 0) << end.err;
    EXPECT_THAT(end.err, IsEmpty());
    EXPECT_THAT(end.out, HasSubstr("Running locktest with " + std::string(name) + " ["));
    EXPECT_THAT(end.out, HasSubstr("threads  runs "));
  }
  EXPECT_EQ(loadgen({"validate", paths[0], paths[1]}).code, 0);
  const auto compared = loadgen({"compare", paths[0], paths[1]});
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("locktest r% = 0%, load = 100\n"));
  EXPECT_THAT(compared.out, AllOf(HasSubstr("std-mutex"), HasSubstr("\nThreads: 2\n"), HasSubstr("Jain")));
  EXPECT_THAT(compared.out, Not(HasSubstr("p99"))) << "no operation was timed";
  for (const auto& path : paths) std::filesystem::remove(path);
}

TEST(LocktestProgram, on_a_machine) {
  const auto end = loadgen({"locktest", "--machine", kXeon, "--machine-set", "work-unit-ns=20", "-c", "2,96", "-t",
                            "5ms", "--stats", "--json", "-"});
  EXPECT_EQ(end.code, 0) << end.err;
  const auto result = result_of(end.out);
  ASSERT_EQ(result.runs.size(), 2u);
  EXPECT_EQ(result.runs[1].world, "machine");
  EXPECT_EQ(result.runs[1].machine, "xeon-2s-96t work-unit-ns=20");
  EXPECT_EQ(result.runs[1].users, 96u);
  EXPECT_NEAR(result.runs[1].duration_s, 0.005, 0.0005);
  ASSERT_TRUE(result.runs[1].trace_hash);
  EXPECT_THAT(
      end.err,
      HasSubstr("Simulated machine = xeon-2s-96t work-unit-ns=20, trace hash = " + *result.runs[1].trace_hash + "\n"));
  EXPECT_THAT(end.err, HasSubstr(" million a second; "));
}

TEST(LocktestProgram, writes_a_timeline) {
  const auto path = ::testing::TempDir() + "locktest_trace_" + std::to_string(::getpid()) + ".json";
  const auto end = loadgen({"locktest", "--machine", kXeon, "-c", "4", "-t", "1ms", "-q", "--trace", path});
  EXPECT_EQ(end.code, 0) << end.err;
  std::ifstream file(path);
  const auto json = Json::parse(file, nullptr, false);
  std::filesystem::remove(path);
  EXPECT_FALSE(json.is_discarded());
  EXPECT_FALSE(json.empty());
}

// The run is not lost with its timeline.
TEST(LocktestProgram, a_timeline_on_a_full_disk) {
  for (const char* threads : {"1", "96"}) {
    const auto end =
        loadgen({"locktest", "--machine", kXeon, "-c", threads, "-t", "5ms", "-q", "--trace", "/dev/full"});
    EXPECT_EQ(end.code, 3);
    EXPECT_THAT(end.err, HasSubstr("--trace '/dev/full': No space left"));
    EXPECT_THAT(end.out, HasSubstr("Total Rate = "));
  }
}

// One that spins by exchange sees the unlock of a thread on its own core, too.
TEST(Locktest, tas_with_more_threads_than_cores) {
  for (const char* mode : {"kernel", "user"}) {
    MachineSpec one_core;
    one_core.cores_per_cluster = 1;
    one_core.mode = mode;
    auto load = load_of(3, 0);
    load.duration_ns = 200 * kMilli;
    MachineStats stats;
    Result<void> traced{};
    const auto& policies = machine_locktest_policies();
    const auto tas =
        std::find_if(policies.begin(), policies.end(), [](const auto& p) { return p.traits.name == "tas"; });
    const auto outcome = *run_on_machine(*tas, load, one_core, "", stats, traced);
    std::uint64_t operations = 0;
    for (const auto& thread : outcome.threads) operations += thread.operations();
    EXPECT_GT(operations, 1000u) << mode;  // who loses its core holds the lock, so the others may never get it
  }
}

TEST(LocktestProgram, a_signal_leaves_a_valid_partial_result) {
  for (const bool on_machine : {false, true}) {
    const int signal = on_machine ? SIGTERM : SIGINT;
    std::vector<std::string> words{(testing::build_folder() / "convoy-loadgen").string(),
                                   "locktest",
                                   "-c",
                                   "3",
                                   "-t",
                                   "1000s",
                                   "--repeat",
                                   "5",
                                   "--json",
                                   "-"};
    if (on_machine) words.insert(words.end(), {"--machine", kXeon});
    Program program(words);
    ASSERT_TRUE(program.wait_for_error_text("run 1 of 5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    program.signal(signal);
    const auto end = program.wait();
    EXPECT_EQ(end.code, 128 + signal);
    EXPECT_LT(end.seconds, 50);
    const auto result = result_of(end.out);
    ASSERT_EQ(result.runs.size(), 1u);
    EXPECT_TRUE(result.runs[0].interrupted);
    EXPECT_LT(result.runs[0].duration_s, 900);
  }
}

}  // namespace
}  // namespace convoy
