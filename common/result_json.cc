// result_json.cc — Result files as JSON text.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/described_json.h"
#include "common/files.h"
#include "common/result_schema.h"

namespace convoy {

Json to_json(const ResultFile& file) { return described::write(file); }

std::string result_text(const ResultFile& file) {
  return to_json(file).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ResultFile> from_json(const Json& json) {
  if (json.is_object() && json.contains("schema") && json["schema"] != std::string(kResultSchema))
    return fail("schema: {} is not {}", quote(json["schema"].dump(-1, ' ', false, Json::error_handler_t::replace)),
                kResultSchema);
  auto file = described::read_document<ResultFile>(json);
  if (!file) return file;
  if (auto checked = check_result(*file); !checked) return tl::unexpected(checked.error());
  return file;
}

Result<ResultFile> read_result_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  Json json;
  try {
    json = Json::parse(*text);
  } catch (const Json::parse_error& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": what follows the bracket is for people.
    const std::string_view message = error.what();
    return fail("{}: is not JSON: {}", path, message.substr(std::min(message.find("] ") + 2, message.size())));
  }
  auto file = from_json(json);
  if (!file) return fail("{}: {}", path, file.error().message);
  return file;
}

}  // namespace convoy
