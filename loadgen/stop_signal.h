// stop_signal.h — SIGINT and SIGTERM as a flag and a descriptor to wait on.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace convoy {

// Process-wide. The first signal asks for an orderly end, with a partial result; a second one ends the process at once.
namespace stop_signal {

// Installs the handlers, once; later calls do nothing. SIGPIPE is ignored from then on.
void install();

// The signal that came, or 0.
int received();

// Readable for ever once a signal has come. -1 before install().
int descriptor();

// Sleeps until a signal or until `ns` nanoseconds have passed; returns received().
int wait_ns(long long ns);

// What received() returns, for who looks very often.
const std::atomic<int>& flag();

// Forgets a signal; for tests.
void clear();

}  // namespace stop_signal
}  // namespace convoy
