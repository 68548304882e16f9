// host_info.cc — uname, /proc/cpuinfo and the affinity mask.
// SPDX-License-Identifier: MIT
#include "common/host_info.h"

#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace convoy {

unsigned available_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
}

HostInfo read_host_info() {
  HostInfo host;
  host.kernel = host.cpu = "unknown";
  host.cores = available_cores();
  utsname names{};
  if (::uname(&names) == 0) host.kernel = fmt::format("{} {} {}", names.sysname, names.release, names.machine);
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line) && !line.empty();) {  // an empty line ends the first processor
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    if (line.compare(0, 10, "model name") == 0) host.cpu = line.substr(colon + 2);
    if (line.compare(0, 5, "flags") == 0) host.virtualised = (line + " ").find(" hypervisor ") != std::string::npos;
  }
  return host;
}

}  // namespace convoy
