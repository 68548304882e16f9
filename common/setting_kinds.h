// setting_kinds.h — How each type of setting is read, written and described.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/parse.h"
#include "common/result.h"

namespace convoy {

// What a setting may be. nullptr stands for whatever the type holds.

// A number, duration or size from min to max, both allowed.
template <class T>
struct Range {
  T min, max;
};
template <class T>
Range(T, T) -> Range<T>;

// Any text; `what` says what it stands for: "a path". Empty text is refused.
struct Text {
  std::string_view what;
};

// Text that `check` accepts. Its error begins with the quoted value, as those of parse.h do.
struct Checked {
  std::string_view what;
  Result<void> (*check)(std::string_view);
};

// One of the names that `list` returns. Those of `not_built` are known but not built yet, and the error says so.
struct OneOf {
  std::vector<std::string> (*list)();
  std::vector<std::string> (*not_built)() = nullptr;
};

// SettingKind<Field> has
//   static constexpr std::string_view kValueName; static constexpr bool kIsFlag, kAppends;
//   static std::string allowed_text(allowed);
//   static Result<void> read(std::string_view text, allowed, Field& field);   // leaves `field` alone on failure
//   static std::string write(const Field& field);
template <class Field>
struct SettingKind;

namespace setting_kinds {
struct Scalar {
  static constexpr bool kIsFlag = false;
  static constexpr bool kAppends = false;
};

// Stores a read value, or hands its error on.
template <class Value, class Field>
Result<void> store(Result<Value> value, Field& field) {
  if (!value) return tl::unexpected(std::move(value.error()));
  field = static_cast<Field>(std::move(*value));
  return {};
}
}  // namespace setting_kinds

template <>
struct SettingKind<std::string> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "TEXT";
  static std::string allowed_text(std::nullptr_t) { return "any text"; }
  static std::string allowed_text(const Text& allowed) { return std::string(allowed.what); }
  static std::string allowed_text(const Checked& allowed) { return std::string(allowed.what); }
  static std::string allowed_text(const OneOf& allowed);
  static Result<void> read(std::string_view text, std::nullptr_t, std::string& field);
  static Result<void> read(std::string_view text, const Text& allowed, std::string& field);
  static Result<void> read(std::string_view text, const Checked& allowed, std::string& field);
  static Result<void> read(std::string_view text, const OneOf& allowed, std::string& field);
  static std::string write(const std::string& field) { return field; }
};

// Several texts; every reading appends one.
template <>
struct SettingKind<std::vector<std::string>> {
  static constexpr std::string_view kValueName = "TEXT";
  static constexpr bool kIsFlag = false;
  static constexpr bool kAppends = true;
  template <class Allowed>
  static std::string allowed_text(const Allowed& allowed) {
    return SettingKind<std::string>::allowed_text(allowed);
  }
  template <class Allowed>
  static Result<void> read(std::string_view text, const Allowed& allowed, std::vector<std::string>& field) {
    std::string one;
    if (auto done = SettingKind<std::string>::read(text, allowed, one); !done) return done;
    field.push_back(std::move(one));
    return {};
  }
  static std::string write(const std::vector<std::string>& field) { return fmt::format("{}", fmt::join(field, ",")); }
};

template <class Number>
struct UnsignedKind : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "N";
  static constexpr Range<Number> kAll{0, std::numeric_limits<Number>::max()};
  static std::string allowed_text(std::nullptr_t) { return allowed_text(kAll); }
  static std::string allowed_text(const Range<Number>& allowed) {
    if (allowed.max == std::numeric_limits<std::uint64_t>::max())
      return fmt::format("a whole number of at least {}", allowed.min);
    return fmt::format("a whole number from {} to {}", allowed.min, allowed.max);
  }
  static Result<void> read(std::string_view text, std::nullptr_t, Number& field) { return read(text, kAll, field); }
  static Result<void> read(std::string_view text, const Range<Number>& allowed, Number& field) {
    return setting_kinds::store(parse_unsigned(text, allowed.min, allowed.max), field);
  }
  static std::string write(const Number& field) { return fmt::format("{}", field); }
};
template <>
struct SettingKind<std::uint32_t> : UnsignedKind<std::uint32_t> {};
template <>
struct SettingKind<std::uint64_t> : UnsignedKind<std::uint64_t> {};

template <>
struct SettingKind<std::vector<std::uint32_t>> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "N,N,...";
  static std::string allowed_text(const Range<std::uint32_t>& allowed) {
    return fmt::format("whole numbers from {} to {}, separated by commas", allowed.min, allowed.max);
  }
  static Result<void> read(std::string_view text, const Range<std::uint32_t>& allowed,
                           std::vector<std::uint32_t>& field) {
    return setting_kinds::store(parse_unsigned_list(text, allowed.min, allowed.max), field);
  }
  static std::string write(const std::vector<std::uint32_t>& field) { return format_unsigned_list(field); }
};

template <>
struct SettingKind<double> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "X";
  static std::string allowed_text(const Range<double>& allowed) {
    return fmt::format("a decimal number from {} to {}", format_real(allowed.min), format_real(allowed.max));
  }
  static Result<void> read(std::string_view text, const Range<double>& allowed, double& field) {
    return setting_kinds::store(parse_real(text, allowed.min, allowed.max), field);
  }
  static std::string write(const double& field) { return format_real(field); }
};

// A flag: the command line gives it without a value, a file with true or false.
template <>
struct SettingKind<bool> {
  static constexpr std::string_view kValueName = "";
  static constexpr bool kIsFlag = true;
  static constexpr bool kAppends = false;
  static std::string allowed_text(std::nullptr_t) { return "true or false"; }
  static Result<void> read(std::string_view text, std::nullptr_t, bool& field);
  static std::string write(const bool& field) { return field ? "true" : "false"; }
};

template <>
struct SettingKind<Duration> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "TIME";
  static std::string allowed_text(std::nullptr_t) { return "a duration such as 10s or 300ms"; }
  static std::string allowed_text(const Range<Duration>& allowed) {
    return fmt::format("a duration from {} to {}", format_duration(allowed.min), format_duration(allowed.max));
  }
  static Result<void> read(std::string_view text, std::nullptr_t, Duration& field) {
    return setting_kinds::store(parse_duration(text), field);
  }
  static Result<void> read(std::string_view text, const Range<Duration>& allowed, Duration& field) {
    return setting_kinds::store(parse_duration(text, allowed.min, allowed.max), field);
  }
  static std::string write(const Duration& field) { return format_duration(field); }
};

template <>
struct SettingKind<Size> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "SIZE";
  static std::string allowed_text(std::nullptr_t) { return "a size such as 1GiB or 64KiB"; }
  static std::string allowed_text(const Range<Size>& allowed) {
    return fmt::format("a size from {} to {}", format_size(allowed.min), format_size(allowed.max));
  }
  static Result<void> read(std::string_view text, std::nullptr_t, Size& field) {
    return setting_kinds::store(parse_size(text), field);
  }
  static Result<void> read(std::string_view text, const Range<Size>& allowed, Size& field) {
    return setting_kinds::store(parse_size(text, allowed.min, allowed.max), field);
  }
  static std::string write(const Size& field) { return format_size(field); }
};

template <>
struct SettingKind<Endpoint> : setting_kinds::Scalar {
  static constexpr std::string_view kValueName = "HOST:PORT";
  static std::string allowed_text(std::nullptr_t) { return "HOST:PORT, port 0 = any free one, or off"; }
  static Result<void> read(std::string_view text, std::nullptr_t, Endpoint& field) {
    return setting_kinds::store(parse_endpoint(text), field);
  }
  static std::string write(const Endpoint& field) { return format_endpoint(field); }
};

// A setting that may be unset, and starts so; no text unsets it again.
template <class T>
struct SettingKind<std::optional<T>> : SettingKind<T> {
  template <class Allowed>
  static Result<void> read(std::string_view text, const Allowed& allowed, std::optional<T>& field) {
    T value{};
    if (auto done = SettingKind<T>::read(text, allowed, value); !done) return done;
    field = std::move(value);
    return {};
  }
  static std::string write(const std::optional<T>& field) { return field ? SettingKind<T>::write(*field) : ""; }
};

}  // namespace convoy
