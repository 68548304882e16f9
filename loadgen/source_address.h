// source_address.h — Where connections to a server on this machine come from: all of 127.0.0.1 to 127.0.0.254 in turn.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "loadgen/target.h"

namespace convoy {

// A pair of addresses has 28,231 local ports, and a closed connection may hold its own for a minute: a connection a
// request uses them up in seconds. A server on the loopback network is reached from every address of it, so each
// connection takes another one, and 7 million ports last. Connections to other servers are left alone: their source is
// not ours to choose. Not thread-safe; one a thread.
class SourceAddresses {
 public:
  // `start` is where in the row this thread begins.
  SourceAddresses(const Address& server, std::uint32_t start);

  // Binds `fd`, which is not yet connected, to the next address; the port is chosen when it connects, so that only the
  // pair must be free. What cannot be bound connects from where the system says.
  void bind_next(int fd);

  bool spread() const { return spread_; }

 private:
  bool spread_;
  std::uint32_t next_;
};

}  // namespace convoy
