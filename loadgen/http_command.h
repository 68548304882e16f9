// http_command.h — `convoy-loadgen http URL`: closed-loop load on a running server.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "loadgen/http_options.h"

namespace convoy {

inline constexpr int kOkExit = 0;
inline constexpr int kFailedExit = 1;   // Ran, but requests failed or a check failed.
inline constexpr int kAbortedExit = 3;  // Could not connect, or could not go on.

// Runs all levels and repeats, prints and writes the result; returns the exit code. `command` is the command line, for
// the result. stdout carries the result only.
int run_http(const HttpOptions& options, const std::vector<std::string>& command);

}  // namespace convoy
