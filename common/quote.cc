// quote.cc — Foreign text made fit for an error line.
// SPDX-License-Identifier: MIT
#include <algorithm>

#include "common/parse.h"

namespace convoy {
namespace {

constexpr std::size_t kQuotedBytes = 60;  // leaves room for the sentence on one line of a wide terminal

bool is_continuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// Returns the length of the well-formed UTF-8 sequence at the front of `text`, or 0. Overlong forms, surrogates and
// code points past U+10FFFF count as malformed, and so do the C1 controls, which terminals obey.
std::size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(static_cast<unsigned char>(text[i]))) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool malformed = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                         (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F) ||
                         (lead == 0xC2 && second < 0xA0);
  return malformed ? 0 : length;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string quoted = "'";
  std::size_t at = 0;
  while (at < text.size() && at < kQuotedBytes) {
    const auto rest = text.substr(at);
    const auto length = utf8_length(rest);
    const auto byte = static_cast<unsigned char>(rest[0]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += rest.substr(0, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  quoted += at < text.size() ? fmt::format("...' ({} bytes)", text.size()) : std::string("'");
  return quoted;
}

}  // namespace convoy
