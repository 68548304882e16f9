// locktest_command.h — `convoy-loadgen locktest`: threads that take one lock again and again.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "loadgen/locktest_options.h"

namespace convoy {

// Runs all levels and repeats, prints and writes the result; returns the exit code. `command` is the command line, for
// the result.
int run_locktest_command(const LocktestOptions& options, const std::vector<std::string>& command);

}  // namespace convoy
