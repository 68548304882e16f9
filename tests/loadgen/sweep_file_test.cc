// sweep_file_test.cc — Sweep files: what they mean and what is refused, with the file and the key named.
// SPDX-License-Identifier: MIT
#include "loadgen/sweep_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/toml_file.h"

namespace convoy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Result<SweepFile> parse(const std::string& text) {
  auto json = parse_toml(text, "s.toml");
  if (!json) return tl::unexpected(json.error());
  return parse_sweep(*json, "s.toml");
}

const std::string kPolicies =
    "[[policy]]\nlabel = 'a'\npage-lock = 'bounded'\npage-lock-unfairness = 0\n[[policy]]\nlabel = 'b'\n";

TEST(SweepFile, all_keys) {
  const auto file = parse(
      "workload = 'http'\nurl = '/hot.bin'\nusers = [1, 50]\nduration = '2s'\nwarmup = '300ms'\nrepeat = 3\nthreads = "
      "2\n"
      "seed = 7\nconnection = 'close'\ntimeout = 5\nbaseline = 'b'\nheader = ['A: b']\n[server]\nworkers = 8\naccess = "
      "'mmap'\n" +
      kPolicies);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->name, "s");
  ASSERT_EQ(file->cases.size(), 1U);
  const auto& keys = file->cases[0].keys;
  EXPECT_THAT(keys.users, ElementsAre(1, 50));
  EXPECT_EQ(keys.duration, std::chrono::seconds(2));
  EXPECT_EQ(keys.warmup, std::chrono::milliseconds(300));
  EXPECT_EQ(keys.timeout, std::chrono::seconds(5));
  EXPECT_EQ(keys.repeat, 3U);
  EXPECT_EQ(keys.connection, "close");
  EXPECT_THAT(file->cases[0].headers, ElementsAre("A: b"));
  ASSERT_EQ(file->policies.size(), 2U);
  EXPECT_THAT(server_settings(file->cases[0], file->policies[0]),
              ElementsAre(Pair("access", "mmap"), Pair("page-lock", "bounded"), Pair("page-lock-unfairness", "0"),
                          Pair("workers", "8")));
}

TEST(SweepFile, cases_go_over_the_file_and_policies_over_cases) {
  const auto file = parse(
      "url = '/a'\nusers = [5]\n[server]\naccess = 'mmap'\npage-lock-unfairness = 9\n" + kPolicies +
      "[[case]]\nlabel = 'one'\nurls = ['/x', '/y']\n[[case]]\nlabel = 'two'\nserver.access = 'read'\nusers = [6]\n"
      "[[case]]\nlabel = 'three'\n'server.access' = 'read'\n");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->cases.size(), 3U);
  EXPECT_EQ(file->cases[0].label, "one");
  EXPECT_THAT(file->cases[0].urls, ElementsAre("/x", "/y"));
  EXPECT_EQ(file->cases[0].keys.url, "");
  EXPECT_THAT(file->cases[0].keys.users, ElementsAre(5));
  EXPECT_THAT(file->cases[1].keys.users, ElementsAre(6));
  EXPECT_EQ(file->cases[1].keys.url, "/a");
  for (const std::size_t i : {1U, 2U}) EXPECT_EQ(file->cases[i].server.at("access"), "read");
  EXPECT_EQ(server_settings(file->cases[0], file->policies[0]).at("page-lock-unfairness"), "0");
  EXPECT_EQ(server_settings(file->cases[0], file->policies[1]).at("page-lock-unfairness"), "9");
}

TEST(SweepFile, of_locktest) {
  const std::string head = "workload = 'locktest'\nthreads = [2, 4]\nread-percent = 0\n";
  const std::string policy = "[[policy]]\nlabel = 'a'\nlock = 'bounded'\nunfairness = 0\n";
  const auto file = parse(head + "load = 1\nduration = '1s'\npin = true\n" + policy +
                          "[[case]]\nlabel = 'long'\nload = 9\nthreads = [8]\n[[case]]\nlabel = 'short'\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->is_locktest());
  EXPECT_THAT(file->cases[0].keys.users, ElementsAre(8));
  EXPECT_THAT(file->cases[1].keys.users, ElementsAre(2, 4));
  EXPECT_EQ(file->cases[0].keys.warmup, Duration::zero());
  EXPECT_THAT(server_settings(file->cases[0], file->policies[0]),
              ElementsAre(Pair("load", "9"), Pair("lock", "bounded"), Pair("pin", "true"), Pair("read-percent", "0"),
                          Pair("unfairness", "0")));
  for (const std::string wrong :
       {"url = '/a'", "warmup = '1s'", "server.workers = 1", "switch = 'live'", "bogus = 1"}) {
    const auto refused = parse(head + wrong + "\n" + policy);
    ASSERT_FALSE(refused) << wrong;
    EXPECT_THAT(refused.error().message, HasSubstr(wrong.substr(0, wrong.find_first_of(" ."))));
  }
  const auto mixed =
      parse(head + policy + "[[case]]\nlabel = 'x'\n[[case]]\nlabel = 'y'\nworkload = 'http'\nurl = '/a'\n");
  ASSERT_FALSE(mixed);
  EXPECT_THAT(mixed.error().message, HasSubstr("workload"));
}

TEST(SweepFile, refused_with_the_key_named) {
  const std::string good = "url = '/a'\n";
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"url = '/a'\nbogus = 1\n" + kPolicies, "bogus"},
      {"url = '/a'\nusers = [0]\n" + kPolicies, "users"},
      {"url = '/a'\nusers = []\n" + kPolicies, "users"},
      {"url = '/a'\nusers = 'x'\n" + kPolicies, "users"},
      {"url = '/a'\nduration = 'long'\n" + kPolicies, "duration"},
      {"url = '/a'\nrepeat = 0\n" + kPolicies, "repeat"},
      {"url = '/a'\nrepeat = 1.5\n" + kPolicies, "repeat"},
      {"url = '/a'\nworkload = 'kv'\n" + kPolicies, "not built yet"},
      {"url = '/a'\nworkload = 'nonsense'\n" + kPolicies, "workload"},
      {"url = '/a'\nconnection = 'maybe'\n" + kPolicies, "connection"},
      {"url = '/a'\nbaseline = 'c'\n" + kPolicies, "baseline"},
      {"url = 'http://elsewhere/'\n" + kPolicies, "url"},
      {"url = '/a'\nurls = ['/b']\n" + kPolicies, "exclude"},
      {"urls = []\n" + kPolicies, "urls"},
      {kPolicies, "url"},
      {"url = '/a'\n", "policy"},
      {"url = '/a'\npolicy = 'x'\n", "policy"},
      {"url = '/a'\n[[policy]]\npage-lock = 'bounded'\n", "policy[0].label"},
      {"url = '/a'\n[[policy]]\nlabel = 'a'\n[[policy]]\nlabel = 'a'\n", "policy[1].label"},
      {"url = '/a'\n[[policy]]\nlabel = 'a'\nhttp = '127.0.0.1:1'\n", "policy[0].http"},
      {"url = '/a'\n[[policy]]\nlabel = 'a'\n[policy.sub]\nx = 1\n", "sub"},
      {"url = '/a'\nserver = 3\n" + kPolicies, "server"},
      {good + kPolicies + "[[case]]\nusers = [1]\n", "case[0].label"},
      {good + kPolicies + "[[case]]\nlabel = 'x'\nbogus = 1\n", "case[0]"},
      {good + kPolicies + "[[case]]\nlabel = 'x'\n[[case]]\nlabel = 'x'\n", "case[1].label"},
      {good + kPolicies + "[case]\nlabel = 'x'\n", "[[case]]"},
      {"url = \n", "s.toml:1"},
  };
  for (const auto& [text, key] : wrong) {
    const auto file = parse(text);
    ASSERT_FALSE(file) << text;
    EXPECT_THAT(file.error().message, HasSubstr(key)) << text;
    EXPECT_THAT(file.error().message, HasSubstr("s.toml")) << text;
  }
  EXPECT_FALSE(read_sweep_file("/nowhere/s.toml"));
}

TEST(SweepFile, every_policy_takes_every_place_in_turn) {
  std::vector<std::set<std::size_t>> seen(5);
  for (std::uint32_t repeat = 1; repeat <= 5; ++repeat) {
    const auto order = policy_order(5, 1, repeat);
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_THAT(sorted, ElementsAre(0, 1, 2, 3, 4));
    for (std::size_t place = 0; place < 5; ++place) seen[place].insert(order[place]);
  }
  for (const auto& policies : seen) EXPECT_EQ(policies.size(), 5U);
  EXPECT_EQ(policy_order(5, 3, 2), policy_order(5, 3, 2));
  EXPECT_EQ(policy_order(1, 3, 2), (std::vector<std::size_t>{0}));
}

TEST(SweepFile, the_files_of_the_project_are_valid) {
  for (const char* path : {"configs/sweeps/page-lock.toml", "configs/sweeps/page-lock-controls.toml"}) {
    const auto file = read_sweep_file(path);
    EXPECT_TRUE(file) << file.error().message;
  }
}

}  // namespace
}  // namespace convoy
