// run_board.h — What the threads of one run tell each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "loadgen/fd.h"

namespace convoy {

// Written by the coordinator before the threads start, except where a line says otherwise. Thread-safe after that.
struct RunBoard {
  std::int64_t start_ns = 0;             // When the warm-up began.
  std::atomic<std::int64_t> tickets{0};  // Requests that may still be started; meaningless without a limit.
  std::atomic<std::uint32_t> closed{0};  // Threads whose window is closed and drained; they add.
  Fd arrived;                            // Readable when a thread has added to `closed`.
};

}  // namespace convoy
