// descriptor_limit.h — Enough file descriptors for all users.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "common/result.h"

namespace convoy {

// Raises the soft limit of open files so that `users` connections and what else the generator needs fit. The error
// says how many are needed and how many the hard limit allows.
Result<void> allow_descriptors(std::uint64_t users);

}  // namespace convoy
