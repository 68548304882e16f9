// json.h — The JSON type of this project, by name only.
// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace convoy {

// Keeps the order in which keys were written. A .cc file that looks inside includes <nlohmann/json.hpp>.
using Json = nlohmann::ordered_json;

}  // namespace convoy
