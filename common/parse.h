// parse.h — Strict readers of numbers, durations, sizes and addresses, and the writers back to text.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace convoy {

// A length of time, to the nanosecond.
using Duration = std::chrono::nanoseconds;

// A number of bytes, written with KiB, MiB, GiB or TiB.
struct Size {
  std::uint64_t bytes = 0;
  friend bool operator==(Size a, Size b) { return a.bytes == b.bytes; }
  friend bool operator<(Size a, Size b) { return a.bytes < b.bytes; }
};

inline constexpr Size kKiB{std::uint64_t{1} << 10};
inline constexpr Size kMiB{std::uint64_t{1} << 20};
inline constexpr Size kGiB{std::uint64_t{1} << 30};
inline constexpr Size kTiB{std::uint64_t{1} << 40};

// Where to listen or to connect. `off` means nowhere; then host and port are empty and 0.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  bool off = false;
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.host == b.host && a.port == b.port && a.off == b.off;
  }
};

// The longest duration that is read: about 31 years. Keeps sums of a few durations far from overflow.
inline constexpr Duration kLongestDuration = std::chrono::seconds(1'000'000'000);

// All readers take the whole text or fail: no sign, no space, no prefix, nothing behind. Their errors begin with the
// quoted value and say what is allowed ("'1001' is not allowed; a whole number from 0 to 1000"); the caller puts the
// option's name in front. None allocates in proportion to a number it has read.

Result<std::uint64_t> parse_unsigned(std::string_view text, std::uint64_t min = 0,
                                     std::uint64_t max = std::numeric_limits<std::uint64_t>::max());

// A decimal number such as 0.95 or 12, without an exponent.
Result<double> parse_real(std::string_view text, double min, double max);

// "10s", "300ms", "25us", "100ns", "5m", "1h", "1.5s"; S, M and H as siege writes them; a bare number is seconds.
Result<Duration> parse_duration(std::string_view text, Duration min = Duration::zero(),
                                Duration max = kLongestDuration);

// "1GiB", "64KiB", "4096" (bytes), "4096B".
Result<Size> parse_size(std::string_view text, Size min = {0}, Size max = {std::numeric_limits<std::uint64_t>::max()});

// "HOST:PORT", "[::1]:80", or "off". Port 0 means any free one.
Result<Endpoint> parse_endpoint(std::string_view text);

// "1,50,100": at least one number, at most kLongestList of them.
inline constexpr std::size_t kLongestList = 4096;
Result<std::vector<std::uint32_t>> parse_unsigned_list(std::string_view text, std::uint32_t min, std::uint32_t max);

// Writers whose output the reader of the same kind reads back to the same value.
std::string format_duration(Duration duration);  // "2s", "300ms", "25us": the largest unit that divides it
std::string format_size(Size size);              // "1GiB", "64KiB", "100"
std::string format_endpoint(const Endpoint& endpoint);
std::string format_unsigned_list(const std::vector<std::uint32_t>& list);
std::string format_real(double value);  // the shortest text that reads back; at least one digit

// Returns `text` between single quotes, fit for an error line: at most about 60 bytes of it, control characters and
// bytes that are no UTF-8 escaped, and the full length named when it is cut.
std::string quote(std::string_view text);

}  // namespace convoy
