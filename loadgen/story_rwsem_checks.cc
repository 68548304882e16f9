// story_rwsem_checks.cc — The rwsem story of 2023: what has to hold of its runs.
// SPDX-License-Identifier: MIT
#include <cmath>

#include "loadgen/story_rwsem.h"

namespace convoy {
namespace {

constexpr double kMostDistance = 0.07;  // of a fitted total from the published one

StoryCheck check_total(const std::string& policy, double published, const LocktestReport& report) {
  const double simulated = report.run.transactions_per_second.value_or(0);
  return {fmt::format("the total of {} is within 7 % of the published one", policy),
          std::abs(simulated / published - 1) <= kMostDistance};
}

// locks/events.h; the late operations of a run are among its events and among the operations begun.
StoryCheck check_identities(const std::string& policy, const LocktestReport& report) {
  const auto count = [&](Event event) { return count_of(report, event); };
  const bool spins = count(Event::kRwsemOptFail) + count(Event::kRwsemOptLock) != 0;
  const bool holds =
      (!spins || count(Event::kRwsemOptFail) == count(Event::kRwsemWlock) + count(Event::kRwsemWlockFail)) &&
      count(Event::kLockPending) + count(Event::kLockSlowpath) <= reads_of(report) + writes_of(report) &&
      count(Event::kRwsemWakeReader) <= count(Event::kRwsemRlock) &&
      count(Event::kRwsemWlockEhandoff) <= count(Event::kRwsemWlockHandoff) + count(Event::kRwsemRlockHandoff) &&
      count(Event::kRwsemRlock) + count(Event::kRwsemRlockSteal) + count(Event::kRwsemRlockFast) <= reads_of(report) &&
      count(Event::kRwsemOptLock) + count(Event::kRwsemWlock) <= writes_of(report);
  return {fmt::format("the lock events of {} add up", policy), holds};
}

}  // namespace

std::vector<StoryCheck> check_rwsem_story(const RwsemStory& story) {
  std::vector<StoryCheck> checks;
  checks.push_back(check_total(kStoryPolicies[0], story.published.before.total, story.claimed[0]));
  checks.push_back(check_total(kStoryPolicies[1], story.published.after.total, story.claimed[1]));
  for (std::size_t p = 0; p < story.claimed.size(); ++p)
    checks.push_back(check_identities(kStoryPolicies[p], story.claimed[p]));
  for (const LocktestReport& report : story.others) checks.push_back(check_identities(report.run.label, report));
  checks.push_back({"rwsem-transfer counts no wake_writer, rwsem does",
                    count_of(story.claimed[1], Event::kRwsemWakeWriter) == 0 &&
                        count_of(story.claimed[0], Event::kRwsemWakeWriter) != 0});
  bool rises = true;
  double below = story.usual.ratio();
  for (const RwsemPair& step : story.latencies) rises = std::exchange(below, step.ratio()) < step.ratio() && rises;
  checks.push_back({"the ratio after / before rises with every step down of the wake-up latency", rises});
  return checks;
}

}  // namespace convoy
