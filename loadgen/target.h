// target.h — The server a run drives and the requests it is sent, ready to write.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "common/result.h"
#include "loadgen/url.h"

namespace convoy {

// Where a server listens.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// Looks the host up; blocks. The first address wins.
Result<Address> resolve(const Url& url);

// What `http` asks for. `name` is what results call it: path, pattern or file. Immutable while a run uses it.
struct Target {
  Url origin;  // The path is of no meaning here.
  Address address;
  std::string name;
  std::vector<std::string> requests;  // Whole request heads; at least one.
};

struct TargetSpec {
  std::string url = {};       // A URL or pattern; may be empty if a file says where the server is.
  std::string url_file = {};  // Or empty. Its lines are what is asked for; `url` gives the server to bare paths.
  std::vector<std::string> urls = {};     // More paths or URLs, as from a sweep file's `urls`.
  std::vector<std::string> headers = {};  // "Name: value"; Host and Connection replace our own.
  bool keep_alive = true;
};

// Reads and checks all that `spec` names; does not look the host up: `address` stays empty.
// Errors: no server named, two servers named, an unreadable file, a header that is none.
Result<Target> make_target(const TargetSpec& spec);

}  // namespace convoy
