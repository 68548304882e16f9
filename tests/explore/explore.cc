// explore.cc — Runs one cell (policy, scenario) under every schedule up to a bound, or replays one schedule.
// SPDX-License-Identifier: MIT
//
// usage: explore --list | --ctest PROGRAM LABEL ENVIRONMENT | POLICY SCENARIO [OPTION...]
//   --bound=N             preemptions; CONVOY_DEPTH, else 3
//   --delayed-stores=N    this pass alone: 0 sequential consistency, 1 x86-TSO with one delayed store; without it both,
//                         the second with one preemption less
//   --schedule=S          replays one schedule of the pass
//
// Exit status: 0 no defect, 1 a defect (its ladder and replay line are printed), 2 usage.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "sim/explorer.h"
#include "tests/cell.h"
#include "tests/cell_program.h"
#include "tests/explore/explored_cells.h"

namespace convoy {
namespace {

constexpr int kUsualBound = 3;

struct Options {
  bool replay = false;
  std::string schedule;
  std::string program;  // as the replay line names it
  int bound = kUsualBound;
  std::optional<int> delayed_stores;  // both passes without it
};

// -1 for what is no number.
int read_number(const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return end == text || *end != '\0' || number > 100 ? -1 : static_cast<int>(number);
}

int report(const Options& options, const Cell& cell, const ExploreOptions& limits, const Exploration& result) {
  const std::string pass = limits.delayed_stores == 0 ? "" : fmt::format(" --delayed-stores={}", limits.delayed_stores);
  std::printf("%s\n%s: %s\nreplay: %s %s %s%s --schedule=%s\n", result.defect->ladder.c_str(),
              result.defect->kind.c_str(), result.defect->text.c_str(), options.program.c_str(), cell.policy.c_str(),
              cell.scenario.c_str(), pass.c_str(), result.defect->schedule.c_str());
  return 1;
}

// Appends a line to the table that ctest prints at its end (tests/explore/summary.cmake).
void note_in_table(const std::string& line) {
  const char* table = std::getenv("CONVOY_EXPLORE_TABLE");
  if (table == nullptr) return;
  if (std::FILE* file = std::fopen(table, "a"); file != nullptr) {
    std::fputs(line.c_str(), file);
    std::fclose(file);
  }
}

int replay(const Options& options, const Cell& cell) {
  ExploreOptions limits;
  limits.delayed_stores = options.delayed_stores.value_or(0);
  const Exploration result = Explorer().replay(cell.make, limits, options.schedule);
  if (result.defect) return report(options, cell, limits, result);
  if (!result.exhausted) {
    std::fprintf(stderr,
                 "explore: this schedule is of another cell, pass or source: it asks for choices that there are not\n");
    return 2;
  }
  std::printf("%s %s: this schedule shows no defect (%llu steps)\n", cell.policy.c_str(), cell.scenario.c_str(),
              static_cast<unsigned long long>(result.steps));
  return 0;
}

Exploration run_pass(const Options& options, const Cell& cell, const ExploreOptions& limits) {
  Exploration result = Explorer().explore(cell.make, limits);
  const std::string line =
      fmt::format("{:<28} {:<14} {:<22} {:<6} bound {} {:>7} schedules, {:>9} steps: {}\n",
                  options.program.substr(options.program.rfind('/') + 1), cell.policy, cell.scenario,
                  limits.delayed_stores == 0 ? "SC" : "TSO", limits.preemption_bound, result.schedules, result.steps,
                  result.defect      ? "defect, " + result.defect->kind
                  : result.exhausted ? "exhausted"
                                     : fmt::format("stopped at {}", result.schedules));
  std::fputs(line.c_str(), stdout);
  note_in_table(line);
  return result;
}

int explore(const Options& options, const Cell& cell) {
  if (options.replay) return replay(options, cell);
  int missing = 0;
  if (options.delayed_stores.value_or(0) == 0) {
    ExploreOptions limits;
    // What must be seen needs up to three preemptions, whatever is asked for.
    limits.preemption_bound = cell.witnesses.empty() ? options.bound : std::max(options.bound, kUsualBound);
    const Exploration result = run_pass(options, cell, limits);
    if (result.defect) return report(options, cell, limits, result);
    for (const std::string& witness : cell.witnesses) {
      if (std::find(result.witnesses.begin(), result.witnesses.end(), witness) != result.witnesses.end()) continue;
      std::printf("never seen in any schedule: %s\n", witness.c_str());
      missing = 1;
    }
  }
  if (options.delayed_stores.value_or(1) != 0) {
    ExploreOptions limits;
    limits.delayed_stores = options.delayed_stores.value_or(1);
    limits.preemption_bound = options.delayed_stores ? options.bound : std::max(options.bound - 1, 0);
    const Exploration result = run_pass(options, cell, limits);
    if (result.defect) return report(options, cell, limits, result);
  }
  return missing;
}

int main(int argc, char** argv) {
  Options options;
  options.program = argv[0];
  // As from the repository's root, wherever that is.
  if (const auto build = options.program.rfind("/build/"); build != std::string::npos)
    options.program.erase(0, build + 1);
  if (const char* depth = std::getenv("CONVOY_DEPTH"); depth != nullptr) options.bound = read_number(depth);
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.rfind("--bound=", 0) == 0) {
      options.bound = read_number(argument.c_str() + 8);
    } else if (argument.rfind("--delayed-stores=", 0) == 0) {
      options.delayed_stores = read_number(argument.c_str() + 17);
    } else if (argument.rfind("--schedule=", 0) == 0) {
      options.schedule = argument.substr(11);
      options.replay = true;
    } else {
      names.push_back(argument);
    }
  }
  if (options.replay && !is_schedule(options.schedule)) {
    std::fprintf(stderr, "explore: --schedule='%.60s' is no schedule; as printed: POSITION:CHOICE,... or -\n",
                 options.schedule.c_str());
    return 2;
  }
  if (options.bound < 0) {
    std::fprintf(stderr, "explore: --bound (or CONVOY_DEPTH) must be a whole number from 0 to 100\n");
    return 2;
  }
  if (options.delayed_stores.value_or(0) < 0) {
    std::fprintf(stderr, "explore: --delayed-stores must be a whole number from 0 to 100\n");
    return 2;
  }
  return cell_program("explore", "explore", " [--bound=N] [--delayed-stores=N] [--schedule=S]", explored_cells(), names,
                      [&](const Cell& cell) { return explore(options, cell); });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
