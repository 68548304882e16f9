// server_process.h — A convoy-server started for a while.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/result.h"
#include "loadgen/fd.h"
#include "loadgen/sweep_file.h"

namespace convoy {

// Starts the server on any free port of 127.0.0.1 and always ends it: by stop(), by the destructor, and by the kernel
// if this process dies. It has a process group of its own, so that Ctrl-C reaches only the generator, which then ends
// it. The thread that starts it must outlive it.
class ServerProcess {
 public:
  // Returns once the server says that it listens. Errors quote what it wrote to stderr: a setting it refuses, a file it
  // does not find; a server not ready after 10 seconds, or a signal to this process.
  static Result<ServerProcess> start(const std::string& program, const ServerSettings& settings);

  ServerProcess(ServerProcess&& other) noexcept;
  ServerProcess& operator=(ServerProcess&&) = delete;
  ~ServerProcess();

  // "127.0.0.1:PORT".
  const std::string& endpoint() const { return endpoint_; }
  pid_t pid() const { return pid_; }

  // Sends SIGTERM, waits up to 6 seconds for the end, then kills it. The error says what was not as it should be: an
  // exit code but 0, a signal, no end in time.
  Result<void> stop();

 private:
  ServerProcess(pid_t pid, Fd output) : pid_(pid), output_(std::move(output)) {}

  Result<void> wait_until_ready(const std::string& program);
  bool has_ended(std::int64_t wait_ns);
  std::string output() const;

  pid_t pid_ = -1;  // -1 once it has ended.
  int status_ = 0;  // As waitpid gives it.
  Fd output_;       // What the server has written to stderr, in memory: it never waits for a reader.
  std::string endpoint_;
};

// The convoy-server that was built beside this program.
std::string default_server_program();

}  // namespace convoy
