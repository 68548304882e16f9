// run_board.h — What the threads of one run tell each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include "loadgen/fd.h"

namespace convoy {

// Written by the coordinator before the threads start, except where a line says otherwise. Thread-safe after that.
struct RunBoard {
  std::int64_t start_ns = 0;  // When the warm-up began.
  std::atomic<std::int64_t> window_start_ns{
      0};                                 // Set once, by the coordinator if the start is quiet; 0: not known yet.
  std::atomic<std::int64_t> tickets{0};   // Requests that may still be started; meaningless without a limit.
  std::atomic<std::uint32_t> settled{0};  // Threads whose users have fallen silent before the window; they add.
  std::atomic<std::uint32_t> closed{0};   // Threads whose window is closed and drained; they add.
  Fd go;                                  // Readable once window_start_ns is set.
  Fd arrived;                             // Readable when a thread has added to `settled` or `closed`.
};

}  // namespace convoy
