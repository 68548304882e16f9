// descriptor_limit.cc — Enough file descriptors for all users.
// SPDX-License-Identifier: MIT
#include "loadgen/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace convoy {

Result<void> allow_descriptors(std::uint64_t users) {
  // Standard streams, epoll and event descriptors of up to 64 threads, result files, the control connection.
  constexpr std::uint64_t kOthers = 160;
  const std::uint64_t needed = users + kOthers;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return fail("the limit of open files is unknown: {}", std::strerror(errno));
  if (limit.rlim_cur >= needed) return {};
  if (limit.rlim_max < needed) {
    return fail("users: {} users need {} open files, the hard limit is {}; raise it (ulimit -Hn) or ask for fewer",
                users, needed, limit.rlim_max);
  }
  limit.rlim_cur = needed;
  if (::setrlimit(RLIMIT_NOFILE, &limit) == 0) return {};
  return fail("users: {} users need {} open files: {}", users, needed, std::strerror(errno));
}

}  // namespace convoy
