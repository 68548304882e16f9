// toml_file.h — TOML files as JSON values, and flat ones as settings.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "common/result.h"
#include "common/settings.h"

namespace convoy {

// Reads a TOML file. Tables become objects in the order of their keys' names, arrays of tables arrays of objects, dates
// and times text. The error carries path:line:column, or the reason why the file cannot be read.
Result<Json> read_toml_file(const std::string& path);

// As read_toml_file, for text; `path` stands in the errors.
Result<Json> parse_toml(std::string_view text, const std::string& path);

// Sets every NAME = VALUE of a flat object; numbers, true and false count as the text that the setting reads, an array
// as a list. Skips the names in `given` (keys that the command line has set, which wins). `path` stands in the errors,
// which name the key. Stops at the first error.
Result<void> apply_flat(Settings& settings, const Json& object, const std::string& path,
                        const std::vector<std::string>& given = {});

// Returns a number, boolean, text or array of them as the text that a setting reads; `key` stands in the error.
Result<std::string> setting_text(const Json& value, std::string_view key);

}  // namespace convoy
