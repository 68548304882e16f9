// cpu_list.h — Lists of processors as taskset writes them, and pinning to them.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"

namespace convoy {

// Reads "0", "0,2-3" or "0-6:2" into processor numbers; "all" gives none. The error begins with the quoted value.
Result<std::vector<unsigned>> parse_cpu_list(std::string_view text);

// Pins the calling thread, and so every thread that it starts later. An empty list changes nothing. Error: none of the
// processors is there for this process (the system's text).
Result<void> pin_to_cpus(const std::vector<unsigned>& cpus);

}  // namespace convoy
