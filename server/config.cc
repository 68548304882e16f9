// config.cc — What the settings allow.
// SPDX-License-Identifier: MIT
#include "server/config.h"

#include "server/cpu_list.h"

namespace convoy {

std::vector<std::string> threading_patterns() { return {"apache"}; }
std::vector<std::string> threading_patterns_to_come() { return {"redis"}; }
std::vector<std::string> access_kinds() { return {"mmap", "read"}; }

Result<void> check_resp(std::string_view text) {
  if (text == "off") return {};
  if (const auto endpoint = parse_endpoint(text); !endpoint) return tl::unexpected(endpoint.error());
  return fail("{} is not allowed: the Redis protocol is not built yet; allowed: off", quote(text));
}

Result<void> check_cpus(std::string_view text) {
  if (const auto cpus = parse_cpu_list(text); !cpus) return tl::unexpected(cpus.error());
  return {};
}

}  // namespace convoy
