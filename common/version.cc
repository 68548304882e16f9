// version.cc — Constants that the build writes (cmake/version.cmake).
// SPDX-License-Identifier: MIT
#include "common/version.h"

#include "generated/commit.h"

namespace convoy {

const std::string_view kVersion = CONVOY_VERSION;
const std::string_view kCommit = CONVOY_COMMIT;

std::string version_text() { return std::string(kVersion) + " (" + std::string(kCommit) + ")"; }

}  // namespace convoy
