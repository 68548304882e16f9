// explorer_search.cc — Which schedules are run: the search, samples, fair ones, replays; how a defect is told.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "sim/explorer.h"

namespace convoy {
namespace {

constexpr int kNoBound = 1 << 20;

const char* base_name(const char* file) {
  const char* slash = std::strrchr(file, '/');
  return slash == nullptr ? file : slash + 1;
}

using Pair = std::pair<std::size_t, unsigned>;  // position, choice

struct Schedule {
  std::vector<Pair> pairs;
  std::optional<Pair> fair;  // length of the prefix, steps of a turn
};

// FIRST:SECOND at the beginning of the text, which it takes away.
std::optional<Pair> take_pair(std::string_view& text) {
  Pair pair;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, pair.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != ':' || pair.first > 100'000) return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, pair.second);
  if (second.ec != std::errc{} || pair.second == 0 || pair.second > 255) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(second.ptr - text.data()));
  return pair;
}

std::optional<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  if (!text.empty() && text.front() == '-') {
    text.remove_prefix(1);
  } else {
    for (;;) {
      const std::optional<Pair> pair = take_pair(text);
      if (!pair || (!schedule.pairs.empty() && pair->first <= schedule.pairs.back().first)) return std::nullopt;
      schedule.pairs.push_back(*pair);
      if (text.empty() || text.front() != ',') break;
      text.remove_prefix(1);
    }
  }
  if (!text.empty() && text.front() == '~') {
    text.remove_prefix(1);
    schedule.fair = take_pair(text);
    if (!schedule.fair || (!schedule.pairs.empty() && schedule.fair->first <= schedule.pairs.back().first))
      return std::nullopt;
  }
  if (!text.empty()) return std::nullopt;
  return schedule;
}

}  // namespace

bool is_schedule(const std::string& text) { return parse_schedule(text).has_value(); }

Exploration Explorer::explore(const ScenarioFactory& make, const ExploreOptions& options) {
  options_ = options;
  guide_ = Guide::kFirst;
  random_ = 0;
  cut_ = false;
  path_.clear();
  seen_.clear();
  prefixes_.clear();
  witnesses_.clear();
  Exploration result;
  do {
    execute(make);
    ++result.schedules;
    result.pruned += pruned_ ? 1 : 0;
    result.steps += static_cast<std::uint64_t>(steps_);
    if (defect_) {
      repeat_with_trace(make, result);
      break;
    }
    path_.resize(std::min(path_.size(), depth_));
    keep_prefix(result.schedules);
    if (!next_path()) {
      result.exhausted = true;
      break;
    }
  } while (result.schedules < options_.max_schedules);
  result.complete = result.exhausted && !cut_;
  if (!result.defect) run_fair_schedules(make, result);
  result.witnesses = witnesses_;
  return result;
}

// Of all schedules so far, each is kept with the same probability; of it a part of random length.
void Explorer::keep_prefix(std::uint64_t schedules) {
  const auto room = static_cast<std::uint64_t>(options_.fair_schedules);
  const std::uint64_t place = schedules <= room ? schedules - 1 : random() % schedules;
  if (place >= room) return;
  if (place == prefixes_.size()) prefixes_.emplace_back();
  const int length = random_below(static_cast<int>(path_.size()) + 1);
  prefixes_[place].assign(path_.begin(), path_.begin() + length);
}

// The first ones from the beginning, the others each from its prefix.
void Explorer::run_fair_schedules(const ScenarioFactory& make, Exploration& result) {
  constexpr int kTurns = 3;  // of one, two and three steps
  options_.cache = false;
  if (options_.fair_schedules > 0) prefixes_.insert(prefixes_.begin(), kTurns, {});
  guide_ = Guide::kFair;
  for (std::size_t i = 0; i < prefixes_.size() && !result.defect; ++i) {
    turn_steps_ = 1 + static_cast<int>(i) % kTurns;
    path_ = prefixes_[i];
    execute(make);
    ++result.fair_schedules;
    result.steps += static_cast<std::uint64_t>(steps_);
    if (defect_) repeat_with_trace(make, result);
  }
  guide_ = Guide::kFirst;
}

Exploration Explorer::sample(const ScenarioFactory& make, const ExploreOptions& options, std::uint64_t seed,
                             int schedules) {
  options_ = options;
  options_.cache = false;
  options_.preemption_bound = kNoBound;
  guide_ = Guide::kPriorities;
  longest_ = 8;
  witnesses_.clear();
  Exploration result;
  for (int i = 0; i < schedules && !result.defect; ++i) {
    random_ = (seed << 32) + static_cast<std::uint64_t>(i);
    random_ = random();
    set_priorities();
    path_.clear();
    execute(make);
    ++result.schedules;
    result.steps += static_cast<std::uint64_t>(steps_);
    longest_ = std::max(longest_, steps_);
    if (defect_) repeat_with_trace(make, result);
  }
  guide_ = Guide::kFirst;
  result.witnesses = witnesses_;
  return result;
}

Exploration Explorer::replay(const ScenarioFactory& make, const ExploreOptions& options, const std::string& schedule) {
  options_ = options;
  options_.cache = false;
  options_.preemption_bound = kNoBound;
  path_.clear();
  const Schedule parsed = parse_schedule(schedule).value_or(Schedule{});
  for (const auto& [position, choice] : parsed.pairs) {
    path_.resize(position + 1, Choice{0, 0});
    path_[position].taken = static_cast<std::uint8_t>(choice);
  }
  if (parsed.fair) {
    path_.resize(parsed.fair->first, Choice{0, 0});
    turn_steps_ = static_cast<int>(parsed.fair->second);
  }
  guide_ = parsed.fair ? Guide::kFair : Guide::kFirst;
  const std::size_t asked = path_.size();
  Exploration result;
  execute(make);
  result.schedules = 1;
  result.steps = static_cast<std::uint64_t>(steps_);
  result.exhausted = depth_ >= asked && !foreign_;
  if (defect_) repeat_with_trace(make, result);
  guide_ = Guide::kFirst;
  return result;
}

// The defect is known: the same schedule again, this time written down.
void Explorer::repeat_with_trace(const ScenarioFactory& make, Exploration& result) {
  path_.resize(std::min(path_.size(), depth_));
  const bool cache = std::exchange(options_.cache, false);
  tracing_ = true;
  trace_.clear();
  execute(make);
  tracing_ = false;
  options_.cache = cache;
  if (!defect_) {
    std::fprintf(stderr,
                 "explorer: a schedule did not repeat; the scenario depends on something outside of its world\n");
    std::abort();
  }
  defect_->schedule = schedule_text();
  defect_->ladder = ladder();
  result.defect = defect_;
}

// The next path in depth-first order; false when there is none.
bool Explorer::next_path() {
  while (!path_.empty() && path_.back().taken + 1 >= path_.back().of) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

// position:choice of every choice that is not the first; "-" when all are.
std::string Explorer::schedule_text() const {
  std::string text;
  for (std::size_t i = 0; i < path_.size(); ++i) {
    if (path_[i].taken != 0) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", i, path_[i].taken);
  }
  if (text.empty()) text += '-';
  if (guide_ == Guide::kFair) text += fmt::format("~{}:{}", path_.size(), turn_steps_);
  return text;
}

void Explorer::trace(Loc loc, std::string text) {
  trace_.push_back({running_, fmt::format("{}:{} {}", base_name(loc.file), loc.line, text)});
}

std::string Explorer::ladder() const {
  constexpr std::size_t kWidth = 46;
  constexpr std::size_t kShown = 100;  // lines at each end
  std::string text;
  for (int i = 0; i < thread_count_; ++i) text += fmt::format("{:<{}}", fmt::format("thread {}", i), kWidth);
  text += '\n';
  for (std::size_t i = 0; i < trace_.size(); ++i) {
    if (trace_.size() > 2 * kShown && i == kShown) {
      text += fmt::format("... {} lines ...\n", trace_.size() - 2 * kShown);
      i = trace_.size() - kShown;
    }
    const auto column = static_cast<std::size_t>(std::max(trace_[i].thread, 0));
    text += fmt::format("{}{}\n", std::string(column * kWidth, ' '), trace_[i].text);
  }
  return text;
}

}  // namespace convoy
