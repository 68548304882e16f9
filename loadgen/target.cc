// target.cc — The server a run drives and the requests it is sent, ready to write.
// SPDX-License-Identifier: MIT
#include "loadgen/target.h"

#include <netdb.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>

#include "common/parse.h"

namespace convoy {
namespace {

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || std::strchr("!#$%&'*+-.^_`|~", c) != nullptr;
  });
}

bool is_value(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](unsigned char x, unsigned char y) {
           return std::tolower(x) == std::tolower(y);
         });
}

// The header lines common to all requests, the Host line included.
Result<std::string> header_block(const TargetSpec& spec, const Url& origin) {
  std::string own;
  bool has_host = false, has_connection = false;
  for (const auto& line : spec.headers) {
    const auto colon = line.find(':');
    const std::string_view name = std::string_view(line).substr(0, colon);
    if (colon == std::string::npos || !is_token(name) || !is_value(line)) {
      return fail("header: {} is not allowed; 'Name: value' on one line", quote(line));
    }
    if (same_word(name, "Content-Length") || same_word(name, "Transfer-Encoding")) {
      return fail("header: {} is not allowed; a GET request has no body", quote(line));
    }
    has_host = has_host || same_word(name, "Host");
    has_connection = has_connection || same_word(name, "Connection");
    own += line + "\r\n";
  }
  std::string block;
  if (!has_host) block += "Host: " + host_header(origin) + "\r\n";
  if (!has_connection && !spec.keep_alive) block += "Connection: close\r\n";
  return block + own + "\r\n";
}

// Gathers the paths of `texts`; every full URL among them must name the same server.
Result<void> gather(const std::vector<std::string>& texts, std::optional<Url>& origin,
                    std::vector<std::string>& paths) {
  for (const auto& text : texts) {
    const bool is_path = !text.empty() && text.front() == '/';
    // A bare path is read as one of a server with some name, so that both kinds obey the same rules.
    auto url = parse_url(is_path ? "http://localhost" + text : text);
    if (!url) return tl::unexpected(url.error());
    paths.push_back(url->path);
    if (is_path) continue;
    if (origin && (origin->host != url->host || origin->port != url->port)) {
      return fail("url: {} is of another server than {}; one run drives one server", quote(text), host_header(*origin));
    }
    origin = std::move(*url);
  }
  return {};
}

}  // namespace

Result<Address> resolve(const Url& url) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
  if (error != 0) return fail("the address of {} cannot be found: {}", quote(url.host), gai_strerror(error));
  Address address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.size = found->ai_addrlen;
  freeaddrinfo(found);
  return address;
}

Result<Target> make_target(const TargetSpec& spec) {
  Target target;
  std::optional<Url> origin;
  std::vector<std::string> paths;
  if (!spec.url.empty()) {
    auto texts = expand_pattern(spec.url);
    if (!texts) return tl::unexpected(texts.error());
    if (auto ok = gather(*texts, origin, paths); !ok) return tl::unexpected(ok.error());
    if (origin) target.name = paths.size() == 1 ? paths.front() : spec.url.substr(spec.url.find('/', 7));
    if (!origin) target.name = spec.url;
  }
  if (!spec.url_file.empty()) {
    auto texts = read_url_file(spec.url_file);
    if (!texts) return tl::unexpected(texts.error());
    paths.clear();
    if (auto ok = gather(*texts, origin, paths); !ok) return tl::unexpected(ok.error());
    target.name = spec.url_file;
  }
  if (!spec.urls.empty()) {
    paths.clear();
    for (const auto& text : spec.urls) {
      auto texts = expand_pattern(text);
      if (!texts) return tl::unexpected(texts.error());
      if (auto ok = gather(*texts, origin, paths); !ok) return tl::unexpected(ok.error());
    }
    target.name = spec.urls.size() == 1 ? spec.urls.front()
                                        : fmt::format("{} and {} more", spec.urls.front(), spec.urls.size() - 1);
  }
  if (!origin) return fail("url: no server is named; http://HOST[:PORT][/PATH]");
  if (paths.empty()) return fail("url: nothing to ask for; http://HOST[:PORT][/PATH]");
  const auto headers = header_block(spec, *origin);
  if (!headers) return tl::unexpected(headers.error());
  for (const auto& path : paths) target.requests.push_back("GET " + path + " HTTP/1.1\r\n" + *headers);
  target.origin = std::move(*origin);
  return target;
}

}  // namespace convoy
