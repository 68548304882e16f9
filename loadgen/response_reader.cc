// response_reader.cc — Finds the end of an HTTP answer in the bytes of a connection.
// SPDX-License-Identifier: MIT
#include "loadgen/response_reader.h"

#include <llhttp.h>
#include <strings.h>

#include <cstring>
#include <optional>

namespace convoy {
namespace {

struct PlainHead {
  int status = 0;
  bool keep_alive = true;
  std::size_t size = 0;
  std::uint64_t content_length = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_with_word(std::string_view line, std::string_view lower_case) {
  return line.size() >= lower_case.size() && strncasecmp(line.data(), lower_case.data(), lower_case.size()) == 0;
}

std::string_view value_of(std::string_view line, std::size_t name_size) {
  line.remove_prefix(name_size);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return line;
}

bool read_length(std::string_view digits, std::uint64_t& value) {
  if (digits.empty() || digits.size() > 18) return false;
  value = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

// Reads "HTTP/1.x 200"; false when the line is anything out of the ordinary.
bool read_status_line(std::string_view bytes, PlainHead& head) {
  constexpr std::size_t kShortest = sizeof("HTTP/1.1 200\r\n\r\n") - 1;
  if (bytes.size() < kShortest || std::memcmp(bytes.data(), "HTTP/1.", 7) != 0) return false;
  if ((bytes[7] != '0' && bytes[7] != '1') || bytes[8] != ' ' || (bytes[12] != ' ' && bytes[12] != '\r')) return false;
  if (!is_digit(bytes[9]) || !is_digit(bytes[10]) || !is_digit(bytes[11])) return false;
  head.status = (bytes[9] - '0') * 100 + (bytes[10] - '0') * 10 + (bytes[11] - '0');
  head.keep_alive = bytes[7] == '1';
  return head.status >= 200 && head.status < 600 && head.status != 204 && head.status != 304;
}

// Takes one header line into account; false when it needs the real parser.
bool read_header(std::string_view line, PlainHead& head, bool& has_length) {
  switch (line.front()) {
    case 'c':
    case 'C':
      if (starts_with_word(line, "content-length:")) {
        if (has_length) return false;
        has_length = true;
        return read_length(value_of(line, 15), head.content_length);
      }
      if (!starts_with_word(line, "connection:")) return true;
      if (const auto value = value_of(line, 11); starts_with_word(value, "close") && value.size() == 5) {
        head.keep_alive = false;
      } else if (starts_with_word(value, "keep-alive") && value.size() == 10) {
        head.keep_alive = true;
      } else {
        return false;
      }
      return true;
    case 't':
    case 'T':
      return !starts_with_word(line, "transfer-encoding:");
    case ' ':
    case '\t':
      return false;
    default:
      return true;
  }
}

// Reads a head that stands whole at the start of `bytes` and has a Content-Length; nothing when llhttp must decide.
std::optional<PlainHead> read_plain_head(std::string_view bytes) {
  PlainHead head;
  if (!read_status_line(bytes, head)) return std::nullopt;
  bool has_length = false;
  for (std::size_t at = 0, line_number = 0;; ++line_number) {
    const auto* newline = static_cast<const char*>(std::memchr(bytes.data() + at, '\n', bytes.size() - at));
    if (newline == nullptr) return std::nullopt;
    const auto end = static_cast<std::size_t>(newline - bytes.data());
    if (end == at || bytes[end - 1] != '\r') return std::nullopt;
    const auto line = bytes.substr(at, end - 1 - at);
    at = end + 1;
    if (line.empty()) {
      if (!has_length) return std::nullopt;
      head.size = at;
      return head;
    }
    if (line_number > 0 && !read_header(line, head, has_length)) return std::nullopt;
  }
}

}  // namespace

// llhttp with what its callbacks find out.
struct ResponseReader::Parser {
  Parser() {
    llhttp_settings_init(&settings);
    settings.on_headers_complete = [](llhttp_t* p) {
      const int status = llhttp_get_status_code(p);
      return status == 204 || status == 304 ? 1 : 0;  // 1: no body follows, whatever the head says.
    };
    settings.on_body = [](llhttp_t* p, const char*, std::size_t size) {
      static_cast<Parser*>(p->data)->body_bytes += size;
      return 0;
    };
    settings.on_message_complete = [](llhttp_t* p) {
      const int status = llhttp_get_status_code(p);
      if (status >= 100 && status < 200 && status != 101) return 0;  // Informational: the answer is yet to come.
      static_cast<Parser*>(p->data)->complete = true;
      static_cast<Parser*>(p->data)->keep_alive = llhttp_should_keep_alive(p) != 0;
      return static_cast<int>(HPE_PAUSED);
    };
  }

  void start() {
    llhttp_init(&state, HTTP_RESPONSE, &settings);
    state.data = this;
    complete = keep_alive = false;
    body_bytes = 0;
  }

  llhttp_settings_t settings;
  llhttp_t state;
  bool complete = false;
  bool keep_alive = false;
  std::uint64_t body_bytes = 0;
};

ResponseReader::ResponseReader() = default;
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;
ResponseReader::~ResponseReader() = default;

void ResponseReader::reset() {
  mode_ = Mode::kStart;
  body_bytes_ = 0;
}

ResponseReader::State ResponseReader::feed(std::string_view bytes) {
  std::uint64_t size = bytes.size();
  if (mode_ == Mode::kStart) {
    const auto head = read_plain_head(bytes);
    if (!head) {
      mode_ = Mode::kParser;
      if (!parser_) parser_ = std::make_unique<Parser>();
      parser_->start();
      return feed_parser(bytes);
    }
    mode_ = Mode::kCountBody;
    status_ = head->status;
    keep_alive_ = head->keep_alive;
    missing_ = head->content_length;
    size -= head->size;
  } else if (mode_ == Mode::kParser) {
    return feed_parser(bytes);
  }
  if (size > missing_) return State::kBad;
  missing_ -= size;
  body_bytes_ += size;
  return missing_ == 0 ? State::kComplete : State::kMore;
}

ResponseReader::State ResponseReader::feed_parser(std::string_view bytes) {
  const auto error = llhttp_execute(&parser_->state, bytes.data(), bytes.size());
  if (!parser_->complete) return error == HPE_OK ? State::kMore : State::kBad;
  if (llhttp_get_error_pos(&parser_->state) != bytes.data() + bytes.size()) return State::kBad;
  status_ = llhttp_get_status_code(&parser_->state);
  keep_alive_ = parser_->keep_alive;
  body_bytes_ = parser_->body_bytes;
  return State::kComplete;
}

ResponseReader::State ResponseReader::end_of_file() {
  if (mode_ != Mode::kParser) return State::kShort;
  llhttp_finish(&parser_->state);
  if (!parser_->complete) return State::kShort;
  status_ = llhttp_get_status_code(&parser_->state);
  keep_alive_ = false;
  body_bytes_ = parser_->body_bytes;
  return State::kComplete;
}

}  // namespace convoy
