// locktest_result.cc — A run of locktest as a row of a result, and in the words of the published ones.
// SPDX-License-Identifier: MIT
#include "loadgen/locktest_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "loadgen/stats.h"
#include "loadgen/table.h"

namespace convoy {
namespace {

constexpr double kNanos = 1e9;

bool is_of_page_lock(std::string_view event) { return event.starts_with("page_lock_"); }

// Of a page lock all, since its identities are looked at; of other families what has happened.
Counts events_of(const PolicyTraits& traits, const LocktestOutcome& outcome) {
  Counts events;
  for (std::size_t e = 0; e < kEventCount; ++e) {
    const bool always = traits.kind == Kind::kPageLock && is_of_page_lock(kEvents[e].name);
    if (always || outcome.events[e] != 0) events[std::string(kEvents[e].name)] = outcome.events[e];
  }
  return events;
}

PerUser share_of(const LocktestOutcome& outcome) {
  std::vector<double> counts;
  for (const auto& thread : outcome.threads) counts.push_back(static_cast<double>(thread.operations()));
  const Summary summary = summarize(counts);
  PerUser share;
  share.min = summary.min;
  share.mean = std::clamp(summary.mean, summary.min, summary.max);
  share.max = summary.max;
  share.jain = jain_index(counts);
  return share;
}

}  // namespace

std::string grouped(double number) {
  std::string digits = fmt::format("{:.0f}", std::floor(number));
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

void describe_locktest(const LocktestPolicy& policy, const LocktestLoad& load, const LocktestOutcome& outcome,
                       Run& run) {
  run.workload = "locktest";
  run.target = fmt::format("r% = {}%, load = {}{}", load.read_percent, load.load, load.pinned ? ", pinned" : "");
  run.seed = load.seed;
  run.policy = std::map<std::string, std::string>{{"lock", std::string(policy.traits.name)}};
  run.knobs = Counts{};
  for (const Knob knob : policy.traits.knobs) {
    (*run.knobs)[std::string(info(knob).name)] = outcome.knobs[static_cast<std::size_t>(knob)];
  }
  run.users = load.threads;
  run.duration_s = static_cast<double>(outcome.window_ns()) / kNanos;
  for (const auto& thread : outcome.threads) {
    run.transactions += thread.operations();
    run.in_flight_at_end += thread.late_reads + thread.late_writes;
  }
  run.started = run.transactions + run.in_flight_at_end;
  if (run.duration_s > 0) run.transactions_per_second = static_cast<double>(run.transactions) / run.duration_s;
  run.per_user = share_of(outcome);
  run.lock_events = std::map<std::string, Counts>{{"lock", events_of(policy.traits, outcome)}};
}

std::string locktest_text(const LocktestPolicy& policy, const LocktestLoad& load, const Run& run) {
  const auto seconds = static_cast<double>(load.duration_ns) / kNanos;
  const double rate = run.transactions_per_second.value_or(0);
  std::string text = fmt::format("Running locktest with {} [runtime = {:g} s, r% = {}%, load = {}]\n",
                                 policy.traits.name, seconds, load.read_percent, load.load);
  text += fmt::format("Threads = {}, Min/Mean/Max = {}/{}/{}\n", load.threads, grouped(*run.per_user.min),
                      grouped(*run.per_user.mean), grouped(*run.per_user.max));
  text += fmt::format("Total Rate = {} op/s; Percpu Rate = {} op/s\n", grouped(rate),
                      grouped(rate / static_cast<double>(load.threads)));
  for (const auto& [name, count] : run.lock_events->at("lock")) text += fmt::format("{}={}\n", name, count);
  return text;
}

std::string locktest_table_text(const std::vector<Run>& runs) {
  std::map<std::uint64_t, std::vector<const Run*>> levels;
  for (const auto& run : runs) levels[run.users].push_back(&run);
  TextTable table;
  table.add({"threads", "runs", "op/s", "op/s a thread", "min", "max", "Jain"});
  for (const auto& [threads, level] : levels) {
    std::vector<double> rates, least, most, jains;
    for (const Run* run : level) {
      rates.push_back(run->transactions_per_second.value_or(0));
      least.push_back(*run->per_user.min);
      most.push_back(*run->per_user.max);
      if (run->per_user.jain) jains.push_back(*run->per_user.jain);
    }
    const double rate = median(rates);
    table.add({fmt::format("{}", threads), fmt::format("{}", level.size()), grouped(rate),
               grouped(rate / static_cast<double>(threads)), grouped(*std::min_element(least.begin(), least.end())),
               grouped(*std::max_element(most.begin(), most.end())),
               jains.empty() ? "-" : fmt::format("{:.3f}", median(jains))});
  }
  return table.text() + "Medians over the runs of a level; the least and the most that a thread did in any of them.\n";
}

}  // namespace convoy
