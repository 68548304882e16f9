// validate.h — Whether result files are what they claim to be.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

// The subcommand's settings; `paths` are its positional arguments.
struct ValidateOptions {
  std::vector<std::string> paths;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("quiet", c.quiet, nullptr, When::kStart, "Prints nothing for files that are right.", Also{.short_name = "q"});
  }
};

// Checks each result file, or every *.json of a folder, against the schema and its sums. Prints a line for each that is
// right to stdout and one for each that is wrong, with the JSON path, to stderr. Returns 0 when all are right, 1 when
// one is wrong, 2 when a path does not exist.
int run_validate(const ValidateOptions& options);

}  // namespace convoy
