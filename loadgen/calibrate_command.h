// calibrate_command.h — `convoy-loadgen calibrate`: measures this host and writes a machine file.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

struct CalibrateOptions {
  std::string out = "host.toml";
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("out", c.out, Text{"a path, or - for stdout"}, When::kStart, "Where the machine file goes.",
      Also{.value_name = "FILE.toml"});
    v("quiet", c.quiet, nullptr, When::kStart, "No progress on stderr.", Also{.short_name = "q"});
  }
};

// Takes under a minute; wants a machine on which nothing else runs. Prints a table and writes the file; returns the
// exit code.
int run_calibrate(const CalibrateOptions& options, const std::vector<std::string>& command);

}  // namespace convoy
