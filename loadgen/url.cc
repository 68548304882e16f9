// url.cc — What to ask for: URLs, paths, patterns and files of them.
// SPDX-License-Identifier: MIT
#include "loadgen/url.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>

#include "common/parse.h"

namespace convoy {
namespace {

constexpr std::uint64_t kMostTexts = 1'000'000;

bool is_unsendable(char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; }

std::optional<std::uint64_t> to_number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto end = digits.data() + digits.size();
  if (digits.empty() || digits.size() > 18 ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  std::from_chars(digits.data(), end, value);
  return value;
}

std::string_view trimmed(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = line.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlank) - first + 1);
}

// Splits HOST[:PORT] or [ADDRESS][:PORT]; false when it is neither.
bool split_authority(std::string_view authority, Url& url) {
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return false;
    url.host = authority.substr(1, close - 1);
    port = authority.substr(close + 1);
  } else {
    const auto colon = authority.find(':');
    url.host = authority.substr(0, colon);
    if (colon != std::string_view::npos) port = authority.substr(colon);
  }
  if (url.host.empty() || url.host.find_first_of("@[]\\") != std::string::npos) return false;
  if (port.empty()) return true;
  const auto number = port.front() == ':' ? to_number(port.substr(1)) : std::nullopt;
  if (!number || *number == 0 || *number > 65535) return false;
  url.port = static_cast<std::uint16_t>(*number);
  return true;
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  constexpr std::string_view kScheme = "http://";
  const auto refused = [&](std::string_view why) {
    return fail("url: {} is not allowed ({}); http://HOST[:PORT][/PATH]", quote(text), why);
  };
  if (text.substr(0, 8) == "https://") return refused("TLS is not spoken");
  if (text.substr(0, kScheme.size()) != kScheme) return refused("it does not start with http://");
  if (std::any_of(text.begin(), text.end(), is_unsendable)) return refused("white space must be percent-encoded");
  const auto rest = text.substr(kScheme.size());
  const auto slash = rest.find_first_of("/?#");
  Url url;
  if (!split_authority(rest.substr(0, slash), url)) return refused("bad host or port");
  if (slash != std::string_view::npos) url.path = rest.substr(slash, rest.find('#') - slash);
  if (url.path.empty() || url.path.front() != '/') url.path.insert(0, "/");
  return url;
}

std::string host_header(const Url& url) {
  std::string text = url.host.find(':') == std::string::npos ? url.host : "[" + url.host + "]";
  if (url.port != 80) text += fmt::format(":{}", url.port);
  return text;
}

Result<std::vector<std::string>> expand_pattern(std::string_view text) {
  const auto open = text.find('{');
  if (open == std::string_view::npos && text.find('}') == std::string_view::npos) {
    return std::vector<std::string>{std::string(text)};
  }
  const auto refused = [&] {
    return fail("url: {} is not allowed; one {{FIRST..LAST}} with whole numbers, FIRST up to LAST, at most {} of them",
                quote(text), kMostTexts);
  };
  const auto close = text.find('}');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return refused();
  if (text.find_first_of("{}", close + 1) != std::string_view::npos) return refused();
  const auto inside = text.substr(open + 1, close - open - 1);
  const auto dots = inside.find("..");
  if (dots == std::string_view::npos) return refused();
  const auto first = to_number(inside.substr(0, dots));
  const auto last = to_number(inside.substr(dots + 2));
  if (!first || !last || *first > *last || *last - *first >= kMostTexts) return refused();
  const std::size_t width = inside.front() == '0' ? dots : 0;
  std::vector<std::string> texts;
  for (auto i = *first; i <= *last; ++i) {
    texts.push_back(fmt::format("{}{:0{}}{}", text.substr(0, open), i, width, text.substr(close + 1)));
  }
  return texts;
}

Result<std::vector<std::string>> read_url_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail("url-file: {} cannot be read: {}", quote(path), std::strerror(errno));
  std::vector<std::string> texts;
  std::string line;
  while (std::getline(file, line)) {
    const auto text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    auto some = expand_pattern(text);
    if (!some) return tl::unexpected(some.error());
    if (texts.size() + some->size() > kMostTexts) return fail("url-file: '{}' has more than {} URLs", path, kMostTexts);
    texts.insert(texts.end(), some->begin(), some->end());
  }
  if (file.bad()) return fail("url-file: {} cannot be read: {}", quote(path), std::strerror(errno));
  if (texts.empty()) return fail("url-file: {} has no URL in it; one URL or path a line", quote(path));
  return texts;
}

}  // namespace convoy
