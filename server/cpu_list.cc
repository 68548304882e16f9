// cpu_list.cc — Reading lists, sched_setaffinity.
// SPDX-License-Identifier: MIT
#include "server/cpu_list.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/parse.h"

namespace convoy {
namespace {

constexpr std::uint64_t kMaxCpu = CPU_SETSIZE - 1;

// Reads "N", "N-M" or "N-M:STEP".
bool add_range(std::string_view text, std::vector<unsigned>& cpus) {
  const auto dash = text.find('-');
  const auto first = parse_unsigned(text.substr(0, dash), 0, kMaxCpu);
  if (!first) return false;
  if (dash == text.npos) {
    cpus.push_back(static_cast<unsigned>(*first));
    return true;
  }
  const auto rest = text.substr(dash + 1);
  const auto colon = rest.find(':');
  const auto last = parse_unsigned(rest.substr(0, colon), *first, kMaxCpu);
  const auto step = colon == rest.npos ? Result<std::uint64_t>(1) : parse_unsigned(rest.substr(colon + 1), 1, kMaxCpu);
  if (!last || !step) return false;
  for (std::uint64_t cpu = *first; cpu <= *last; cpu += *step) cpus.push_back(static_cast<unsigned>(cpu));
  return true;
}

}  // namespace

Result<std::vector<unsigned>> parse_cpu_list(std::string_view text) {
  std::vector<unsigned> cpus;
  if (text == "all") return cpus;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    if (!add_range(rest.substr(0, comma), cpus)) {
      return fail("{} is not allowed; all, or processor numbers up to {} such as 0 or 0,2-3", quote(text), kMaxCpu);
    }
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  std::sort(cpus.begin(), cpus.end());
  cpus.erase(std::unique(cpus.begin(), cpus.end()), cpus.end());
  return cpus;
}

Result<void> pin_to_cpus(const std::vector<unsigned>& cpus) {
  if (cpus.empty()) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const unsigned cpu : cpus) CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    return fail("cpus: this process cannot be pinned to the processors asked for: {}", std::strerror(errno));
  }
  return {};
}

}  // namespace convoy
