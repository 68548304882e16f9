// described_json.h — JSON written from and read into structs that describe their fields. For .cc files.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/json.h"
#include "common/parse.h"
#include "common/result.h"

namespace convoy::described {

struct Ignore {
  template <class T>
  void operator()(std::string_view, T&, std::string_view) {}
};

// A struct with describe(self, visitor), whose visitor takes (key, field, sentence).
template <class T>
concept Described = requires(T& value, Ignore& visitor) {
  T::describe(value, visitor);
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<std::map<std::string, T>> : std::true_type {};

template <class T>
Json write(const T& value);

struct Writer {
  Json& object;
  template <class T>
  void operator()(std::string_view key, const T& field, std::string_view) {
    object[std::string(key)] = write(field);
  }
};

// Returns `value` as JSON; what is empty or not finite becomes null.
template <class T>
Json write(const T& value) {
  if constexpr (Described<const T>) {
    Json object = Json::object();
    Writer writer{object};
    T::describe(value, writer);
    return object;
  } else if constexpr (IsOptional<T>::value) {
    return value ? write(*value) : Json(nullptr);
  } else if constexpr (IsVector<T>::value) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(write(element));
    return array;
  } else if constexpr (IsMap<T>::value) {
    Json object = Json::object();
    for (const auto& [key, element] : value) object[key] = write(element);
    return object;
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else {
    return Json(value);
  }
}

// Reads a JSON value into described structs and keeps the first error, which begins with the path of the value.
class Reader {
 public:
  template <class T>
  void read(const Json& json, T& value, const std::string& path) {
    if (!error_.empty()) return;
    if constexpr (Described<T>) {
      read_struct(json, value, path);
    } else if constexpr (IsOptional<T>::value) {
      value.reset();
      if (!json.is_null()) read(json, value.emplace(), path);
    } else if constexpr (IsVector<T>::value) {
      if (!json.is_array()) return wrong(json, path, "a list");
      value.clear();
      for (std::size_t i = 0; i < json.size(); ++i) read(json[i], value.emplace_back(), fmt::format("{}[{}]", path, i));
    } else if constexpr (IsMap<T>::value) {
      if (!json.is_object()) return wrong(json, path, "an object");
      value.clear();
      for (const auto& [key, element] : json.items()) read(element, value[key], join(path, key));
    } else {
      read_scalar(json, value, path);
    }
  }

  // Returns the error, or "" when all was read.
  const std::string& error() const { return error_; }

 private:
  // Reads the fields of one object and remembers which keys the struct knows.
  struct Fields {
    Reader& reader;
    const Json& object;
    const std::string& path;
    std::vector<std::string> known;

    template <class T>
    void operator()(std::string_view key, T& field, std::string_view) {
      known.emplace_back(key);
      if (!reader.error_.empty()) return;
      const auto found = object.find(known.back());
      const auto field_path = join(path, known.back());
      if (found == object.end()) return reader.set_error(fmt::format("{}: is missing", field_path));
      reader.read(*found, field, field_path);
    }
  };

  template <class T>
  void read_struct(const Json& json, T& value, const std::string& path) {
    if (!json.is_object()) return wrong(json, path, "an object");
    Fields fields{*this, json, path, {}};
    T::describe(value, fields);
    for (const auto& [key, element] : json.items())
      if (std::find(fields.known.begin(), fields.known.end(), key) == fields.known.end())
        set_error(fmt::format("{}: no such key is known", join(path, quote(key))));
  }

  void read_scalar(const Json& json, std::string& value, const std::string& path) {
    if (!json.is_string()) return wrong(json, path, "text");
    value = json.get<std::string>();
  }
  void read_scalar(const Json& json, bool& value, const std::string& path) {
    if (!json.is_boolean()) return wrong(json, path, "true or false");
    value = json.get<bool>();
  }
  void read_scalar(const Json& json, std::uint64_t& value, const std::string& path) {
    if (!json.is_number_integer() || (!json.is_number_unsigned() && json.get<std::int64_t>() < 0))
      return wrong(json, path, "a whole number of at least 0");
    value = json.get<std::uint64_t>();
  }
  void read_scalar(const Json& json, double& value, const std::string& path) {
    if (!json.is_number()) return wrong(json, path, "a number");
    value = json.get<double>();
  }

  void wrong(const Json& json, const std::string& path, std::string_view expected) {
    set_error(fmt::format("{}: {} is not {}", path.empty() ? "the document" : path, quote(shown(json)), expected));
  }

  static std::string shown(const Json& json) {
    if (json.is_structured()) return json.is_array() ? "[...]" : "{...}";
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  void set_error(std::string error) {
    if (error_.empty()) error_ = std::move(error);
  }

  std::string error_;
};

// Reads a whole document.
template <class T>
Result<T> read_document(const Json& json) {
  T value;
  Reader reader;
  reader.read(json, value, "");
  if (!reader.error().empty()) return fail("{}", reader.error());
  return value;
}

}  // namespace convoy::described
