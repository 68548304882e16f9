// server.h — The whole server as one object: loops, workers, files, control pages.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "common/result.h"
#include "server/control.h"

namespace convoy {

// Why a server did not start, and the exit code that says so: 2 for a setting, 3 for an address.
struct StartError {
  std::string message;
  int exit_code = 2;
};

// Serves from start() on, with threads of its own, until stop() or the destructor. Several may live in one process.
class Server {
 public:
  // Time that requests which run at stop() have to finish: the process is to end within 5 s of a SIGTERM.
  static constexpr std::chrono::milliseconds kPatience{4000};

  static tl::expected<std::unique_ptr<Server>, StartError> start(std::unique_ptr<ServerSetup> setup);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Stops accepting, closes idle connections, lets running requests finish for at most kPatience, ends all threads.
  // Once; further calls do nothing. Not from two threads at a time.
  void stop();

  // The port that is listened on.
  std::uint16_t port() const;

  // The line that says what serves where.
  const std::string& ready_line() const;

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace convoy
