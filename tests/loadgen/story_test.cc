// story_test.cc — Goal: the story runs, says what it claims, and its checks can fail. Method: quick runs, made-up ones.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/locktest_worlds.h"
#include "loadgen/story_rwsem.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::loadgen;
using ::testing::Not;

constexpr const char* kHead =
    "# words\nvariant,threads,runtime_s,read_percent,load,min,mean,max,total_ops_per_s,percpu_ops_per_s\n";

TEST(PublishedRwsem, is_read) {
  const auto read = parse_published_rwsem(
      std::string(kHead) + "before,96,15,50,100,1,2,3,584091,6084\nafter,96,15,50,100,4,5,6,171184,1783\n", "p.csv");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->before.total, 584091);
  EXPECT_EQ(read->before.runtime_s, 15u);
  EXPECT_EQ(read->after.max, 6u);
}

TEST(PublishedRwsem, names_what_is_wrong) {
  const std::pair<std::string, std::string> wrong[] = {
      {"a,b\n", "p.csv:1: the first line is not variant,"},
      {std::string(kHead) + "before,96\n", "p.csv:3: 2 fields, not 10"},
      {std::string(kHead) + "before,96,15,50,100,1,2,x,4,5\n", "p.csv:3: field 8: "},
      {std::string(kHead) + "then,96,15,50,100,1,2,3,4,5\n", "p.csv:3: variant: 'then' is not before or after"},
      {std::string(kHead) + "after,96,15,50,100,1,2,3,4,5\n", "a row before and a row after are needed"},
  };
  for (const auto& [text, message] : wrong) {
    const auto read = parse_published_rwsem(text, "p.csv");
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(message));
  }
}

// A story as it should be: both totals met, one write that queued, latencies that help.
RwsemStory good_story() {
  RwsemStory story;
  story.published.before.total = 1000;
  story.published.after.total = 300;
  for (const double rate : {1000.0, 300.0, 800.0}) {
    LocktestReport report;
    report.run.transactions_per_second = rate;
    report.outcome.threads.resize(1);
    report.outcome.threads[0].reads = report.outcome.threads[0].writes = 10;
    report.outcome.events[static_cast<std::size_t>(Event::kRwsemOptFail)] = 1;
    report.outcome.events[static_cast<std::size_t>(Event::kRwsemWlock)] = 1;
    report.outcome.events[static_cast<std::size_t>(Event::kRwsemWakeWriter)] = rate == 300 ? 0 : 1;
    story.claimed.push_back(report);
  }
  story.usual = {"usual", 1000, 300};
  story.latencies = {{"4", 1000, 400}, {"2", 1000, 500}, {"0", 1000, 600}};
  return story;
}

std::string what_fails(const RwsemStory& story) {
  std::string failing;
  for (const auto& check : check_rwsem_story(story))
    if (!check.holds) failing += check.claim + "\n";
  return failing;
}

TEST(RwsemStory, each_check_can_fail) {
  EXPECT_EQ(what_fails(good_story()), "");
  RwsemStory story = good_story();
  story.claimed[0].run.transactions_per_second = 1071;
  EXPECT_EQ(what_fails(story), "the total of rwsem is within 7 % of the published one\n");
  story = good_story();
  story.claimed[1].run.transactions_per_second = 278;
  EXPECT_EQ(what_fails(story), "the total of rwsem-transfer is within 7 % of the published one\n");
  for (const Event event : {Event::kRwsemOptFail, Event::kRwsemWakeReader, Event::kRwsemWlockEhandoff}) {
    story = good_story();
    ++story.claimed[2].outcome.events[static_cast<std::size_t>(event)];
    EXPECT_EQ(what_fails(story), "the lock events of rwsem-restored add up\n");
  }
  for (const Event event : {Event::kRwsemRlockSteal, Event::kRwsemOptLock}) {
    story = good_story();
    story.claimed[1].outcome.events[static_cast<std::size_t>(event)] = 11;
    EXPECT_EQ(what_fails(story), "the lock events of rwsem-transfer add up\n");
  }
  story = good_story();
  story.others.push_back(story.claimed[0]);
  story.others[0].run.label = "qrwlock";
  story.others[0].outcome.events[static_cast<std::size_t>(Event::kLockSlowpath)] = 20;
  EXPECT_EQ(what_fails(story), "") << "as many as operations";
  story.others[0].outcome.events[static_cast<std::size_t>(Event::kLockSlowpath)] = 21;
  EXPECT_EQ(what_fails(story), "the lock events of qrwlock add up\n");
  story = good_story();
  story.claimed[1].outcome.events[static_cast<std::size_t>(Event::kRwsemWakeWriter)] = 1;
  EXPECT_EQ(what_fails(story), "rwsem-transfer counts no wake_writer, rwsem does\n");
  story = good_story();
  story.latencies[1].after = 400;
  EXPECT_EQ(what_fails(story), "the ratio after / before rises with every step down of the wake-up latency\n");
}

TEST(StoryProgram, quick) {
  const auto path = ::testing::TempDir() + "story_" + std::to_string(::getpid()) + ".json";
  const auto end = loadgen({"story", "rwsem", "--quick", "-q", "--json", path});
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  EXPECT_THAT(end.err, IsEmpty());
  const auto fitted = end.out.find("== fitted =="), other = end.out.find("== not fitted ==");
  ASSERT_TRUE(fitted != std::string::npos && other != std::string::npos && fitted < other) << end.out;
  const auto first = end.out.substr(fitted, other - fitted), second = end.out.substr(other);
  EXPECT_THAT(first, AllOf(HasSubstr("work-unit-ns = "), HasSubstr("584,091"), HasSubstr("171,184"),
                           Not(HasSubstr("rwsem-restored"))));
  EXPECT_THAT(second, AllOf(HasSubstr("rwsem-restored"), HasSubstr("mean, socket 1"), HasSubstr("rwsem_wake_reader"),
                            HasSubstr("readers per wake_reader"), HasSubstr("\n24 "), HasSubstr("at most 0 us"),
                            HasSubstr("Every policy with a shared mode"), HasSubstr("\nqrwlock "),
                            HasSubstr("\nline-transfer-cross-ns ")));
  EXPECT_THAT(end.out, Not(HasSubstr("FAILS")));
  const auto result = read_result_file(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(result) << result.error().message;
  ASSERT_EQ(result->runs.size(), 2u) << "the published setting alone";
  EXPECT_EQ(result->runs[1].label, "rwsem-transfer");
  EXPECT_EQ(result->runs[1].users, 96u);
  const auto& policies = machine_locktest_policies();
  const auto shared = std::count_if(policies.begin(), policies.end(), [](const auto& policy) { return policy.shared; });
  const std::size_t beside_sensitivity = static_cast<std::size_t>(shared) - 2 + 7 * 3 + 4 * 2;
  ASSERT_GT(result->variants.size(), beside_sensitivity + 4 * 15u) << "four runs for each number of the machine";
  EXPECT_EQ((result->variants.size() - beside_sensitivity) % 4, 0u);
  EXPECT_EQ(result->variants[0].label, "rwsem-restored");
}

TEST(StoryProgram, fails_on_another_machine) {
  const auto end = loadgen({"story", "rwsem", "--quick", "-q", "--machine-set", "work-unit-ns=30"});
  EXPECT_EQ(end.code, 1) << end.err;
  EXPECT_THAT(end.out, HasSubstr("FAILS: the total of rwsem is within 7 %"));
  EXPECT_THAT(end.out, HasSubstr("work-unit-ns = 30 (set: --machine-set)"));
}

TEST(StoryProgram, names_what_is_wrong) {
  const std::pair<std::vector<std::string>, std::string> wrong[] = {
      {{"romance"}, "STORY: 'romance' is not allowed; rwsem"},
      {{}, "STORY"},
      {{"rwsem", "--machine", "/nowhere/m.toml"}, "--machine: /nowhere/m.toml: cannot be read"},
      {{"rwsem", "--machine-set", "bogus=1"}, "--machine-set: no setting 'bogus'"},
      {{"rwsem", "--published", "/nowhere/p.csv"}, "--published: /nowhere/p.csv"},
      {{"rwsem", "--seed", "0"}, "--seed: '0' is not allowed"},
      {{"rwsem", "--json", "/nowhere/result.json"}, "--json: "},
      {{"rwsem", "--json", "-", "--csv", "-"}, "stdout takes one of them"},
  };
  for (auto [words, text] : wrong) {
    words.insert(words.begin(), "story");
    const auto end = loadgen(words);
    EXPECT_EQ(end.code, 2) << ::testing::PrintToString(words);
    EXPECT_THAT(end.err, HasSubstr(text)) << ::testing::PrintToString(words);
    EXPECT_THAT(end.out, IsEmpty());
  }
}

}  // namespace
}  // namespace convoy
