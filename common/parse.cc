// parse.cc — Readers and writers of scalar values.
// SPDX-License-Identifier: MIT
#include "common/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace convoy {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads a whole decimal number that fills `text`; false on anything else, overflow included.
bool read_digits(std::string_view text, std::uint64_t& value) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// Reads digits with at most one decimal point between them.
bool read_decimal(std::string_view text, double& value) {
  if (text.empty() || text.size() > 64 || !is_digit(text.front()) || !is_digit(text.back())) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc{} && end == text.data() + text.size() && std::isfinite(value);
}

// Splits "300ms" into the number and the unit.
std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return !is_digit(c) && c != '.'; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  return {text.substr(0, length), text.substr(length)};
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// The first of each factor is the one that is written.
constexpr std::array<Unit, 9> kTimeUnits{{{"h", 3'600'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"s", 1'000'000'000},
                                          {"ms", 1'000'000},
                                          {"us", 1'000},
                                          {"ns", 1},
                                          {"H", 3'600'000'000'000},
                                          {"M", 60'000'000'000},
                                          {"S", 1'000'000'000}}};
constexpr std::array<Unit, 5> kSizeUnits{
    {{"TiB", kTiB.bytes}, {"GiB", kGiB.bytes}, {"MiB", kMiB.bytes}, {"KiB", kKiB.bytes}, {"B", 1}}};

template <std::size_t N>
std::uint64_t factor_of(const std::array<Unit, N>& units, std::string_view name) {
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  return unit == units.end() ? 0 : unit->factor;
}

tl::unexpected<Error> bad_duration(std::string_view text, Duration min, Duration max) {
  constexpr std::string_view kForm = "units ns, us, ms, s, m, h; a bare number is seconds";
  if (max >= kLongestDuration && min <= Duration::zero())
    return fail("{} is not allowed; a duration such as 10s or 300ms ({})", quote(text), kForm);
  if (max >= kLongestDuration)
    return fail("{} is not allowed; a duration of at least {} ({})", quote(text), format_duration(min), kForm);
  return fail("{} is not allowed; a duration from {} to {} ({})", quote(text), format_duration(min),
              format_duration(max), kForm);
}

tl::unexpected<Error> bad_size(std::string_view text, Size min, Size max) {
  constexpr std::string_view kForm = "bytes, or with KiB, MiB, GiB, TiB";
  if (max.bytes == std::numeric_limits<std::uint64_t>::max())
    return fail("{} is not allowed; a size of at least {} ({})", quote(text), format_size(min), kForm);
  return fail("{} is not allowed; a size from {} to {} ({})", quote(text), format_size(min), format_size(max), kForm);
}

bool is_host_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
}

bool is_address6_character(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

constexpr std::size_t kLongestHost = 253;  // RFC 1035: a name of at most 255 octets on the wire

}  // namespace

Result<std::uint64_t> parse_unsigned(std::string_view text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t value = 0;
  if (read_digits(text, value) && value >= min && value <= max) return value;
  if (max == std::numeric_limits<std::uint64_t>::max())
    return fail("{} is not allowed; a whole number of at least {}", quote(text), min);
  return fail("{} is not allowed; a whole number from {} to {}", quote(text), min, max);
}

Result<double> parse_real(std::string_view text, double min, double max) {
  double value = 0;
  if (read_decimal(text, value) && value >= min && value <= max) return value;
  return fail("{} is not allowed; a decimal number from {} to {}", quote(text), format_real(min), format_real(max));
}

Result<Duration> parse_duration(std::string_view text, Duration min, Duration max) {
  const auto [number, unit] = split_unit(text);
  const auto factor = unit.empty() ? factor_of(kTimeUnits, "s") : factor_of(kTimeUnits, unit);
  const auto longest = static_cast<std::uint64_t>(kLongestDuration.count());
  if (factor == 0) return bad_duration(text, min, max);
  Duration value{};
  std::uint64_t whole = 0;
  double decimal = 0;
  if (read_digits(number, whole) && whole <= longest / factor) {
    value = Duration(static_cast<std::int64_t>(whole * factor));
  } else if (read_decimal(number, decimal) && decimal * static_cast<double>(factor) <= static_cast<double>(longest)) {
    value = Duration(std::llround(decimal * static_cast<double>(factor)));
  } else {
    return bad_duration(text, min, max);
  }
  if (value < min || value > max) return bad_duration(text, min, max);
  return value;
}

Result<Size> parse_size(std::string_view text, Size min, Size max) {
  const auto [number, unit] = split_unit(text);
  const auto factor = unit.empty() ? 1 : factor_of(kSizeUnits, unit);
  std::uint64_t whole = 0;
  if (factor == 0 || !read_digits(number, whole) || whole > std::numeric_limits<std::uint64_t>::max() / factor)
    return bad_size(text, min, max);
  const Size size{whole * factor};
  if (size < min || max < size) return bad_size(text, min, max);
  return size;
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  if (text == "off") return Endpoint{"", 0, true};
  const auto bad = [&] { return fail("{} is not allowed; HOST:PORT, [IPV6]:PORT, or off", quote(text)); };
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad();
  auto host = text.substr(0, colon);
  const bool bracketed = host.front() == '[';
  if (bracketed) {
    if (host.size() < 3 || host.back() != ']') return bad();
    host = host.substr(1, host.size() - 2);
  }
  const bool known = std::all_of(host.begin(), host.end(), bracketed ? is_address6_character : is_host_character);
  std::uint64_t port = 0;
  if (!known || host.size() > kLongestHost || !read_digits(text.substr(colon + 1), port) || port > 65535) return bad();
  return Endpoint{std::string(host), static_cast<std::uint16_t>(port), false};
}

Result<std::vector<std::uint32_t>> parse_unsigned_list(std::string_view text, std::uint32_t min, std::uint32_t max) {
  std::vector<std::uint32_t> list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    std::uint64_t value = 0;
    if (!read_digits(text.substr(begin, end - begin), value) || value < min || value > max ||
        list.size() == kLongestList)
      return fail("{} is not allowed; whole numbers from {} to {}, separated by commas", quote(text), min, max);
    list.push_back(static_cast<std::uint32_t>(value));
    begin = end + 1;
  }
  return list;
}

std::string format_duration(Duration duration) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
  if (count == 0) return "0s";
  for (const auto& unit : kTimeUnits)
    if (count % unit.factor == 0) return fmt::format("{}{}", count / unit.factor, unit.name);
  return fmt::format("{}ns", count);
}

std::string format_size(Size size) {
  for (const auto& unit : kSizeUnits)
    if (size.bytes != 0 && unit.factor > 1 && size.bytes % unit.factor == 0)
      return fmt::format("{}{}", size.bytes / unit.factor, unit.name);
  return fmt::format("{}", size.bytes);
}

std::string format_endpoint(const Endpoint& endpoint) {
  if (endpoint.off) return "off";
  const bool is_address6 = endpoint.host.find(':') != std::string::npos;
  return is_address6 ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
                     : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

std::string format_unsigned_list(const std::vector<std::uint32_t>& list) {
  return fmt::format("{}", fmt::join(list, ","));
}

std::string format_real(double value) {
  std::array<char, 512> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  return error == std::errc{} ? std::string(text.data(), end) : std::string("0");
}

}  // namespace convoy
