// story_rwsem.cc — The rwsem story of 2023: its runs.
// SPDX-License-Identifier: MIT
#include "loadgen/story_rwsem.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "common/files.h"
#include "common/log.h"
#include "common/parse.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

using Assignments = std::vector<std::string>;

constexpr const char* kHeading =
    "variant,threads,runtime_s,read_percent,load,min,mean,max,total_ops_per_s,percpu_ops_per_s";
constexpr std::uint32_t kLevels[] = {2, 4, 8, 16, 24, 48, 96};
constexpr double kStep = 0.2;  // of the sensitivity table

// Numbers that a machine in kernel mode never looks at, or that are no costs.
constexpr std::string_view kWithoutSensitivity[] = {
    "syscall-ns",       "spin-budget-ns",    "yield-after",         "sockets",
    "threads-per-core", "nearest-window-ns", "clusters-per-socket", "cores-per-cluster"};

// Makes runs of the published workload.
class Runner {
 public:
  Runner(const StoryOptions& options, RwsemStory& story) : options_(options), story_(story) {}

  Result<LocktestReport> run(const std::string& policy, std::uint32_t threads, double seconds, const Assignments& set,
                             const std::string& label) const {
    LocktestOptions options;
    options.lock = policy;
    options.read_percent = story_.published.before.read_percent;
    options.load = story_.published.before.load;
    options.duration = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
    options.seed = story_.seed;
    options.machine = options_.machine;
    options.machine_set = options_.machine_set;
    options.machine_set.insert(options.machine_set.end(), set.begin(), set.end());
    const auto plan = plan_locktest(options);
    if (!plan) return fail("--{}", plan.error().message);
    if (!options_.quiet) log_info("{}, {} threads, {:g} s of virtual time", label, threads, seconds);
    auto report = run_locktest_plan(*plan, threads);
    if (!report) return report;
    report->run.label = label;
    if (report->run.interrupted) story_.interrupted = true;
    return report;
  }

  // Both policies of the published ratio, as long as a variant lasts.
  Result<RwsemPair> pair(const Assignments& set, const std::string& label) const {
    RwsemPair made{label, 0, 0};
    for (const bool after : {false, true}) {
      if (story_.interrupted) break;
      const std::string policy = kStoryPolicies[after ? 1 : 0];
      auto report = run(policy, story_.published.before.threads, story_.variant_s, set, policy + ", " + label);
      if (!report) return tl::unexpected(report.error());
      (after ? made.after : made.before) = report->run.transactions_per_second.value_or(0);
      story_.variants.push_back(std::move(report->run));
    }
    return made;
  }

 private:
  const StoryOptions& options_;
  RwsemStory& story_;
};

Result<void> make_claimed(const Runner& runner, RwsemStory& story) {
  for (const std::string policy : kStoryPolicies) {
    if (story.interrupted) return {};
    auto report = runner.run(policy, story.published.before.threads, story.claimed_s, {}, policy);
    if (!report) return tl::unexpected(report.error());
    if (story.claimed.size() >= 2) story.variants.push_back(report->run);
    story.claimed.push_back(std::move(*report));
  }
  return {};
}

// Every other policy that has a shared mode, in the same place.
Result<void> make_others(const Runner& runner, RwsemStory& story) {
  for (const LocktestPolicy& policy : machine_locktest_policies()) {
    const std::string name(policy.traits.name);
    if (!policy.shared ||
        std::find(std::begin(kStoryPolicies), std::end(kStoryPolicies), name) != std::end(kStoryPolicies))
      continue;
    if (story.interrupted) return {};
    auto report = runner.run(name, story.published.before.threads, story.curve_s, {}, name);
    if (!report) return tl::unexpected(report.error());
    story.variants.push_back(report->run);
    story.others.push_back(std::move(*report));
  }
  return {};
}

Result<void> make_curve(const Runner& runner, RwsemStory& story) {
  for (const std::uint32_t threads : kLevels) {
    std::vector<double> row;
    for (const std::string policy : kStoryPolicies) {
      if (story.interrupted) return {};
      auto report = runner.run(policy, threads, story.curve_s, {}, policy);
      if (!report) return tl::unexpected(report.error());
      row.push_back(report->run.transactions_per_second.value_or(0));
      story.variants.push_back(std::move(report->run));
    }
    story.levels.push_back(threads);
    story.curve.push_back(std::move(row));
  }
  return {};
}

// No idle state takes longer to leave than `ns`.
Assignments latency_of(const MachineFile& machine, double ns) {
  const MachineSpec& spec = machine.spec;
  const std::pair<const char*, double> states[] = {
      {"idle-1-exit-ns", spec.idle_1_exit}, {"idle-2-exit-ns", spec.idle_2_exit}, {"idle-3-exit-ns", spec.idle_3_exit}};
  Assignments set;
  for (const auto& [key, exit] : states) set.push_back(fmt::format("{}={}", key, std::min(exit, ns)));
  return set;
}

Result<void> make_latencies(const Runner& runner, RwsemStory& story) {
  auto usual = runner.pair({}, "as the machine is");
  if (!usual) return tl::unexpected(usual.error());
  story.usual = std::move(*usual);
  for (const int us : {4, 2, 0}) {
    if (story.interrupted) return {};
    auto made = runner.pair(latency_of(story.machine, us * 1e3), fmt::format("at most {} us", us));
    if (!made) return tl::unexpected(made.error());
    story.latencies.push_back(std::move(*made));
  }
  return {};
}

Result<void> make_sensitivity(const Runner& runner, RwsemStory& story) {
  for (const auto& [key, number] : story.machine.numbers) {
    if (std::find(std::begin(kWithoutSensitivity), std::end(kWithoutSensitivity), key) != std::end(kWithoutSensitivity))
      continue;
    const auto value = parse_real(number.value, 0, 1e12);
    if (!value || *value == 0) continue;
    Sensitivity moved{key, {}, {}};
    for (const bool more : {false, true}) {
      if (story.interrupted) return {};
      const auto assignment = fmt::format("{}={:.10g}", key, *value * (more ? 1 + kStep : 1 - kStep));
      auto made = runner.pair({assignment}, assignment);
      if (!made) return tl::unexpected(made.error());
      (more ? moved.more : moved.less) = std::move(*made);
    }
    story.sensitivity.push_back(std::move(moved));
  }
  return {};
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream rest(line);
  for (std::string field; std::getline(rest, field, ',');) fields.push_back(field);
  return fields;
}

Result<PublishedLocktest> parse_row(const std::vector<std::string>& fields) {
  std::array<std::uint64_t, 9> numbers{};
  if (fields.size() != numbers.size() + 1) return fail("{} fields, not {}", fields.size(), numbers.size() + 1);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = parse_unsigned(fields[i + 1], 1, 1'000'000'000'000);
    if (!number) return fail("field {}: {}", i + 2, number.error().message);
    numbers[i] = *number;
  }
  PublishedLocktest row;
  row.threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(numbers[0], kMostLockThreads));
  row.runtime_s = static_cast<std::uint32_t>(std::min<std::uint64_t>(numbers[1], 3600));
  row.read_percent = static_cast<std::uint32_t>(std::min<std::uint64_t>(numbers[2], 100));
  row.load = numbers[3];
  row.min = numbers[4];
  row.mean = numbers[5];
  row.max = numbers[6];
  row.total = static_cast<double>(numbers[7]);
  return row;
}

}  // namespace

Result<PublishedRwsem> parse_published_rwsem(const std::string& text, const std::string& name) {
  PublishedRwsem published;
  std::istringstream lines(text);
  std::size_t number = 0;
  bool headed = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (!headed && line != kHeading) return fail("{}:{}: the first line is not {}", name, number, kHeading);
    if (!std::exchange(headed, true)) continue;
    const auto fields = fields_of(line);
    const auto row = parse_row(fields);
    if (!row) return fail("{}:{}: {}", name, number, row.error().message);
    if (fields[0] != "before" && fields[0] != "after")
      return fail("{}:{}: variant: {} is not before or after", name, number, quote(fields[0]));
    (fields[0] == "before" ? published.before : published.after) = *row;
  }
  if (published.before.threads == 0 || published.after.threads == 0)
    return fail("{}: a row before and a row after are needed", name);
  return published;
}

Result<RwsemStory> plan_rwsem_story(const StoryOptions& options) {
  RwsemStory story;
  const auto text = read_text_file(options.published);
  if (!text) return fail("published: {}", text.error().message);
  auto published = parse_published_rwsem(*text, options.published);
  if (!published) return fail("published: {}", published.error().message);
  story.published = *published;
  auto machine = read_machine_file(options.machine);
  if (!machine) return fail("machine: {}", machine.error().message);
  if (auto set = set_machine_numbers(*machine, options.machine_set); !set) return tl::unexpected(set.error());
  story.machine = std::move(*machine);
  story.seed = options.seed;
  const double length = options.quick ? 0.1 : 1;
  story.claimed_s = story.published.before.runtime_s * length;
  story.curve_s = 2 * length;
  story.variant_s = 1 * length;
  return story;
}

Result<void> make_rwsem_story(const StoryOptions& options, RwsemStory& story) {
  const Runner runner(options, story);
  for (const auto make : {make_claimed, make_others, make_curve, make_latencies, make_sensitivity}) {
    if (auto made = make(runner, story); !made || story.interrupted) return made;
  }
  return {};
}

std::uint64_t count_of(const LocktestReport& report, Event event) {
  return report.outcome.events[static_cast<std::size_t>(event)];
}

std::uint64_t reads_of(const LocktestReport& report) {
  std::uint64_t sum = 0;
  for (const auto& thread : report.outcome.threads) sum += thread.reads + thread.late_reads;
  return sum;
}

std::uint64_t writes_of(const LocktestReport& report) {
  std::uint64_t sum = 0;
  for (const auto& thread : report.outcome.threads) sum += thread.writes + thread.late_writes;
  return sum;
}

}  // namespace convoy
