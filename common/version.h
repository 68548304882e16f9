// version.h — Which build this is.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace convoy {

extern const std::string_view kVersion;  // "0.1.0"
extern const std::string_view kCommit;   // "1a2b3c4", with -dirty when files were changed; "unknown" outside of git

// Returns "0.1.0 (1a2b3c4)".
std::string version_text();

}  // namespace convoy
