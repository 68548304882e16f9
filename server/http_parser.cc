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
  for (unsigned c = '0'; c <= '9'; ++c) table[c] = true;
  for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return kTokenByte[c]; });
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
  complete_ = wants_continue_ = has_length_ = has_encoding_ = false;
  line_one_ = true;
  hosts_ = fields_ = 0;
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
  if (phase_ == Phase::kBody) return feed(input, 0);

  // Empty lines ahead of a request line are skipped (RFC 9112, 2.2).
  std::size_t skipped = 0;
  if (scanned_ == 0) {
    while (input.substr(0, 2) == "\r\n") {
      input.remove_prefix(2);
      skipped += 2;
    }
  }
  if (!scan_head(input)) return {Outcome::kError, skipped};
  if (head_end_ == 0) return {Outcome::kNeedMore, skipped};
  if (!check_head()) return {Outcome::kError, skipped};
  return feed(input, skipped);
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
      if (iequals(name, "host") && ++hosts_ > 1) return refuse(400, "two Host lines");
      return true;
    case 6:
      if (iequals(name, "expect") && iequals(value, "100-continue")) wants_continue_ = request_.version_minor == 1;
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
  return true;
}

HttpParser::Step HttpParser::feed(std::string_view bytes, std::size_t already_consumed) {
  if (phase_ == Phase::kHead) phase_ = Phase::kBody;
  const auto error = llhttp_execute(&llhttp_, bytes.data(), bytes.size());
  if (complete_) {
    const auto used = static_cast<std::size_t>(llhttp_get_error_pos(&llhttp_) - bytes.data());
    return {Outcome::kRequest, already_consumed + used};
  }
  if (error != HPE_OK) {
    if (phase_ != Phase::kDead) refuse(400, "a malformed request");
    return {Outcome::kError, already_consumed};
  }
  if (request_.chunked && (chunked_bytes_ += bytes.size()) > kMaxChunkedBytes) {
    refuse(413, "a body of more than 64 KiB");
    return {Outcome::kError, already_consumed};
  }
  return {Outcome::kNeedMore, already_consumed + bytes.size()};
}

int HttpParser::on_headers_complete(llhttp_t* parser) {
  auto& self = *static_cast<HttpParser*>(parser->data);
  parser->upgrade = 0;  // No protocol is switched to: what follows is HTTP.
  self.request_.length = parser->content_length;
  self.request_.keep_alive = llhttp_should_keep_alive(parser) != 0;
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
