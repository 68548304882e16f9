// control_client.h — Single requests to the server outside of the load: its locks, its settings.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "loadgen/target.h"

namespace convoy {

struct ControlAnswer {
  int status = 0;
  std::string body;
};

// Connects, tries a refused connection again for `patience_ns`, and hangs up. The error carries the system's reason.
Result<void> wait_until_reachable(const Url& origin, const Address& address, std::int64_t patience_ns);

// Sends one request over a connection of its own and returns the whole answer; blocks up to `timeout_ns`, or until
// `cancel_fd` (-1: none) is readable. Errors: no connection, no complete HTTP answer in time, an answer of more than
// 64 MiB, ECANCELED.
Result<ControlAnswer> control_request(const Url& origin, const Address& address, std::string_view method,
                                      std::string_view path, std::string_view body, std::int64_t timeout_ns,
                                      int cancel_fd = -1);

}  // namespace convoy
