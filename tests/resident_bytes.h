// resident_bytes.h — How much memory this process has in use.
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace convoy {

// Resident bytes, to a page.
inline std::uint64_t resident_bytes() {
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace convoy
