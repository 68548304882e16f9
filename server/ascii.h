// ascii.h — Comparisons of protocol text, independent of the locale.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

namespace convoy {

constexpr char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// True when `text` is `lower` but for the case of its letters. `lower` has no capitals.
constexpr bool iequals(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (to_lower(text[i]) != lower[i]) return false;
  }
  return true;
}

// True for the bytes of a token (RFC 9110, 5.6.2): what methods and field names are made of.
constexpr bool is_token_byte(char c) {
  if ((c >= '0' && c <= '9') || (to_lower(c) >= 'a' && to_lower(c) <= 'z')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

// `text` without the spaces and tabs around it.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace convoy
