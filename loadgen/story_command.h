// story_command.h — `convoy-loadgen story rwsem`: a published story, rerun on a simulated machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

struct StoryOptions {
  std::vector<std::string> story;  // exactly one
  std::string machine = "configs/machines/xeon-2s-96t.toml";
  std::vector<std::string> machine_set;
  std::string published = "configs/published/rwsem-locktest-2023.csv";
  std::uint64_t seed = 1;
  bool quick = false;
  std::string json;
  std::string csv;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    const When start = When::kStart;
    v("machine", c.machine, Text{"the path of a machine file; configs/machines has some"}, start,
      "Run on this simulated machine.", Also{.value_name = "FILE.toml"});
    v("machine-set", c.machine_set, Text{"KEY=VALUE"}, start, "Change a number of the machine.",
      Also{.value_name = "KEY=VALUE"});
    v("published", c.published, Text{"the path of the story's figures"}, start, "What was published.",
      Also{.value_name = "FILE.csv"});
    v("seed", c.seed, Range<std::uint64_t>{1, 1'000'000'000'000}, start, "Draws which operations are reads.");
    v("quick", c.quick, nullptr, start, "Shorter runs: a tenth of the time, for a first look.");
    v("json", c.json, Text{"a path, or - for stdout"}, start,
      "Write the result as JSON: the published setting in runs, the rest in variants.", Also{.value_name = "FILE|-"});
    v("csv", c.csv, Text{"a path, or - for stdout"}, start, "Write the published setting as CSV, one row a run.",
      Also{.value_name = "FILE|-"});
    v("quiet", c.quiet, nullptr, start, "No progress on stderr.", Also{.short_name = "q"});
  }
};

// Returns the exit code: 1 when a check of the story fails.
int run_story(const StoryOptions& options, const std::vector<std::string>& command);

}  // namespace convoy
