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
#include <utility>
#include <vector>

#include "sim/explorer.h"
#include "tests/cell.h"
#include "tests/cell_program.h"

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

// Of a pass: with delayed stores a preemption less, unless that pass alone is asked for.
ExploreOptions limits_of(const Options& options, const Cell& cell, int delayed_stores) {
  ExploreOptions limits;
  // What must be seen needs up to three preemptions, whatever is asked for.
  limits.preemption_bound = cell.witnesses.empty() ? options.bound : std::max(options.bound, kUsualBound);
  if (delayed_stores != 0) limits.preemption_bound = options.bound - (options.delayed_stores ? 0 : 1);
  limits.preemption_bound = std::max(limits.preemption_bound - cell.fewer_preemptions, 0);
  limits.max_schedules = cell.max_schedules;
  limits.delayed_stores = delayed_stores;
  return limits;
}

int replay(const Options& options, const Cell& cell) {
  const ExploreOptions limits = limits_of(options, cell, options.delayed_stores.value_or(0));
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

// What the cell must have seen and has not.
std::vector<std::string> unseen(const Cell& cell, const std::vector<std::string>& witnesses) {
  std::vector<std::string> missing;
  for (const std::string& witness : cell.witnesses) {
    if (std::find(witnesses.begin(), witnesses.end(), witness) == witnesses.end()) missing.push_back(witness);
  }
  return missing;
}

// A cell that is to be stopped early is explored with one preemption, with two, ...: what is left out then needs the
// most. Stopped before it has seen what it must, it gets four times as many schedules. `limits` become those of the
// result. A bound beyond the usual allows ten times as many.
Exploration explore_within(const Options& options, const Cell& cell, ExploreOptions& limits) {
  if (cell.max_schedules >= kExhaustiveSchedules) return Explorer().explore(cell.make, limits);
  if (options.bound > kUsualBound) limits.max_schedules *= 10;
  const int last = limits.preemption_bound;
  limits.preemption_bound = std::min(1, last);
  std::vector<std::string> witnesses;
  for (;;) {
    Exploration result = Explorer().explore(cell.make, limits);
    witnesses.insert(witnesses.end(), result.witnesses.begin(), result.witnesses.end());
    if (!result.defect && result.exhausted && limits.preemption_bound < last) {
      ++limits.preemption_bound;
    } else if (!result.defect && !result.exhausted && limits.max_schedules < kExhaustiveSchedules &&
               limits.delayed_stores == 0 && !unseen(cell, witnesses).empty()) {
      limits.max_schedules *= 4;
    } else {
      result.witnesses = std::move(witnesses);
      return result;
    }
  }
}

Exploration run_pass(const Options& options, const Cell& cell, ExploreOptions limits) {
  Exploration result = explore_within(options, cell, limits);
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
    const ExploreOptions limits = limits_of(options, cell, 0);
    const Exploration result = run_pass(options, cell, limits);
    if (result.defect) return report(options, cell, limits, result);
    for (const std::string& witness : unseen(cell, result.witnesses)) {
      std::printf("never seen in any schedule: %s\n", witness.c_str());
      missing = 1;
    }
  }
  if (options.delayed_stores.value_or(1) != 0) {
    const ExploreOptions limits = limits_of(options, cell, options.delayed_stores.value_or(1));
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
  return cell_program("explore", "explore", " [--bound=N] [--delayed-stores=N] [--schedule=S]", all_cells(), names,
                      [&](const Cell& cell) { return explore(options, cell); });
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
