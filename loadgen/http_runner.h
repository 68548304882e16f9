// http_runner.h — Runs of HTTP load as rows of a result.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/result_schema.h"
#include "loadgen/http_load.h"
#include "loadgen/marks.h"
#include "loadgen/progress.h"
#include "loadgen/server_probe.h"

namespace convoy {

// One run besides its load.
struct HttpRunOrder {
  HttpLoad load;  // `target` is filled in.
  std::string label;
  std::optional<std::string> case_label;
  std::uint32_t repeat = 1;
  std::vector<MarkOrder> marks;
};

struct HttpRunReport {
  Run run;
  bool interrupted = false;
  bool marks_failed = false;
};

// Drives one server with one target. Not thread-safe.
class HttpRunner {
 public:
  // `target` (its address resolved) and `progress` must outlive the runner.
  HttpRunner(const Target& target, std::optional<pid_t> server_pid, Progress& progress)
      : target_(target), probe_(target, server_pid), progress_(progress) {}

  // Waits up to a second for a server that still refuses connections, then finds out who it is.
  Result<void> meet_server();

  // Null for a server that does not say.
  const std::optional<ServerInfo>& server() const { return probe_.server(); }

  // Makes one run; warns on stderr of what makes its figures doubtful. Errors: the server cannot be reached.
  Result<HttpRunReport> run(HttpRunOrder order);

 private:
  const Target& target_;
  ServerProbe probe_;
  Progress& progress_;
};

}  // namespace convoy
