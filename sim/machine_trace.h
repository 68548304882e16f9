// machine_trace.h — What simulated threads did when, for a timeline viewer (Perfetto, chrome://tracing).
// SPDX-License-Identifier: MIT
//
// Two groups of tracks: every thread with its states, every hardware thread with who has it. Written as it happens,
// so a long run makes a long file: at most kMostEvents, then the trace says where it ends.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "sim/machine_events.h"

namespace convoy {

enum class TraceState : std::uint8_t { kNone, kRunning, kSpinning, kRunnable, kAsleep, kWaking };

class MachineTrace {
 public:
  static constexpr std::uint64_t kMostEvents = 4'000'000;

  // The error names the file.
  static Result<std::unique_ptr<MachineTrace>> open(const std::string& path);
  ~MachineTrace();
  // The end of the file; nothing may be entered any more. The error names the file.
  Result<void> close();
  // When the trace ends, if that is before the run does.
  std::optional<MachineTime> cut_at() const { return events_ > kMostEvents ? std::optional(ends_at_) : std::nullopt; }
  MachineTrace(const MachineTrace&) = delete;
  MachineTrace& operator=(const MachineTrace&) = delete;

  // The thread is in this state from `now` on; kNone: it has ended. Requires: no time is before an earlier one.
  void enter(std::uint32_t thread, std::uint32_t cpu, TraceState state, MachineTime now);

 private:
  struct Track {
    TraceState state = TraceState::kNone;
    std::uint32_t cpu = 0;
    MachineTime since = 0;
  };

  MachineTrace(std::string path, std::FILE* file);
  void put(const std::string& text);
  void write(const char* group, std::uint32_t track, const std::string& name, MachineTime from, MachineTime to);

  std::string path_;
  std::FILE* file_;
  int error_ = 0;              // the first of writing, as errno
  std::vector<Track> tracks_;  // by thread
  std::uint64_t events_ = 0;
  MachineTime ends_at_ = 0;  // when kMostEvents were there
};

}  // namespace convoy
