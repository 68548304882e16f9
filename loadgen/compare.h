// compare.h — Results side by side: which policy is how much faster, slower, fairer.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/settings.h"
#include "loadgen/compare_cells.h"

namespace convoy {

// The subcommand's settings; `paths` are its positional arguments.
struct CompareOptions {
  std::vector<std::string> paths;
  std::optional<std::string> baseline;
  std::string metric = "tps";
  std::string format = "text";
  std::optional<double> fail_below;
  std::optional<std::string> json;
  std::optional<std::string> csv;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("baseline", c.baseline, Text{"a label"}, When::kStart, "The label that the others are compared to.",
      Also{.value_name = "LABEL", .default_text = "the sweep's, or the first"});
    v("metric", c.metric, OneOf{metric_names}, When::kStart, "What is compared.", Also{.value_name = "NAME"});
    v("format", c.format, OneOf{format_names}, When::kStart, "How it is printed.", Also{.value_name = "NAME"});
    v("fail-below", c.fail_below, Range{0.0, 1000.0}, When::kStart,
      "Ends with exit code 1 when a ratio is below this and marked as different.",
      Also{.value_name = "RATIO", .default_text = "never"});
    v("json", c.json, Text{"a path, or - for stdout"}, When::kStart, "Also writes the comparison as JSON.",
      Also{.value_name = "FILE", .default_text = "none"});
    v("csv", c.csv, Text{"a path, or - for stdout"}, When::kStart, "Also writes the comparison as CSV.",
      Also{.value_name = "FILE", .default_text = "none"});
    v("quiet", c.quiet, nullptr, When::kStart, "Prints nothing on stdout.", Also{.short_name = "q"});
  }

  static std::vector<std::string> format_names() { return {"text", "md", "json", "csv"}; }
};

// Reads the paths, prints the comparison to stdout and returns the exit code: 0 whatever differs; 1 when `fail_below`
// holds for a cell or an output cannot be written; 2 when a path cannot be read or nothing is comparable.
int run_compare(const CompareOptions& options);

// Returns the comparison in one of format_names().
std::string comparison_in(const Comparison& comparison, std::string_view format);

// The formats. Text is at most 80 columns wide.
std::string comparison_text(const Comparison& comparison);
std::string comparison_markdown(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);
std::string comparison_csv(const Comparison& comparison);

}  // namespace convoy
