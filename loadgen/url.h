// url.h — What to ask for: URLs, paths, patterns and files of them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace convoy {

struct Url {
  std::string host;  // Without brackets, if it is an IPv6 address.
  std::uint16_t port = 80;
  std::string path;  // With the query, without the fragment; starts with '/'.
};

// Reads http://HOST[:PORT][/PATH]. Every other scheme, user information, white space and control characters are
// refused.
Result<Url> parse_url(std::string_view text);

// The Host header's value: HOST or HOST:PORT, IPv6 addresses in brackets.
std::string host_header(const Url& url);

// Expands one {FIRST..LAST} of a URL or path: "/many/{1..3}" is /many/1, /many/2, /many/3; leading zeros of FIRST set
// the width. Text without braces is itself. At most 1,000,000 texts.
Result<std::vector<std::string>> expand_pattern(std::string_view text);

// Reads a file with one URL or path (or pattern of them) a line; blank lines and lines that start with '#' are skipped.
Result<std::vector<std::string>> read_url_file(const std::string& path);

}  // namespace convoy
