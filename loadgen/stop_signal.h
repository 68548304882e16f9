// stop_signal.h — SIGINT and SIGTERM as a flag and a descriptor to wait on.
// SPDX-License-Identifier: MIT
#pragma once

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

// Has the handler call `hook` when a signal comes from now on. It does only what a signal handler may.
void call(void (*hook)());

// Forgets a signal; for tests.
void clear();

}  // namespace stop_signal
}  // namespace convoy
