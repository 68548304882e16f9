// server_probe.h — Whose policy is it? What the driven server says of itself around a run.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/lock_report.h"
#include "common/process_cpu.h"
#include "common/result_schema.h"
#include "loadgen/target.h"

namespace convoy {

// What is known of the server at one moment.
struct ServerSnapshot {
  std::optional<LockReport> report;  // Only of a Convoy server.
  std::optional<ProcessCpu> cpu;     // From the report, else from /proc if a process is named.
};

// Asks GET /locks over connections of its own. A server that does not answer it as a Convoy server would is not asked
// again. Not thread-safe.
class ServerProbe {
 public:
  // `target` must outlive the probe.
  ServerProbe(const Target& target, std::optional<pid_t> server_pid) : target_(target), server_pid_(server_pid) {}

  // Asks for the first time; blocks up to a second.
  void meet();

  bool is_convoy() const { return server_.has_value(); }
  const std::optional<ServerInfo>& server() const { return server_; }

  // What is known now; blocks up to two seconds.
  ServerSnapshot read() const;

 private:
  std::optional<LockReport> ask(std::int64_t timeout_ns) const;

  const Target& target_;
  std::optional<pid_t> server_pid_;
  std::optional<ServerInfo> server_;
};

// Puts what happened between two snapshots into `run`: policy, knobs, events, contention, convoy, processor time and
// acquisitions per transaction. What either snapshot lacks becomes null. `answered` is what our own users got
// meanwhile, for a server that does not count.
void describe_server(const ServerSnapshot& before, const ServerSnapshot& after, std::uint64_t answered, Run& run);

}  // namespace convoy
