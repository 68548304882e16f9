// host_info.h — The machine that this process runs on.
// SPDX-License-Identifier: MIT
#pragma once

#include "common/result_schema.h"

namespace convoy {

// Reads kernel, processor and the cores that this process may use; what cannot be read is "unknown".
HostInfo read_host_info();

// Returns the number of cores that this process may use, at least 1.
unsigned available_cores();

}  // namespace convoy
