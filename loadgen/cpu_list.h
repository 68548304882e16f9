// cpu_list.h — Which processors the process may use, in taskset's syntax.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"

namespace convoy {

// Reads "0", "0,2-3": processor numbers and ranges, separated by commas. The error begins with the quoted text.
Result<std::vector<int>> parse_cpu_list(std::string_view text);

// Those that the calling thread may use, in order.
std::vector<int> usable_cpus();

// Pins the calling thread, and the threads it starts from now on, to these processors.
Result<void> pin_to_cpus(const std::vector<int>& cpus);

}  // namespace convoy
