// process_cpu.h — Processor time and context switches of a process.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/result.h"

namespace convoy {

struct ProcessCpu {
  double user_s = 0;
  double sys_s = 0;
  std::uint64_t context_switches = 0;  // voluntary and not

  friend ProcessCpu operator-(const ProcessCpu& a, const ProcessCpu& b) {
    return {a.user_s - b.user_s, a.sys_s - b.sys_s, a.context_switches - b.context_switches};
  }
};

// Returns what this process has used so far, all threads included.
ProcessCpu own_cpu();

// Returns what process `pid` and its descendants have used so far, by /proc: time to 10 ms; the context switches of
// threads that have ended are missing. Fails when there is no such process.
Result<ProcessCpu> cpu_of_process_tree(pid_t pid);

}  // namespace convoy
