// main.cc — convoy-loadgen: subcommands and their options.
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include "common/command_line.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/calibrate_command.h"
#include "loadgen/compare.h"
#include "loadgen/http_command.h"
#include "loadgen/locktest_command.h"
#include "loadgen/story_command.h"
#include "loadgen/sweep_command.h"
#include "loadgen/validate.h"

namespace {

constexpr const char* kSentence =
    "Drives a server and says what its lock policy does to throughput, latency and fairness.";
constexpr const char* kRunCodes =
    "Exit codes: 0 ok, 1 requests or checks failed, 2 usage, 3 could not connect or aborted, 130/143 signals.";
constexpr const char* kLockCodes =
    "Exit codes: 0 ok, 1 a run in which nothing was done, 2 usage, 3 aborted, 130/143 signals.";
constexpr const char* kStoryCodes = "Exit codes: 0 ok, 1 a check fails, 2 usage, 3 aborted, 130/143 signals.";
constexpr const char* kCompareCodes = "Exit codes: 0 whatever differs, 1 with --fail-below, 2 nothing is comparable.";
constexpr const char* kValidateCodes = "Exit codes: 0 all are right, 1 one is wrong, 2 a path does not exist.";
constexpr const char* kCalibrateCodes = "Exit codes: 0 ok, 2 usage, 3 it could not be measured or written.";
constexpr std::size_t kMostPaths = 10'000;

}  // namespace

int main(int argc, char** argv) {
  using namespace convoy;
  start_log("convoy-loadgen");
  HttpOptions http;
  LocktestOptions locktest;
  SweepOptions sweep;
  CompareOptions compare;
  ValidateOptions validate;
  CalibrateOptions calibrate;
  StoryOptions story;
  Settings http_settings = Settings::of(http);
  Settings locktest_settings = Settings::of(locktest);
  Settings sweep_settings = Settings::of(sweep);
  Settings compare_settings = Settings::of(compare);
  Settings validate_settings = Settings::of(validate);
  Settings calibrate_settings = Settings::of(calibrate);
  Settings story_settings = Settings::of(story);
  const std::vector<Command> commands{
      {"http",
       "Closed-loop HTTP load on a running server.",
       &http_settings,
       {"URL", "http://HOST[:PORT][/PATH]; one {1..1024} in it stands for a list", 0, 1, &http.url},
       kRunCodes},
      {"locktest",
       "Threads that take one lock again and again, to read or to write.",
       &locktest_settings,
       {},
       kLockCodes},
      {"sweep",
       "Policies x users x repeats, interleaved; starts and stops the server itself.",
       &sweep_settings,
       {"FILE.toml", "the sweep; configs/sweeps has some", 1, 1, &sweep.file},
       kRunCodes},
      {"story",
       "Reruns a published story on a simulated machine: published against simulated, what was fitted apart.",
       &story_settings,
       {"STORY", "which one: rwsem", 1, 1, &story.story},
       kStoryCodes},
      {"compare",
       "Results side by side: which policy is how much faster, slower, fairer.",
       &compare_settings,
       {"FILE|DIR", "results, folders of results, or a CSV users,label,label,...", 1, kMostPaths, &compare.paths},
       kCompareCodes},
      {"validate",
       "Checks results against the schema and their sums.",
       &validate_settings,
       {"FILE|DIR", "results or folders of results", 1, kMostPaths, &validate.paths},
       kValidateCodes},
      {"calibrate",
       "Measures what lines, sleeping and waking cost on this host and writes a machine file.",
       &calibrate_settings,
       {},
       kCalibrateCodes},
  };
  const auto parsed = parse_command_line("convoy-loadgen", version_text(), kSentence, commands, argc, argv);
  if (parsed.exit_code) return *parsed.exit_code;
  const std::vector<std::string> command_line(argv, argv + argc);
  if (parsed.command == "locktest") return run_locktest_command(locktest, command_line);
  if (parsed.command == "sweep") return run_sweep(sweep, command_line);
  if (parsed.command == "story") return run_story(story, command_line);
  if (parsed.command == "compare") return run_compare(compare);
  if (parsed.command == "validate") return run_validate(validate);
  if (parsed.command == "calibrate") return run_calibrate(calibrate, command_line);
  return run_http(http, command_line);
}
