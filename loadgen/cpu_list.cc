// cpu_list.cc — Which processors the process may use, in taskset's syntax.
// SPDX-License-Identifier: MIT
#include "loadgen/cpu_list.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "common/parse.h"

namespace convoy {

Result<std::vector<int>> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const auto part = rest.substr(0, comma);
    const auto dash = part.find('-');
    const auto first = parse_unsigned(part.substr(0, dash), 0, CPU_SETSIZE - 1);
    const auto last =
        dash == std::string_view::npos ? first : parse_unsigned(part.substr(dash + 1), 0, CPU_SETSIZE - 1);
    if (!first || !last || *first > *last) {
      return fail("{} is not allowed; processor numbers and ranges such as 0 or 0,2-3", quote(text));
    }
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
    if (comma == std::string_view::npos) return cpus;
    rest.remove_prefix(comma + 1);
    if (cpus.size() > CPU_SETSIZE) return fail("{} is not allowed; it names processors many times", quote(text));
  }
}

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

Result<void> pin_to_cpus(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) == 0) return {};
  return fail("cpus: the process cannot be pinned: {}", std::strerror(errno));
}

}  // namespace convoy
