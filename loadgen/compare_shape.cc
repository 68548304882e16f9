// compare_shape.cc — Curves that turn down, and gaps that split them.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <set>

#include "loadgen/compare_facts.h"
#include "loadgen/compare_format.h"

namespace convoy {
namespace {

// Both bounds are chosen so that the spread of single published runs (about 10 % at equal policies) raises no alarm.
constexpr double kFallen = 0.9;     // of the peak: every later level is below
constexpr double kGapRatio = 1.25;  // between neighbours in order of throughput

struct Point {
  std::uint64_t users;
  double value;
};

std::vector<Point> curve_of(const Group& group, std::size_t label) {
  std::vector<Point> curve;
  for (const auto& level : group.levels)
    if (level.cells[label]) curve.push_back({level.users, level.cells[label]->summary.median});
  return curve;
}

// Retrograde: two levels or more follow the peak, and each is clearly below it.
void note_retrograde(const Group& group, std::size_t label, std::vector<std::string>& notes) {
  const auto curve = curve_of(group, label);
  const auto peak =
      std::max_element(curve.begin(), curve.end(), [](const Point& a, const Point& b) { return a.value < b.value; });
  if (curve.end() - peak < 3) return;
  if (std::any_of(peak + 1, curve.end(), [&](const Point& point) { return point.value >= kFallen * peak->value; }))
    return;
  notes.push_back(fmt::format("{} is retrograde after {} {}: {:.0f} there, {:.0f} at {}.", group.labels[label],
                              peak->users, level_noun(group), peak->value, curve.back().value, curve.back().users));
}

// The labels of a level below its widest gap, and how wide it is: the highest below divided by the lowest above.
struct Gap {
  std::set<std::size_t> below;
  double ratio = 1;
};

Gap widest_gap(const Level& level) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < level.cells.size(); ++i)
    if (level.cells[i]) order.emplace_back(level.cells[i]->summary.median, i);
  std::sort(order.begin(), order.end());
  std::size_t widest = 0;
  double ratio = 1;
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i].first > 0 && order[i - 1].first / order[i].first < ratio) {
      ratio = order[i - 1].first / order[i].first;
      widest = i;
    }
  Gap gap;
  gap.ratio = ratio;
  for (std::size_t i = 0; i < widest; ++i) gap.below.insert(order[i].second);
  return gap;
}

// A gap that splits the labels in the same way at the last level and at those before it, back to where it opens.
void note_gap(const Group& group, std::vector<std::string>& notes) {
  if (group.labels.size() < 3 || group.levels.size() < 2) return;
  const auto last = widest_gap(group.levels.back());
  std::uint64_t from = 0;
  double least = 1, most = 0;
  for (auto level = group.levels.rbegin(); level != group.levels.rend(); ++level) {
    const auto gap = widest_gap(*level);
    if (gap.ratio > 1 / kGapRatio || gap.below != last.below) break;
    from = level->users;
    least = std::min(least, gap.ratio);
    most = std::max(most, gap.ratio);
  }
  if (from == 0) return;
  std::vector<std::string> names;
  for (const auto label : last.below) names.push_back(group.labels[label]);
  const auto share = least == most ? fmt::format("{:.2f}", most) : fmt::format("{:.2f} to {:.2f}", least, most);
  notes.push_back(fmt::format("Gap at >= {} {}: {} below all others, at {} of the next.", from, level_noun(group),
                              fmt::join(names, ", "), share));
}

}  // namespace

std::vector<std::string> shape_notes(const Group& group) {
  std::vector<std::string> notes;
  for (std::size_t label = 0; label < group.labels.size(); ++label) note_retrograde(group, label, notes);
  note_gap(group, notes);
  return notes;
}

}  // namespace convoy
