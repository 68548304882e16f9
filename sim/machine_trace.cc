// machine_trace.cc — The Chrome trace event format: one complete event per stay in a state.
// SPDX-License-Identifier: MIT
#include "sim/machine_trace.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/parse.h"

namespace convoy {
namespace {

constexpr const char* kStateNames[] = {"", "running", "spinning", "runnable", "asleep", "waking"};
// Numbers of the two groups, which the viewer calls processes.
constexpr const char* kThreads = "1";
constexpr const char* kCores = "2";

// The format wants microseconds.
std::string microseconds(MachineTime time) { return fmt::format("{}.{:06}", time / 1'000'000, time % 1'000'000); }

bool has_core(TraceState state) { return state == TraceState::kRunning || state == TraceState::kSpinning; }

}  // namespace

Result<std::unique_ptr<MachineTrace>> MachineTrace::open(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return fail("--trace {}: {}", quote(path), std::strerror(errno));
  return std::unique_ptr<MachineTrace>(new MachineTrace(path, file));
}

MachineTrace::MachineTrace(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {
  put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  put(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"threads"}}}},)"
                  "\n",
                  kThreads));
  put(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"hardware threads"}}}})", kCores));
}

MachineTrace::~MachineTrace() { (void)close(); }

Result<void> MachineTrace::close() {
  if (file_ == nullptr) return {};
  put("\n]}\n");
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) return fail("--trace {}: {}", quote(path_), std::strerror(error_));
  return {};
}

void MachineTrace::put(const std::string& text) {
  if (error_ == 0 && std::fputs(text.c_str(), file_) < 0) error_ = errno;
}

void MachineTrace::enter(std::uint32_t thread, std::uint32_t cpu, TraceState state, MachineTime now) {
  if (tracks_.size() <= thread) tracks_.resize(thread + 1);
  Track& track = tracks_[thread];
  if (track.state != TraceState::kNone && track.since != now) {
    const char* const name = kStateNames[static_cast<std::size_t>(track.state)];
    write(kThreads, thread, name, track.since, now);
    if (has_core(track.state)) write(kCores, track.cpu, fmt::format("{} {}", thread, name), track.since, now);
  }
  track = {state, cpu, now};
}

void MachineTrace::write(const char* group, std::uint32_t track, const std::string& name, MachineTime from,
                         MachineTime to) {
  if (events_ > kMostEvents) return;
  const bool is_last = events_++ == kMostEvents;
  if (is_last) ends_at_ = to;
  put(
      fmt::format(",\n"
                  R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{}}})",
                  is_last ? "the trace ends here" : name, group, track, microseconds(from), microseconds(to - from)));
}

}  // namespace convoy
