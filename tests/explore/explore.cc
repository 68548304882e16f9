// explore.cc — Runs one cell (policy, scenario) under every schedule up to a bound, or replays one schedule.
// SPDX-License-Identifier: MIT
//
// Its options: kHelp.
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
constexpr int kMostDelayedStores = 4;
constexpr int kSamples = 200;  // PCT schedules at the usual bound

constexpr const char* kHelp = R"(
  --bound=N             preemptions, 0 to 100; CONVOY_DEPTH, else 3
  --delayed-stores=N    this search alone, 0 to 4: 0 sequential consistency, 1 x86-TSO with one delayed store a schedule
  --seed=N              of the random schedules, 0 to 100; 1
  --pairs=FILE          appends each pair of a release and an acquire, FILE:LINE FILE:LINE, that synchronised;
                        a file of its own for each cell in the folder CONVOY_EXPLORE_PAIRS, if that is set
  --schedule=S          replays one schedule, POSITION:CHOICE,... or -, with the --delayed-stores printed with it

Without --delayed-stores three passes: SC; TSO, with one preemption less; and where a bound cut something PCT, random
schedules without a bound, of which a preemption more of --bound asks for ten times as many.

Exit status: 0 no defect, 1 a defect (its ladder and replay line are printed), 2 usage.
)";

struct Options {
  bool replay = false;
  std::string schedule;
  std::string program;  // as the replay line names it
  int bound = kUsualBound;
  std::optional<int> delayed_stores;  // all passes without it
  int seed = 1;
  std::string pairs;
};

// Of `name=text`. Nothing, and a message, for what is not allowed.
std::optional<int> read_number(const char* name, const char* text, int most) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (end != text && *end == '\0' && number >= 0 && number <= most) return static_cast<int>(number);
  std::fprintf(stderr, "explore: %s: '%.60s' is not allowed; a whole number from 0 to %d\n", name, text, most);
  return std::nullopt;
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

std::string outcome_of(const Exploration& result) {
  if (result.defect) return "defect, " + result.defect->kind;
  return result.exhausted ? "exhausted" : fmt::format("stopped at {}", result.schedules);
}

void note(const Options& options, const Cell& cell, const char* pass, const std::string& limit,
          const Exploration& result, const std::string& outcome) {
  const std::string line = fmt::format("{:<22} {:<14} {:<22} {:<3} {:<8} {:>7} schedules, {:>9} steps: {}\n",
                                       options.program.substr(options.program.rfind('/') + 1), cell.policy,
                                       cell.scenario, pass, limit, result.schedules, result.steps, outcome);
  std::fputs(line.c_str(), stdout);
  note_in_table(line);
}

// A cell being explored: its passes, one after the other until one finds a defect.
class Passes {
 public:
  Passes(const Options& options, const Cell& cell) : options_(options), cell_(cell) {}
  ~Passes() { append_pairs(); }
  Passes(const Passes&) = delete;
  Passes& operator=(const Passes&) = delete;

  int run() {
    if (options_.delayed_stores) return search(*options_.delayed_stores);
    if (search(0) != 0 || search(1) != 0) return 1;
    return complete_ || sample() == 0 ? missing_witnesses() : 1;
  }

 private:
  int search(int delayed_stores) {
    ExploreOptions limits = limits_of(options_, cell_, delayed_stores);
    const Exploration result = explore_within(limits);
    note(options_, cell_, delayed_stores == 0 ? "SC" : "TSO", fmt::format("bound {}", limits.preemption_bound), result,
         outcome_of(result));
    complete_ = complete_ && result.complete;
    if (delayed_stores == 0) witnesses_ = result.witnesses;
    return result.defect ? report(options_, cell_, limits, result) : 0;
  }

  // A cell that is to be stopped early is explored with one preemption, with two, ...: what is left out then needs the
  // most. Stopped before it has seen what it must, it gets four times as many schedules. `limits` become those of the
  // result. A bound beyond the usual allows ten times as many.
  Exploration explore_within(ExploreOptions& limits) {
    if (cell_.max_schedules >= kExhaustiveSchedules) return explorer_.explore(cell_.make, limits);
    if (options_.bound > kUsualBound) limits.max_schedules *= 10;
    const int last = limits.preemption_bound;
    limits.preemption_bound = std::min(1, last);
    std::vector<std::string> witnesses;
    for (;;) {
      Exploration result = explorer_.explore(cell_.make, limits);
      witnesses.insert(witnesses.end(), result.witnesses.begin(), result.witnesses.end());
      if (!result.defect && result.exhausted && limits.preemption_bound < last) {
        ++limits.preemption_bound;
      } else if (!result.defect && !result.exhausted && limits.max_schedules < kExhaustiveSchedules &&
                 limits.delayed_stores == 0 && !unseen(witnesses).empty()) {
        limits.max_schedules *= 4;
      } else {
        result.witnesses = std::move(witnesses);
        return result;
      }
    }
  }

  int sample() {
    const ExploreOptions limits = limits_of(options_, cell_, 2);
    int schedules = kSamples;
    for (int bound = kUsualBound; bound < std::min(options_.bound, kUsualBound + 3); ++bound) schedules *= 10;
    const Exploration result =
        explorer_.sample(cell_.make, limits, static_cast<std::uint64_t>(options_.seed), schedules);
    note(options_, cell_, "PCT", fmt::format("seed {}", options_.seed), result,
         result.defect ? outcome_of(result) : "no defect");
    return result.defect ? report(options_, cell_, limits, result) : 0;
  }

  // What the cell must have seen and is not among these.
  std::vector<std::string> unseen(const std::vector<std::string>& witnesses) const {
    std::vector<std::string> missing;
    for (const std::string& witness : cell_.witnesses) {
      if (std::find(witnesses.begin(), witnesses.end(), witness) == witnesses.end()) missing.push_back(witness);
    }
    return missing;
  }
  int missing_witnesses() const {
    const std::vector<std::string> missing = unseen(witnesses_);
    for (const std::string& witness : missing) std::printf("never seen in any schedule: %s\n", witness.c_str());
    return missing.empty() ? 0 : 1;
  }

  void append_pairs() const {
    if (options_.pairs.empty()) return;
    std::FILE* file = std::fopen(options_.pairs.c_str(), "a");
    if (file == nullptr) return std::perror(options_.pairs.c_str());
    for (const auto& [release, acquire] : explorer_.pairs().all())
      std::fprintf(file, "%s:%d %s:%d\n", release.file, release.line, acquire.file, acquire.line);
    std::fclose(file);
  }

  const Options& options_;
  const Cell& cell_;
  Explorer explorer_;
  std::vector<std::string> witnesses_;
  bool complete_ = true;
};

// Reads what is an option into `options`, the rest into `names`. False, and a message, for what is not allowed.
bool read_arguments(int argc, char** argv, Options& options, std::vector<std::string>& names) {
  std::optional<int> seed = options.seed, bound = options.bound;
  if (const char* depth = std::getenv("CONVOY_DEPTH"); depth != nullptr)
    bound = read_number("CONVOY_DEPTH", depth, 100);
  for (int i = 1; i < argc && bound && seed; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("--bound=")) {
      bound = read_number("--bound", argv[i] + 8, 100);
    } else if (argument.starts_with("--delayed-stores=")) {
      options.delayed_stores = read_number("--delayed-stores", argv[i] + 17, kMostDelayedStores);
      if (!options.delayed_stores) return false;
    } else if (argument.starts_with("--seed=")) {
      seed = read_number("--seed", argv[i] + 7, 100);
    } else if (argument.starts_with("--pairs=")) {
      options.pairs = argument.substr(8);
    } else if (argument.starts_with("--schedule=")) {
      options.schedule = argument.substr(11);
      options.replay = true;
    } else {
      names.push_back(argument);
    }
  }
  if (!bound || !seed) return false;
  options.bound = *bound;
  options.seed = *seed;
  if (!options.replay || is_schedule(options.schedule)) return true;
  std::fprintf(stderr, "explore: --schedule: '%.60s' is not allowed; as printed: POSITION:CHOICE,... or -\n",
               options.schedule.c_str());
  return false;
}

int main(int argc, char** argv) {
  Options options;
  options.program = argv[0];
  // As from the repository's root, wherever that is.
  if (const auto build = options.program.rfind("/build/"); build != std::string::npos)
    options.program.erase(0, build + 1);
  std::vector<std::string> names;
  if (!read_arguments(argc, argv, options, names)) return 2;
  if (const char* folder = std::getenv("CONVOY_EXPLORE_PAIRS");
      folder != nullptr && options.pairs.empty() && names.size() == 2)
    options.pairs = fmt::format("{}/{}.{}", folder, names[0], names[1]);
  const auto run = [&](const Cell& cell) {
    return options.replay ? replay(options, cell) : Passes(options, cell).run();
  };
  return cell_program("explore", "explore", " [OPTION...]", all_cells(), names, run, kHelp);
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
