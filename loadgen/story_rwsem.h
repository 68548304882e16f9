// story_rwsem.h — The rwsem story of 2023: what a rework of the wake-up of writers cost, on a simulated machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "loadgen/locktest_plan.h"
#include "loadgen/story_command.h"

namespace convoy {

// Where the story is told: rwsem, its rework, and the repair of the rework.
inline constexpr const char* kStoryPolicies[] = {"rwsem", "rwsem-transfer", "rwsem-restored"};

// A row of configs/published/rwsem-locktest-2023.csv.
struct PublishedLocktest {
  std::uint32_t threads = 0, runtime_s = 0, read_percent = 0;
  std::uint64_t load = 0, min = 0, mean = 0, max = 0;
  double total = 0;  // operations per second
};

struct PublishedRwsem {
  PublishedLocktest before, after;
};

// Reads the CSV. The error names line and field.
Result<PublishedRwsem> parse_published_rwsem(const std::string& text, const std::string& name);

// The same setting with rwsem and with rwsem-transfer.
struct RwsemPair {
  std::string label;
  double before = 0, after = 0;  // operations per second

  double ratio() const { return before > 0 ? after / before : 0; }
};

struct Sensitivity {
  std::string key;
  RwsemPair less, more;  // the number is 20 % smaller, larger
};

struct RwsemStory {
  PublishedRwsem published;
  MachineFile machine;
  std::uint64_t seed = 1;
  double claimed_s = 0, curve_s = 0, variant_s = 0;  // virtual time of a run
  std::vector<LocktestReport> claimed;               // one a policy, in the order of kStoryPolicies
  std::vector<LocktestReport> others;                // the other policies with a shared mode, as long as the curve
  std::vector<std::uint32_t> levels;                 // of the curve
  std::vector<std::vector<double>> curve;            // operations per second by level and policy
  std::vector<RwsemPair> latencies;                  // the wake-up latency lowered, step by step
  RwsemPair usual;                                   // as the machine file has it, as long as the variants
  std::vector<Sensitivity> sensitivity;
  std::vector<Run> variants;  // all runs but the first two
  bool interrupted = false;   // what comes behind is missing
};

// Reads the files that the options name. The error begins with the name of the option.
Result<RwsemStory> plan_rwsem_story(const StoryOptions& options);

// Makes the runs, one after the other. A signal ends it early and marks it.
Result<void> make_rwsem_story(const StoryOptions& options, RwsemStory& story);

struct StoryCheck {
  std::string claim;
  bool holds = false;
};

// What has to hold of the runs, whatever was not fitted is like. Requires: not interrupted.
std::vector<StoryCheck> check_rwsem_story(const RwsemStory& story);

// The story as text: fitted, not fitted, checks.
std::string rwsem_story_text(const RwsemStory& story, const std::vector<StoryCheck>& checks);

// How often `event` was counted.
std::uint64_t count_of(const LocktestReport& report, Event event);
// Operations begun.
std::uint64_t reads_of(const LocktestReport& report);
std::uint64_t writes_of(const LocktestReport& report);

}  // namespace convoy
