// toml_file.cc — toml++ reads, the rest of the project sees JSON.
// SPDX-License-Identifier: MIT
#include "common/toml_file.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/files.h"

namespace convoy {
namespace {

template <class T>
std::string printed(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

Result<Json> to_json(const toml::node& node, const std::string& path);

Result<Json> array_to_json(const toml::array& array, const std::string& path) {
  Json json = Json::array();
  for (const auto& element : array) {
    auto value = to_json(element, path);
    if (!value) return value;
    json.push_back(std::move(*value));
  }
  return json;
}

Result<Json> table_to_json(const toml::table& table, const std::string& path) {
  Json json = Json::object();
  for (const auto& [key, element] : table) {
    auto value = to_json(element, path);
    if (!value) return value;
    json[std::string(key.str())] = std::move(*value);
  }
  return json;
}

Result<Json> to_json(const toml::node& node, const std::string& path) {
  if (const auto* table = node.as_table()) return table_to_json(*table, path);
  if (const auto* array = node.as_array()) return array_to_json(*array, path);
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* integer = node.as_integer()) return Json(integer->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* date = node.as_date()) return Json(printed(date->get()));
  if (const auto* time = node.as_time()) return Json(printed(time->get()));
  if (const auto* date_time = node.as_date_time()) return Json(printed(date_time->get()));
  const auto* real = node.as_floating_point();
  if (real != nullptr && std::isfinite(real->get())) return Json(real->get());
  const auto& begin = node.source().begin;
  return fail("{}:{}:{}: not a finite number", path, begin.line, begin.column);
}

}  // namespace

Result<Json> parse_toml(std::string_view text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    const auto& begin = error.source().begin;
    return fail("{}:{}:{}: {}", path, begin.line, begin.column, error.description());
  }
  return table_to_json(parsed.table(), path);
}

Result<Json> read_toml_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_toml(*text, path);
}

Result<std::string> setting_text(const Json& value, std::string_view key) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return std::string(value.get<bool>() ? "true" : "false");
  if (value.is_number_unsigned()) return fmt::format("{}", value.get<std::uint64_t>());
  if (value.is_number_integer()) return fmt::format("{}", value.get<std::int64_t>());
  if (value.is_number_float()) return format_real(value.get<double>());
  if (!value.is_array()) return fail("{}: a table is not allowed; a number, text, true, false or a list of them", key);
  std::string text;
  for (const auto& element : value) {
    if (element.is_structured()) return fail("{}: a list inside a list is not allowed", key);
    auto one = setting_text(element, key);
    if (!one) return one;
    if (!text.empty()) text += ',';
    text += *one;
  }
  return text;
}

Result<void> apply_flat(Settings& settings, const Json& object, const std::string& path,
                        const std::vector<std::string>& given) {
  for (const auto& [name, value] : object.items()) {
    const auto* setting = settings.find(name);
    if (setting != nullptr && setting->when == When::kCommandLine) {
      return fail("{}: {} is for the command line only", path, name);
    }
    if (setting != nullptr && std::find(given.begin(), given.end(), setting->key) != given.end()) continue;
    const bool one_by_one = setting != nullptr && setting->repeats && value.is_array();
    for (const auto& part : one_by_one ? value : Json::array({value})) {
      const auto text = setting_text(part, name);
      if (!text) return fail("{}: {}", path, text.error().message);
      if (auto done = settings.set(name, *text); !done) return fail("{}: {}", path, done.error().message);
    }
  }
  return {};
}

}  // namespace convoy
