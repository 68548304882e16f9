// locktest_options.h — The options of `convoy-loadgen locktest`.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/settings.h"
#include "loadgen/http_options.h"
#include "locks/knobs.h"

namespace convoy {

inline constexpr std::uint32_t kMostLockThreads = 4096;
inline constexpr std::uint64_t kMostLoad = 1'000'000'000;

// Names of the policies that some world runs (locktest_plan.cc).
std::vector<std::string> locktest_policy_names();

// Names of the options that say what a run is, and so may stand in a sweep file, besides those that every sweep has.
std::vector<std::string> locktest_sweep_keys();

struct LocktestOptions {
  std::string lock = "rwsem";
  std::vector<std::uint32_t> threads{50};
  std::optional<std::uint32_t> read_percent;
  std::uint64_t load = 100;
  Duration duration = std::chrono::seconds(10);
  std::uint32_t repeat = 1;
  std::uint64_t seed = 1;
  bool pin = false;
  std::string machine;
  std::vector<std::string> machine_set;
  std::string trace;
  bool stats = false;
  std::array<std::optional<std::uint32_t>, kKnobCount> knobs{};
  std::string label;
  std::string json;
  std::string csv;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    using std::chrono::hours, std::chrono::milliseconds;
    const When start = When::kStart;
    v("lock", c.lock, OneOf{locktest_policy_names}, start, "Policy of the lock.", Also{.value_name = "POLICY"});
    v("threads", c.threads, Range<std::uint32_t>{1, kMostLockThreads}, start,
      "Threads that take the lock; a list makes one run a level.", Also{.alias = "users", .short_name = "c"});
    v("read-percent", c.read_percent, Range<std::uint32_t>{0, 100}, start,
      "Each operation is a read with this probability, independently; 0 for a policy without a shared mode.",
      Also{.default_text = "50, without a shared mode 0"});
    v("load", c.load, Range<std::uint64_t>{0, kMostLoad}, start,
      "Work under the lock; a unit is one pause instruction, on a machine its work-unit-ns.");
    v("duration", c.duration, Range<Duration>{milliseconds(1), hours(24)}, start,
      "Length of a run; a bare number is seconds.", Also{.short_name = "t"});
    v("repeat", c.repeat, Range<std::uint32_t>{1, kMostRepeats}, start, "Runs of each level.");
    v("seed", c.seed, Range<std::uint64_t>{1, 1'000'000'000'000}, start, "Draws which operations are reads.");
    v("pin", c.pin, nullptr, start, "Pin each thread to a processor, in turn; on a machine they always are.");
    v("machine", c.machine, Text{"the path of a machine file; configs/machines has some"}, start,
      "Run on this simulated machine, in virtual time.",
      Also{.value_name = "FILE.toml", .default_text = "real threads"});
    v("machine-set", c.machine_set, Text{"KEY=VALUE"}, start, "Change a number of the machine.",
      Also{.value_name = "KEY=VALUE"});
    v("trace", c.trace, Text{"a path"}, start,
      "Write what each thread of the machine did when, for Perfetto or chrome://tracing: at most 4 million events; of "
      "one run.",
      Also{.value_name = "FILE.json"});
    v("stats", c.stats, nullptr, start, "Say how fast the machine was simulated.");
    for (std::size_t k = 0; k < kKnobCount; ++k) {
      const KnobInfo& about = kKnobs[k];
      v(about.name, c.knobs[k], Range<std::uint32_t>{about.minimum, about.maximum}, start, about.sentence,
        Also{.default_text = std::to_string(about.default_value)});
    }
    v("label", c.label, nullptr, start, "What compare calls these runs.",
      Also{.default_text = "the policy and its knobs"});
    v("json", c.json, Text{"a path, or - for stdout"}, start, "Write the result as JSON.",
      Also{.value_name = "FILE|-"});
    v("csv", c.csv, Text{"a path, or - for stdout"}, start, "Write the result as CSV, one row a run.",
      Also{.value_name = "FILE|-"});
    v("quiet", c.quiet, nullptr, start, "No progress on stderr.", Also{.short_name = "q"});
  }
};

}  // namespace convoy
