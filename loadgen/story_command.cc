// story_command.cc — `convoy-loadgen story rwsem`: a published story, rerun on a simulated machine.
// SPDX-License-Identifier: MIT
#include "loadgen/story_command.h"

#include <algorithm>
#include <utility>

#include "common/command_line.h"
#include "common/host_info.h"
#include "common/log.h"
#include "common/version.h"
#include "loadgen/http_command.h"
#include "loadgen/result_outputs.h"
#include "loadgen/stop_signal.h"
#include "loadgen/story_rwsem.h"

namespace convoy {
namespace {

constexpr const char* kProgram = "convoy-loadgen";
constexpr const char* kCommand = "story";

// The published setting alone in the runs, whatever else was run in the variants.
ResultFile result_of(const RwsemStory& story, const std::vector<std::string>& command) {
  ResultFile result;
  result.tool = ToolInfo{std::string(kVersion), std::string(kCommit)};
  result.command = command;
  result.host = read_host_info();
  for (std::size_t p = 0; p < std::min<std::size_t>(story.claimed.size(), 2); ++p)
    result.runs.push_back(story.claimed[p].run);
  result.variants = story.variants;
  return result;
}

}  // namespace

int run_story(const StoryOptions& options, const std::vector<std::string>& command) {
  const std::string& name = options.story.front();
  if (name != "rwsem")
    return usage_error(kProgram, kCommand, fmt::format("STORY: {} is not allowed; rwsem", quote(name)));
  const ResultOutputs outputs{options.json, options.csv, options.quiet};
  if (auto ok = check_outputs(outputs, {{"--machine", options.machine}, {"--published", options.published}}); !ok)
    return usage_error(kProgram, kCommand, ok.error().message);
  auto story = plan_rwsem_story(options);
  if (!story) return usage_error(kProgram, kCommand, "--" + story.error().message);
  stop_signal::install();
  if (auto made = make_rwsem_story(options, *story); !made) {
    log_error("{}", made.error().message);
    return kAbortedExit;
  }
  std::vector<StoryCheck> checks;
  std::string text;
  if (!story->interrupted) {
    checks = check_rwsem_story(*story);
    text = rwsem_story_text(*story, checks);
  }
  if (auto ok = put_out(outputs, text, result_of(*story, command)); !ok) {
    log_error("{}", ok.error().message);
    return kAbortedExit;
  }
  if (story->interrupted) return 128 + stop_signal::received();
  const bool hold = std::all_of(checks.begin(), checks.end(), [](const StoryCheck& check) { return check.holds; });
  return hold ? kOkExit : kFailedExit;
}

}  // namespace convoy
