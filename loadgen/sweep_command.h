// sweep_command.h — `convoy-loadgen sweep FILE`: policies x users x repeats, interleaved.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/settings.h"

namespace convoy {

struct SweepOptions {
  std::vector<std::string> file;  // Exactly one.
  std::string out;
  std::string server;
  bool quiet = false;

  template <class Self, class V>
  static void describe(Self& c, V& v) {
    v("out", c.out, Text{"a folder without results"}, When::kStart, "Where the results go.",
      Also{.value_name = "DIR", .default_text = "results/NAME-TIME"});
    v("server", c.server, Text{"the path of a program"}, When::kStart, "The server that is started.",
      Also{.value_name = "PATH", .default_text = "convoy-server beside this program"});
    v("quiet", c.quiet, nullptr, When::kStart, "No progress on stderr.", Also{.short_name = "q"});
  }
};

// Runs the whole sweep, prints the comparison on stdout and leaves everything in the result folder; returns the exit
// code. `command` is the command line, for the results.
int run_sweep(const SweepOptions& options, const std::vector<std::string>& command);

}  // namespace convoy
