// story_rwsem_text.cc — The rwsem story of 2023 as text: fitted, not fitted, checks.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>

#include "loadgen/locktest_result.h"
#include "loadgen/story_rwsem.h"
#include "loadgen/table.h"
#include "sim/machine_topology.h"

namespace convoy {
namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

// "-" where nothing can be divided.
std::string quotient(double a, double b, bool as_percent = false) {
  if (b == 0) return "-";
  return as_percent ? percent(a / b) : fmt::format("{:.2f}", a / b);
}

double rate_of(const LocktestReport& report) { return report.run.transactions_per_second.value_or(0); }

std::string head_text(const RwsemStory& story) {
  const PublishedLocktest& setting = story.published.before;
  return wrapped(fmt::format(
      "The rwsem story of 2023: what did it cost that the waker takes the lock for the first "
      "writer? \"published\" is what was measured then; every other figure is simulated: "
      "machine {}, {} pinned threads, {} % reads, load {}, {:g} s of virtual time, seed {}.",
      story.machine.described(), setting.threads, setting.read_percent, setting.load, story.claimed_s, story.seed));
}

std::string constants_text(const RwsemStory& story) {
  std::string text;
  for (const auto& [key, number] : story.machine.numbers) {
    if (number.mark == "fitted" || number.mark == "set")
      text += wrapped(fmt::format("{} = {} ({}: {})", key, number.value, number.mark, number.source), 4, 2);
  }
  if (text.empty()) return "No number of this machine was fitted.\n";
  return "Constants, the same for every policy:\n" + text;
}

std::string totals_text(const RwsemStory& story) {
  const double before = rate_of(story.claimed[0]), after = rate_of(story.claimed[1]);
  const double told[] = {story.published.before.total, story.published.after.total};
  TextTable table;
  table.add({"op/s", "published", "simulated", "distance"});
  for (std::size_t p = 0; p < 2; ++p) {
    const double rate = rate_of(story.claimed[p]);
    table.add(
        {kStoryPolicies[p], grouped(told[p]), grouped(rate), fmt::format("{:+.1f} %", (rate / told[p] - 1) * 100)});
  }
  table.add({"after / before", quotient(told[1], told[0]), quotient(after, before),
             fmt::format("{:+.1f} %", (after / std::max(before, 1.0) / (told[1] / told[0]) - 1) * 100)});
  return "Totals that xeon-2s-96t was fitted to:\n" + table.text();
}

std::string restored_text(const RwsemStory& story) {
  const double rate = rate_of(story.claimed[2]), before = rate_of(story.claimed[0]);
  return fmt::format("rwsem-restored, the repair of the rework: {} op/s, {} of rwsem; no published figure\n",
                     grouped(rate), quotient(rate, before, true));
}

// Means by socket; thread n is on processor n.
std::vector<double> socket_means(const RwsemStory& story, const LocktestReport& report) {
  const MachineTopology topology(story.machine.spec);
  std::vector<double> sums(story.machine.spec.sockets), threads(story.machine.spec.sockets);
  for (std::uint32_t n = 0; n < report.outcome.threads.size(); ++n) {
    const auto socket = topology.socket_of(n % story.machine.spec.cpus());
    sums[socket] += static_cast<double>(report.outcome.threads[n].operations());
    threads[socket] += 1;
  }
  for (std::size_t s = 0; s < sums.size(); ++s) sums[s] /= std::max(threads[s], 1.0);
  return sums;
}

std::string threads_text(const RwsemStory& story) {
  TextTable table;
  std::vector<std::string> head{"locks per thread", "min", "mean", "max"};
  for (std::uint32_t s = 0; s < story.machine.spec.sockets; ++s) head.push_back(fmt::format("mean, socket {}", s));
  table.add(head);
  const auto add_published = [&](const char* name, const PublishedLocktest& row) {
    std::vector<std::string> fields{name};
    for (const auto number : {row.min, row.mean, row.max}) fields.push_back(grouped(static_cast<double>(number)));
    fields.resize(head.size(), "-");
    table.add(fields);
  };
  for (std::size_t p = 0; p < story.claimed.size(); ++p) {
    if (p == 0) add_published("rwsem, published", story.published.before);
    if (p == 1) add_published("rwsem-transfer, published", story.published.after);
    const PerUser& share = story.claimed[p].run.per_user;
    std::vector<std::string> fields{kStoryPolicies[p]};
    for (const auto& number : {share.min, share.mean, share.max}) fields.push_back(grouped(number.value_or(0)));
    for (const double mean : socket_means(story, story.claimed[p])) fields.push_back(grouped(mean));
    table.add(fields);
  }
  std::string text = table.text();
  if (story.claimed_s < story.published.before.runtime_s)
    text +=
        fmt::format("Published over {} s, simulated over {:g} s.\n", story.published.before.runtime_s, story.claimed_s);
  return text;
}

std::string events_text(const RwsemStory& story) {
  // Published of the rework: rwsem_wake_writer is 0 there. Of the others the counts are not in our data.
  TextTable table;
  table.add({"lock events", kStoryPolicies[0], kStoryPolicies[1], kStoryPolicies[2], "published"});
  for (std::size_t e = 0; e < kEventCount; ++e) {
    if (!kEvents[e].name.starts_with("rwsem_")) continue;
    std::vector<std::string> row{std::string(kEvents[e].name)};
    for (const auto& report : story.claimed) row.push_back(grouped(static_cast<double>(report.outcome.events[e])));
    const auto event = static_cast<Event>(e);
    row.push_back(event == Event::kRwsemWakeWriter ? "rwsem-transfer: 0"
                  : event == Event::kRwsemOptFail  ? "= rwsem_wlock"
                                                   : "-");
    table.add(row);
  }
  return table.text();
}

std::string ratios_text(const RwsemStory& story) {
  using Row = std::string (*)(const LocktestReport&);
  static constexpr auto count = [](const LocktestReport& report, Event event) {
    return static_cast<double>(count_of(report, event));
  };
  static constexpr auto writes = [](const LocktestReport& report) { return static_cast<double>(writes_of(report)); };
  static constexpr auto reads = [](const LocktestReport& report) { return static_cast<double>(reads_of(report)); };
  const std::pair<const char*, Row> rows[] = {
      {"readers per wake_reader",
       [](const LocktestReport& r) {
         return quotient(count(r, Event::kRwsemRlock), count(r, Event::kRwsemWakeReader));
       }},
      {"sleeps per queued write",
       [](const LocktestReport& r) {
         return quotient(count(r, Event::kRwsemSleepWriter), count(r, Event::kRwsemWlock));
       }},
      {"wake_writer per write",
       [](const LocktestReport& r) { return quotient(count(r, Event::kRwsemWakeWriter), writes(r)); }},
      {"stolen reads",
       [](const LocktestReport& r) { return quotient(count(r, Event::kRwsemRlockSteal), reads(r), true); }},
      {"writes by spinning",
       [](const LocktestReport& r) { return quotient(count(r, Event::kRwsemOptLock), writes(r), true); }},
      {"longest mean sleep, us",
       [](const LocktestReport& r) {
         const double time_us = static_cast<double>(r.run.users) * r.run.duration_s * 1e6;
         return quotient(time_us, count(r, Event::kRwsemSleepReader) + count(r, Event::kRwsemSleepWriter));
       }},
  };
  TextTable table;
  table.add({"ratios", kStoryPolicies[0], kStoryPolicies[1], kStoryPolicies[2], "published"});
  for (const auto& [name, value] : rows) {
    std::vector<std::string> row{name};
    for (const auto& report : story.claimed) row.push_back(value(report));
    row.push_back(std::string_view(name) == "writes by spinning" ? "rwsem-transfer: 0.4 %" : "-");
    table.add(row);
  }
  return table.text() + "Longest mean sleep: the time of all threads over their sleeps.\n";
}

// Of all policies with a shared mode, whose runs are not equally long: by second, by operation.
std::string policies_text(const RwsemStory& story) {
  std::vector<const LocktestReport*> reports;
  for (const auto* list : {&story.claimed, &story.others}) {
    for (const auto& report : *list) reports.push_back(&report);
  }
  const double before = rate_of(story.claimed[0]);
  TextTable rates;
  rates.add({"per second", "op", "of rwsem", "min a thread", "mean", "max"});
  std::vector<std::string> names{"events per 1,000 op"};
  for (const LocktestReport* report : reports) {
    const PerUser& share = report->run.per_user;
    std::vector<std::string> row{report->run.label, grouped(rate_of(*report)),
                                 quotient(rate_of(*report), before, true)};
    for (const auto& number : {share.min, share.mean, share.max})
      row.push_back(grouped(number.value_or(0) / report->run.duration_s));
    rates.add(row);
    names.push_back(report->run.label);
  }
  TextTable events;
  events.add(names);
  for (std::size_t e = 0; e < kEventCount; ++e) {
    std::vector<std::string> row{std::string(kEvents[e].name)};
    bool any = false;
    for (const LocktestReport* report : reports) {
      const auto count = static_cast<double>(report->outcome.events[e]);
      row.push_back(fmt::format("{:.1f}", count * 1000 / static_cast<double>(reads_of(*report) + writes_of(*report))));
      any = any || count != 0;
    }
    if (any) events.add(row);
  }
  return "Every policy with a shared mode:\n" + rates.text() + "\n" + events.text();
}

std::string curve_text(const RwsemStory& story) {
  TextTable table;
  table.add({"threads", kStoryPolicies[0], kStoryPolicies[1], kStoryPolicies[2], "after / before"});
  for (std::size_t l = 0; l < story.levels.size(); ++l) {
    const auto& row = story.curve[l];
    table.add({fmt::format("{}", story.levels[l]), grouped(row[0]), grouped(row[1]), grouped(row[2]),
               quotient(row[1], row[0])});
  }
  return fmt::format("op/s by threads, runs of {:g} s:\n", story.curve_s) + table.text();
}

std::string latencies_text(const RwsemStory& story) {
  TextTable table;
  table.add({"wake-up latency", kStoryPolicies[0], kStoryPolicies[1], "after / before"});
  std::vector<RwsemPair> rows{story.usual};
  rows.insert(rows.end(), story.latencies.begin(), story.latencies.end());
  for (const RwsemPair& row : rows)
    table.add({row.label, grouped(row.before), grouped(row.after), fmt::format("{:.3f}", row.ratio())});
  return fmt::format("Control: no idle state takes longer to leave, runs of {:g} s:\n", story.variant_s) + table.text();
}

std::string sensitivity_text(const RwsemStory& story) {
  const auto moved = [&](const RwsemPair& pair) {
    return fmt::format("{:.3f} ({:+.1f} %)", pair.ratio(), (pair.ratio() / story.usual.ratio() - 1) * 100);
  };
  TextTable table;
  table.add({"number", "mark", "less by 20 %", "more by 20 %"});
  for (const Sensitivity& row : story.sensitivity)
    table.add({row.key, story.machine.numbers.at(row.key).mark, moved(row.less), moved(row.more)});
  return fmt::format("after / before when one number of the machine moves; usually {:.3f}; runs of {:g} s:\n",
                     story.usual.ratio(), story.variant_s) +
         table.text() + "\n";
}

std::string checks_text(const std::vector<StoryCheck>& checks) {
  std::string text = "Checks\n";
  for (const StoryCheck& check : checks) text += wrapped((check.holds ? "holds: " : "FAILS: ") + check.claim, 4, 2);
  return text;
}

}  // namespace

std::string rwsem_story_text(const RwsemStory& story, const std::vector<StoryCheck>& checks) {
  std::string text = head_text(story) + "\n== fitted ==\n" + constants_text(story) + totals_text(story);
  text += "\n== not fitted ==\n" + restored_text(story) + "\n";
  for (const auto& part : {threads_text(story), events_text(story), ratios_text(story), policies_text(story),
                           curve_text(story), latencies_text(story)})
    text += part + "\n";
  return text + sensitivity_text(story) + checks_text(checks);
}

}  // namespace convoy
