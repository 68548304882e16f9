// http_parser.cc — The scan of a request's head, and llhttp behind it.
// SPDX-License-Identifier: MIT
#include "server/http_parser.h"

#include <algorithm>
#include <array>

#include "server/ascii.h"

namespace convoy {
namespace {

enum Byte : std::uint8_t { kPlain, kControl, kCr, kLf };

constexpr std::array<std::uint8_t, 256> kByteClass = [] {
  std::array<std::uint8_t, 256> table{};
  for (unsigned c = 0; c < 32; ++c) table[c] = kControl;
  table['\t'] = kPlain;
  table['\r'] = kCr;
  table['\n'] = kLf;
  table[127] = kControl;
  return table;
}();

constexpr std::array<bool, 256> kTokenByte = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 256; ++c) table[c] = is_token_byte(static_cast<char>(c));
  return table;
}();

// What a Host line may name: a registered name, an address, an IPv6 address in brackets, a port (RFC 3986, 3.2.2).
constexpr std::array<bool, 256> kHostByte = [] {
  std::array<bool, 256> table{};
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = true;
  for (const char c : std::string_view("-._~!$&'()*+,;=%:[]")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return kTokenByte[c]; });
}

bool is_host(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return kHostByte[c]; });
}

// The methods of RFC 9110 and PATCH; every other one is answered with 501.
bool is_known_method(std::string_view name) {
  static constexpr std::string_view kKnown[] = {"POST", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

HttpParser::HttpParser() { start_request(); }

void HttpParser::start_request() {
  llhttp_init(&llhttp_, HTTP_REQUEST, &settings());
  llhttp_.data = this;
  phase_ = Phase::kHead;
  chunks_.restart();
  complete_ = wants_continue_ = has_length_ = has_encoding_ = says_close_ = says_keep_alive_ = false;
  line_one_ = true;
  hosts_ = fields_ = empty_lines_ = 0;
  scanned_ = line_start_ = headers_start_ = head_end_ = chunked_bytes_ = 0;
}

bool HttpParser::refuse(int status, std::string_view reason) {
  error_ = {status, reason};
  phase_ = Phase::kDead;
  return false;
}

bool HttpParser::take_continue() {
  const bool wanted = phase_ == Phase::kBody && wants_continue_;
  if (wanted) wants_continue_ = false;
  return wanted;
}

HttpParser::Step HttpParser::parse(std::string_view input) {
  if (phase_ == Phase::kDead) return {Outcome::kError, 0};
  if (complete_) start_request();
  if (phase_ == Phase::kBody) return feed_body(input, 0);

  // Empty lines ahead of a request line are skipped (RFC 9112, 2.2), a few of them.
  std::size_t skipped = 0;
  while (scanned_ == 0 && input.substr(skipped, 2) == "\r\n") {
    skipped += 2;
    if (++empty_lines_ > kMaxEmptyLines) {
      refuse(400, "more than 16 empty lines ahead of a request");
      return {Outcome::kError, skipped};
    }
  }
  input.remove_prefix(skipped);
  if (!scan_head(input)) return {Outcome::kError, skipped};
  if (head_end_ == 0) return {Outcome::kNeedMore, skipped};
  if (!check_head()) return {Outcome::kError, skipped};
  return feed_head(input, skipped);
}

void HttpParser::release_memory() {
  if (request_.target.capacity() > kKeptBytes) std::string().swap(request_.target);
  if (request_.body.capacity() > kKeptBytes) std::string().swap(request_.body);
}

bool HttpParser::scan_head(std::string_view input) {
  std::size_t at = scanned_;
  for (; at < input.size(); ++at) {
    const auto byte = kByteClass[static_cast<unsigned char>(input[at])];
    if (byte == kPlain) [[likely]]
      continue;
    if (byte == kControl) return refuse(400, "a control byte in the head of the request");
    if (byte == kLf) return refuse(400, "a line that does not end in CR LF");
    if (at + 1 == input.size()) break;  // The LF may come with the next bytes.
    if (input[at + 1] != '\n') return refuse(400, "a CR without LF");
    const std::string_view line = input.substr(line_start_, at - line_start_);
    ++at;
    line_start_ = at + 1;
    if (line.empty() && !line_one_) {
      head_end_ = scanned_ = at + 1;
      return true;
    }
    if (!end_of_line(line)) return false;
    if (line_start_ - headers_start_ > kMaxHeaders) return refuse(431, "header lines of more than 16 KiB");
  }
  scanned_ = at;
  if (line_one_ && at > kMaxRequestLine) return refuse(414, "a request line of more than 8 KiB");
  if (!line_one_ && at - headers_start_ > kMaxHeaders) return refuse(431, "header lines of more than 16 KiB");
  return true;
}

bool HttpParser::end_of_line(std::string_view line) {
  if (!line_one_) return check_field(line);
  line_one_ = false;
  headers_start_ = line_start_;
  return check_request_line(line);
}

bool HttpParser::check_request_line(std::string_view line) {
  if (line.size() > kMaxRequestLine) return refuse(414, "a request line of more than 8 KiB");
  const auto first = line.find(' ');
  const auto second = first == line.npos ? line.npos : line.find(' ', first + 1);
  if (second == line.npos) return refuse(400, "a request line without a version");
  const auto method = line.substr(0, first);
  const auto target = line.substr(first + 1, second - first - 1);
  const auto version = line.substr(second + 1);
  if (!is_token(method) || target.empty() || target.find('\t') != target.npos) {
    return refuse(400, "a malformed request line");
  }
  if (version.size() != 8 || version.substr(0, 5) != "HTTP/" || !is_digit(version[5]) || version[6] != '.' ||
      !is_digit(version[7])) {
    return refuse(400, "a malformed version");
  }
  if (version[5] != '1' || version[7] > '1') return refuse(505, "only HTTP/1.0 and HTTP/1.1 are spoken here");
  request_.version_minor = version[7] - '0';
  if (method == "GET")
    request_.method = Method::kGet;
  else if (method == "HEAD")
    request_.method = Method::kHead;
  else if (method == "PUT")
    request_.method = Method::kPut;
  else if (method == "CONNECT")
    return refuse(405, "CONNECT is not allowed");
  else if (is_known_method(method))
    request_.method = Method::kOther;
  else
    return refuse(501, "an unknown method");
  request_.target.assign(target);
  request_.body.clear();
  return true;
}

bool HttpParser::check_field(std::string_view line) {
  if (++fields_ > kMaxFields) return refuse(431, "more than 100 header lines");
  const auto colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon))) return refuse(400, "a malformed header line");
  const auto name = line.substr(0, colon);
  const auto value = trim(line.substr(colon + 1));
  switch (name.size()) {
    case 4:
      if (!iequals(name, "host")) return true;
      if (++hosts_ > 1) return refuse(400, "two Host lines");
      return is_host(value) || refuse(400, "a Host line that names no host");
    case 6:
      if (iequals(name, "expect") && iequals(value, "100-continue")) wants_continue_ = request_.version_minor == 1;
      return true;
    case 10:
      if (iequals(name, "connection")) read_connection(value);
      return true;
    case 14:
      if (!iequals(name, "content-length")) return true;
      if (has_length_) return refuse(400, "two Content-Length lines");
      has_length_ = true;
      if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
        return refuse(400, "a Content-Length that is not a number");
      }
      return true;
    case 17:
      return !iequals(name, "transfer-encoding") || check_transfer_encoding(value);
    default:
      return true;
  }
}

// Not left to llhttp, which overlooks an option that has a tab behind it and, in HTTP/1.0, a `close` beside a
// `keep-alive`.
void HttpParser::read_connection(std::string_view value) {
  for (;;) {
    const auto comma = value.find(',');
    const auto option = trim(value.substr(0, comma));
    says_close_ = says_close_ || iequals(option, "close");
    says_keep_alive_ = says_keep_alive_ || iequals(option, "keep-alive");
    if (comma == value.npos) return;
    value.remove_prefix(comma + 1);
  }
}

bool HttpParser::check_transfer_encoding(std::string_view value) {
  if (has_encoding_) return refuse(400, "two Transfer-Encoding lines");
  has_encoding_ = true;
  bool chunked = false;
  bool unknown = false;
  for (;;) {
    if (chunked) return refuse(400, "chunked is not the last transfer coding");
    const auto comma = value.find(',');
    (iequals(trim(value.substr(0, comma)), "chunked") ? chunked : unknown) = true;
    if (comma == value.npos) break;
    value.remove_prefix(comma + 1);
  }
  if (unknown) return refuse(501, "an unknown transfer coding");
  return true;
}

bool HttpParser::check_head() {
  if (request_.version_minor == 1 && hosts_ == 0) return refuse(400, "no Host line");
  if (has_encoding_ && has_length_) return refuse(400, "Content-Length beside Transfer-Encoding");
  if (has_encoding_ && request_.version_minor == 0) return refuse(400, "Transfer-Encoding in HTTP/1.0");
  request_.chunked = has_encoding_;
  request_.keep_alive = !says_close_ && (request_.version_minor == 1 || says_keep_alive_);
  return true;
}

// Gives llhttp the head alone, so that what stands behind it is guarded first.
HttpParser::Step HttpParser::feed_head(std::string_view input, std::size_t skipped) {
  phase_ = Phase::kBody;
  const Outcome outcome = feed(input.substr(0, head_end_));
  if (outcome == Outcome::kError) return {outcome, skipped};
  if (outcome == Outcome::kRequest) return {outcome, skipped + fed_};
  return feed_body(input.substr(head_end_), skipped + head_end_);
}

HttpParser::Step HttpParser::feed_body(std::string_view bytes, std::size_t already_consumed) {
  if (bytes.empty()) return {Outcome::kNeedMore, already_consumed};
  if (!request_.chunked) {
    const Outcome outcome = feed(bytes);
    return {outcome, already_consumed + (outcome == Outcome::kError ? 0 : fed_)};
  }
  // The good bytes first: what llhttp says about them must not depend on where the input was split.
  const auto [state, good] = chunks_.scan(bytes);
  const Outcome outcome = good > 0 ? feed(bytes.substr(0, good)) : Outcome::kNeedMore;
  if (outcome == Outcome::kError) return {outcome, already_consumed};
  const bool ended = state == ChunkGuard::State::kEnded;
  if ((outcome == Outcome::kRequest) != ended) {
    refuse(400, "a malformed body");
  } else if (state == ChunkGuard::State::kRefused) {
    refuse(chunks_.status(), chunks_.reason());
  } else if ((chunked_bytes_ += good) > kMaxChunkedBytes) {
    refuse(413, "a chunked body of more than 128 KiB");
  } else {
    return {outcome, already_consumed + good};
  }
  return {Outcome::kError, already_consumed};
}

// Gives `bytes` to llhttp, which takes them all (`fed_`) unless the request ends within them.
HttpParser::Outcome HttpParser::feed(std::string_view bytes) {
  const auto error = llhttp_execute(&llhttp_, bytes.data(), bytes.size());
  fed_ = bytes.size();
  if (complete_) {
    fed_ = static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - bytes.data());
    return Outcome::kRequest;
  }
  if (error == HPE_OK) return Outcome::kNeedMore;
  if (phase_ != Phase::kDead) refuse(400, "a malformed request");
  return Outcome::kError;
}

int HttpParser::on_headers_complete(llhttp_t* parser) {
  auto& self = *static_cast<HttpParser*>(parser->data);
  parser->upgrade = 0;  // No protocol is switched to: what follows is HTTP.
  self.request_.length = parser->content_length;
  if (self.has_length_ && parser->content_length > kMaxBody) {
    self.refuse(413, "a body of more than 64 KiB");
    return -1;
  }
  return 0;
}

int HttpParser::on_body(llhttp_t* parser, const char* at, std::size_t length) {
  auto& self = *static_cast<HttpParser*>(parser->data);
  if (self.request_.body.size() + length > kMaxBody) {
    self.refuse(413, "a body of more than 64 KiB");
    return HPE_USER;
  }
  self.request_.body.append(at, length);
  return 0;
}

int HttpParser::on_message_complete(llhttp_t* parser) {
  static_cast<HttpParser*>(parser->data)->complete_ = true;
  return HPE_PAUSED;  // A pipelined request stays in the input until it is asked for.
}

const llhttp_settings_t& HttpParser::settings() {
  static const llhttp_settings_t kSettings = [] {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_headers_complete = on_headers_complete;
    settings.on_body = on_body;
    settings.on_message_complete = on_message_complete;
    return settings;
  }();
  return kSettings;
}

}  // namespace convoy
