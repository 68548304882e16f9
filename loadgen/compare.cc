// compare.cc — The subcommand: read, compare, print, judge.
// SPDX-License-Identifier: MIT
#include "loadgen/compare.h"

#include <algorithm>

#include "common/files.h"
#include "common/log.h"
#include "loadgen/compare_input.h"

namespace convoy {
namespace {

constexpr int kOk = 0, kCheckFailed = 1, kUsage = 2;

// Writes what was asked for; stops at the first output that fails.
Result<void> write_outputs(const Comparison& comparison, const CompareOptions& options) {
  if (options.json)
    if (auto done = write_text_file(*options.json, comparison_json(comparison)); !done) return done;
  if (options.csv)
    if (auto done = write_text_file(*options.csv, comparison_csv(comparison)); !done) return done;
  const bool stdout_is_taken = options.json == "-" || options.csv == "-";
  if (options.quiet || stdout_is_taken) return {};
  return write_text_file("-", comparison_in(comparison, options.format));
}

// Logs every cell whose ratio is below the bound and marked as different; returns whether there is one.
bool report_below(const Comparison& comparison, double bound) {
  bool any = false;
  for (const auto& group : comparison.groups)
    for (const auto& level : group.levels)
      for (std::size_t i = 0; i < group.labels.size(); ++i) {
        const auto& cell = level.cells[i];
        if (!cell || !cell->ratio || cell->verdict != Verdict::kDiffers || cell->ratio->estimate >= bound) continue;
        log_error("{} at {} users of {}: ratio {:.3f} to {} is below {}", group.labels[i], level.users, group.target,
                  cell->ratio->estimate, group.labels[group.baseline], format_real(bound));
        any = true;
      }
  return any;
}

}  // namespace

std::string comparison_in(const Comparison& comparison, std::string_view format) {
  if (format == "json") return comparison_json(comparison);
  if (format == "csv") return comparison_csv(comparison);
  if (format == "md") return comparison_markdown(comparison);
  return comparison_text(comparison);
}

int run_compare(const CompareOptions& options) {
  if (options.json == "-" && options.csv == "-") {
    log_error("json, csv: only one of them can be written to stdout");
    return kUsage;
  }
  const auto files = read_results(options.paths);
  if (!files) {
    log_error("{}", files.error().message);
    return kUsage;
  }
  const auto comparison = compare_results(*files, options.metric, options.baseline);
  if (!comparison) {
    log_error("{}", comparison.error().message);
    return kUsage;
  }
  if (auto done = write_outputs(*comparison, options); !done) {
    log_error("{}", done.error().message);
    return kCheckFailed;
  }
  return options.fail_below && report_below(*comparison, *options.fail_below) ? kCheckFailed : kOk;
}

}  // namespace convoy
