// sweep_command_test.cc — `convoy-loadgen sweep` as a program, with a small server in place of convoy-server.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "common/result_schema.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::loadgen;
using testing::Program;
using testing::ProgramEnd;

class SweepCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    // A copy of its own, so that its processes can be told from those of tests that run at the same time.
    fs::copy_file(testing::build_folder() / "tests" / "fake_convoy_server", server());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& text) const {
    const auto path = (folder_ / "mine.toml").string();
    std::ofstream(path) << text;
    return path;
  }
  std::string out() const { return (folder_ / "out").string(); }
  std::string server() const { return (folder_ / "server").string(); }
  ProgramEnd sweep(const std::string& text) const {
    return loadgen({"sweep", write(text), "--out", out(), "--server", server(), "-q"});
  }
  ResultFile result(const std::string& name) const {
    auto file = read_result_file((fs::path(out()) / name).string());
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : ResultFile{};
  }
  // Processes whose program is the fake server: none may be left.
  int servers_left() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::error_code error;
      const auto program = fs::read_symlink(entry.path() / "exe", error);
      if (!error && program == server()) ++count;
    }
    return count;
  }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("sweep_" + std::to_string(::getpid()));
};

const std::string kShort =
    "url = '/x'\nusers = [1, 3]\nduration = '50ms'\nwarmup = '10ms'\nrepeat = 2\nbaseline = 'a'\n";
const std::string kTwo =
    "[[policy]]\nlabel = 'a'\npage-lock-unfairness = 1000\n[[policy]]\nlabel = 'b/c'\npage-lock-unfairness = 0\n";

TEST_F(SweepCommand, of_locktest_takes_turns_without_a_server) {
  const std::string head = "workload = 'locktest'\nthreads = [1, 3]\nload = 5\nduration = '20ms'\nrepeat = 2\n";
  const auto end = sweep(head +
                         "[[policy]]\nlabel = 'fair'\nlock = 'bounded'\nunfairness = 0\n"
                         "[[policy]]\nlabel = 'std'\nlock = 'std-mutex'\n");
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("locktest r% = 0%, load = 5\n"));
  EXPECT_THAT(end.out, HasSubstr("interleaved"));
  const auto fair = result("fair.json");
  ASSERT_EQ(fair.runs.size(), 4U);
  EXPECT_EQ(fair.runs[1].users, 3U);
  EXPECT_EQ(fair.runs[3].repeat, 2U);
  EXPECT_EQ(fair.runs[0].knobs->at("unfairness"), 0U);
  EXPECT_GT(fair.runs[0].transactions, 0U);
  EXPECT_EQ(result("std.json").runs.size(), 4U);
}

TEST_F(SweepCommand, of_locktest_on_a_machine_repeats_itself) {
  // A path from the sweep file's folder.
  fs::copy_file("configs/machines/laptop-8t.toml", folder_ / "small.toml");
  const std::string text =
      "workload = 'locktest'\nthreads = [4]\nduration = '2ms'\nrepeat = 2\nmachine = 'small.toml'\n"
      "machine-set = 'pause-ns=50'\n[[policy]]\nlabel = 'rwsem'\nlock = 'rwsem'\n";
  const auto end = sweep(text);
  EXPECT_EQ(end.code, 0) << end.err;
  const auto runs = result("rwsem.json").runs;
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0].world, "machine");
  EXPECT_EQ(runs[0].machine, "small pause-ns=50");
  EXPECT_EQ(runs[0].trace_hash, runs[1].trace_hash);
  EXPECT_GT(runs[0].transactions, 0U);
}

TEST_F(SweepCommand, of_locktest_is_looked_at_before_the_first_run) {
  const std::string head = "workload = 'locktest'\nthreads = [1]\n";
  for (const auto& [text, key] : std::vector<std::pair<std::string, std::string>>{
           {"[[policy]]\nlabel = 'a'\nlock = 'none-such'\n", "none-such"},
           {"read-percent = 50\n[[policy]]\nlabel = 'a'\nlock = 'bounded'\n", "read-percent"},
           {"[[policy]]\nlabel = 'a'\nlock = 'rwsem'\nunfairness = 1\n", "unfairness"},
           {"[[policy]]\nlabel = 'a'\npage-lock = 'bounded'\n", "page-lock: is no setting of locktest"},
           {"users = [5000]\n[[policy]]\nlabel = 'a'\n", "users"}}) {
    const auto end = sweep((text.starts_with("users") ? "workload = 'locktest'\n" : head) + text);
    EXPECT_EQ(end.code, 2) << text;
    EXPECT_THAT(end.err, HasSubstr(key));
    EXPECT_FALSE(fs::exists(out())) << text;
  }
}

TEST_F(SweepCommand, makes_all_runs_and_leaves_all_files) {
  const auto end = sweep(kShort + kTwo);
  EXPECT_EQ(end.code, 0) << end.err;
  const auto a = result("a.json");
  ASSERT_EQ(a.runs.size(), 4U);
  EXPECT_EQ(a.runs[0].label, "a");
  EXPECT_EQ(a.runs[1].users, 3U);
  EXPECT_EQ(a.runs[2].repeat, 2U);
  EXPECT_GT(a.runs[0].transactions, 0U);
  ASSERT_TRUE(a.sweep);
  EXPECT_EQ(a.sweep->name, "mine");
  EXPECT_TRUE(a.sweep->interleaved);
  EXPECT_EQ(result("b_c.json").runs.size(), 4U);
  std::ifstream csv(fs::path(out()) / "all.csv");
  std::stringstream rows;
  rows << csv.rdbuf();
  const auto text = rows.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 9);
  EXPECT_TRUE(fs::exists(fs::path(out()) / "mine.toml"));
  std::ifstream report(fs::path(out()) / "report.txt");
  std::stringstream words;
  words << report.rdbuf();
  EXPECT_EQ(words.str(), end.out);
  EXPECT_FALSE(end.out.empty());
  EXPECT_EQ(servers_left(), 0);
}

TEST_F(SweepCommand, cases_have_files_of_their_own) {
  const auto end = sweep(kShort + kTwo +
                         "[[case]]\nlabel = 'one'\nusers = [2]\n[[case]]\nlabel = 'two'\nusers = [2]\nserver.access = "
                         "'read'\nurls = ['/y']\n");
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(result("one.a.json").runs.at(0).case_label, "one");
  const auto two = result("two.b_c.json");
  EXPECT_EQ(two.runs.at(0).case_label, "two");
  EXPECT_EQ(two.runs.at(0).target, "/y");
}

TEST_F(SweepCommand, one_server_changes_from_policy_to_policy) {
  const std::string live = "switch = 'live'\n";
  const auto end = sweep(live + kShort + kTwo);
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(result("a.json").runs.size(), 4U);
  EXPECT_EQ(result("b_c.json").runs.size(), 4U);
  EXPECT_EQ(servers_left(), 0);
  for (const std::string bad : {"access = 'read'", "page-lock = 'no-policy'", "bogus = 1"}) {
    SetUp();
    const auto refused = sweep(live + kShort + kTwo + "[[policy]]\nlabel = 'bad'\n" + bad + "\n");
    EXPECT_EQ(refused.code, 2) << bad;
    EXPECT_THAT(refused.err, HasSubstr(bad.substr(0, bad.find(' ')))) << bad;
    EXPECT_FALSE(fs::exists(out()));
    EXPECT_EQ(servers_left(), 0);
  }
  EXPECT_EQ(sweep("switch = 'never'\n" + kShort + kTwo).code, 2);
}

TEST_F(SweepCommand, a_setting_the_server_refuses_ends_it_before_anything_runs) {
  const auto end = sweep(kShort + kTwo + "[[policy]]\nlabel = 'bad'\npage-lock-unfairness = 1001\n");
  EXPECT_EQ(end.code, 2);
  EXPECT_THAT(end.err, HasSubstr("mine.toml"));
  EXPECT_THAT(end.err, HasSubstr("'bad'"));
  EXPECT_THAT(end.err, HasSubstr("page-lock-unfairness"));
  EXPECT_FALSE(fs::exists(out()));
  EXPECT_EQ(servers_left(), 0);
}

TEST_F(SweepCommand, usage_errors) {
  EXPECT_EQ(sweep("url = '/x'\nbogus = 1\n" + kTwo).code, 2);
  EXPECT_EQ(sweep("url = '/{'\n" + kTwo).code, 2);
  EXPECT_EQ(loadgen({"sweep"}).code, 2);
  EXPECT_EQ(loadgen({"sweep", "/nowhere.toml"}).code, 2);
  EXPECT_EQ(loadgen({"sweep", write(kShort + kTwo), "--server", "/nowhere/server"}).code, 2);
  EXPECT_EQ(loadgen({"sweep", write(kShort + kTwo), "more"}).code, 2);
}

TEST_F(SweepCommand, a_server_that_ends_badly_shows_in_the_exit_code) {
  const auto end = sweep(kShort + "[[policy]]\nlabel = 'a'\nhow = 'fails'\n");
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("exit code 7"));
  EXPECT_EQ(result("a.json").runs.size(), 4U);
}

TEST_F(SweepCommand, a_server_that_dies_leaves_what_was_measured) {
  const auto end = sweep(kShort + "[[policy]]\nlabel = 'a'\nhow = 'dies'\n");
  EXPECT_EQ(end.code, 3) << end.err;
  EXPECT_EQ(servers_left(), 0);
}

TEST_F(SweepCommand, results_are_never_mixed) {
  EXPECT_EQ(sweep(kShort + kTwo).code, 0);
  const auto again = sweep(kShort + kTwo);
  EXPECT_EQ(again.code, 3);
  EXPECT_THAT(again.err, HasSubstr("holds the results"));
}

TEST_F(SweepCommand, an_interrupt_leaves_valid_results_and_no_server) {
  for (const int signal : {SIGINT, SIGTERM}) {
    SetUp();
    const auto path =
        write("url = '/x'\nusers = [1]\nduration = '100ms'\nwarmup = 0\nrepeat = 1000\nbaseline = 'a'\n" + kTwo);
    Program program(
        {(testing::build_folder() / "convoy-loadgen").string(), "sweep", path, "--out", out(), "--server", server()});
    ASSERT_TRUE(program.wait_for_error_text("results in"));
    while (!fs::exists(fs::path(out()) / "all.csv")) std::this_thread::yield();
    program.signal(signal);
    const auto end = program.wait();
    EXPECT_EQ(end.code, 128 + signal) << end.err;
    EXPECT_EQ(servers_left(), 0);
    int results = 0;
    for (const auto& entry : fs::directory_iterator(out())) {
      if (entry.path().extension() != ".json") continue;
      ++results;
      EXPECT_GT(result(entry.path().filename().string()).runs.size(), 0U);
    }
    EXPECT_GT(results, 0);
    EXPECT_TRUE(fs::exists(fs::path(out()) / "report.txt"));
  }
}

TEST_F(SweepCommand, the_server_ends_when_the_generator_is_killed) {
  const auto path = write("url = '/x'\nusers = [1]\nduration = '60s'\nwarmup = 0\n" + kTwo);
  {
    Program program(
        {(testing::build_folder() / "convoy-loadgen").string(), "sweep", path, "--out", out(), "--server", server()});
    ASSERT_TRUE(program.wait_for_error_text("results in"));
    while (servers_left() == 0) std::this_thread::yield();
  }
  for (int i = 0; i < 500 && servers_left() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(servers_left(), 0);
}

TEST_F(SweepCommand, a_stubborn_server_is_killed) {
  const auto end = sweep(
      "url = '/x'\nusers = [1]\nduration = '50ms'\nwarmup = 0\nrepeat = 1\n[[policy]]\nlabel = 'a'\nhow = "
      "'stubborn'\n");
  EXPECT_EQ(end.code, 1);
  EXPECT_THAT(end.err, HasSubstr("killed"));
  EXPECT_EQ(servers_left(), 0);
}

}  // namespace
}  // namespace convoy
