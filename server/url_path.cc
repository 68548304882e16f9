// url_path.cc — Percent-decoding and dot segments.
// SPDX-License-Identifier: MIT
#include "server/url_path.h"

#include "server/ascii.h"

namespace convoy {
namespace {

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool percent_decode(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return false;
    const char byte = static_cast<char>(high * 16 + low);
    if (byte == '\0' || byte == '/') return false;
    out.push_back(byte);
    i += 2;
  }
  return true;
}

// Appends the segments of `decoded` to `path`, which stays below the root.
bool resolve_segments(std::string_view decoded, std::string& path) {
  path.clear();
  while (!decoded.empty()) {
    const auto slash = decoded.find('/');
    const auto segment = decoded.substr(0, slash);
    const bool last = slash == decoded.npos;
    decoded.remove_prefix(last ? decoded.size() : slash + 1);
    if (segment.empty() || segment == ".") continue;
    if (segment == "..") {
      if (path.empty()) return false;
      path.pop_back();  // the slash behind the segment that is left
      path.resize(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
      continue;
    }
    path.append(segment);
    if (!last) path.push_back('/');
  }
  return true;
}

}  // namespace

bool url_to_path(std::string_view target, std::string& path) {
  if (!target.empty() && target.front() != '/') {
    const auto scheme = target.find("://");
    if (scheme == target.npos || !iequals(target.substr(0, scheme), "http")) return false;
    target.remove_prefix(scheme + 3);
    const auto slash = target.find_first_of("/?");
    target = slash == target.npos || target[slash] == '?' ? "/" : target.substr(slash);
  }
  if (target.empty()) return false;
  target = target.substr(0, target.find_first_of("?#"));
  target.remove_prefix(1);

  // Most targets need none of the below.
  const bool plain = target.find('%') == target.npos && target.find("./") == target.npos &&
                     target.find("//") == target.npos && (target.empty() || target.back() != '.') &&
                     (target.empty() || target.front() != '/');
  if (plain) {
    path.assign(target);
    return true;
  }
  std::string decoded;
  return percent_decode(target, decoded) && resolve_segments(decoded, path);
}

}  // namespace convoy
