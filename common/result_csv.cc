// result_csv.cc — Results as rows of a spreadsheet.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "common/result_schema.h"

namespace convoy {
namespace {

using Row = std::vector<std::pair<std::string, std::string>>;

// As RFC 4180 wants it: quoted when it holds a comma, a quote or a line end.
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Appends the scalars below `json` with their dotted names; lists are left out.
void flatten(const Json& json, const std::string& name, Row& row) {
  if (json.is_object()) {
    for (const auto& [key, value] : json.items()) flatten(value, name.empty() ? key : name + "." + key, row);
  } else if (json.is_string()) {
    row.emplace_back(name, json.get<std::string>());
  } else if (json.is_null()) {
    row.emplace_back(name, "");
  } else if (!json.is_array()) {
    row.emplace_back(name, json.dump());
  }
}

// Column names in the order of their first row; a name that comes up later goes behind its neighbour there.
std::vector<std::string> columns_of(const std::vector<Row>& rows) {
  std::vector<std::string> columns;
  for (const auto& row : rows) {
    std::size_t position = 0;
    for (const auto& [name, value] : row) {
      const auto found = std::find(columns.begin(), columns.end(), name);
      if (found != columns.end()) {
        position = static_cast<std::size_t>(found - columns.begin()) + 1;
      } else {
        columns.insert(columns.begin() + static_cast<std::ptrdiff_t>(position++), name);
      }
    }
  }
  return columns;
}

}  // namespace

std::string csv_line(const std::vector<std::string>& fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + field(fields[i]);
  return line + "\n";
}

std::string result_csv(const std::vector<ResultFile>& files) {
  std::vector<Row> rows;
  for (const auto& file : files) {
    Json json = to_json(file);
    const Json runs = std::exchange(json["runs"], Json::array());
    json.erase("variants");
    for (const auto& run : runs) {
      auto& row = rows.emplace_back();
      flatten(run, "", row);
      flatten(json, "", row);
    }
  }
  const auto columns = columns_of(rows);
  std::string text = csv_line(columns);
  for (const auto& row : rows) {
    const std::unordered_map<std::string, std::string> by_name(row.begin(), row.end());
    std::vector<std::string> fields;
    for (const auto& column : columns) {
      const auto found = by_name.find(column);
      fields.push_back(found == by_name.end() ? "" : found->second);
    }
    text += csv_line(fields);
  }
  return text;
}

}  // namespace convoy
