// strict_http.h — A second reading of HTTP requests, strict and simple, to hold the parser's against.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convoy::testing {

struct StrictRequest {
  std::string target;
  std::string body;
  bool keep_alive = false;
  std::size_t size = 0;  // bytes of the request, empty lines ahead of it included

  bool operator==(const StrictRequest& other) const {
    return target == other.target && body == other.body && keep_alive == other.keep_alive && size == other.size;
  }
};

// Reads the request at the front of `text` from the whole of its bytes, by splitting it into lines: another way than
// the parser's, which goes byte by byte. Nothing for what RFC 9112 does not allow, or that is incomplete.
class StrictReader {
 public:
  static std::optional<StrictRequest> read(std::string_view text) {
    StrictReader reader(text);
    return reader.read_request();
  }

 private:
  using Lines = std::vector<std::string_view>;

  explicit StrictReader(std::string_view text) : all_(text.size()), rest_(text) {}

  static std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small;
  }
  static bool only(std::string_view text, std::string_view bytes) {
    return !text.empty() && text.find_first_not_of(bytes) == text.npos;
  }
  static std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    return first == text.npos ? std::string_view{} : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
  }
  static constexpr std::string_view kDigits = "0123456789";
  static constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  static constexpr std::string_view kToken =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static constexpr std::string_view kHost =
      "-._~!$&'()*+,;=%:[]0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

  // The next line, without its end. Nothing when it has none, or holds a control byte other than a tab.
  std::optional<std::string_view> line() {
    const auto end = rest_.find("\r\n");
    if (end == rest_.npos) return std::nullopt;
    const auto text = rest_.substr(0, end);
    for (const char c : text) {
      if ((static_cast<unsigned char>(c) < 32 && c != '\t') || c == 127) return std::nullopt;
    }
    rest_.remove_prefix(end + 2);
    return text;
  }

  // The lines up to an empty one.
  std::optional<Lines> block() {
    Lines lines;
    for (;;) {
      const auto next = line();
      if (!next) return std::nullopt;
      if (next->empty()) return lines;
      lines.push_back(*next);
    }
  }

  bool read_request_line(std::string_view text) {
    const auto first = text.find(' ');
    const auto last = text.rfind(' ');
    if (first == text.npos || first == last || !only(text.substr(0, first), kToken)) return false;
    const auto target = text.substr(first + 1, last - first - 1);
    const auto version = text.substr(last + 1);
    if (target.empty() || target.find_first_of(" \t") != target.npos) return false;
    if (version != "HTTP/1.0" && version != "HTTP/1.1") return false;
    one_one_ = version == "HTTP/1.1";
    request_.target = target;
    return true;
  }

  bool read_field(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == text.npos || !only(text.substr(0, colon), kToken)) return false;
    const auto name = lower(text.substr(0, colon));
    const auto value = trimmed(text.substr(colon + 1));
    if (name == "host") {
      if (!value.empty() && !only(value, kHost)) return false;
      ++hosts_;
    }
    if (name == "content-length") {
      if (length_ || !only(value, kDigits) || trimmed_zeros(value).size() > 5) return false;
      length_ = std::strtoul(std::string(value).c_str(), nullptr, 10);
    }
    if (name == "transfer-encoding") {
      if (chunked_ || lower(value) != "chunked") return false;
      chunked_ = true;
    }
    if (name == "connection") {
      // Between commas, with a comma at both ends.
      std::string list = ",";
      for (const char c : lower(value)) list += c;
      list += ',';
      for (std::size_t at = 0, comma; (comma = list.find(',', at + 1)) != list.npos; at = comma) {
        const auto option = trimmed(std::string_view(list).substr(at + 1, comma - at - 1));
        close_ = close_ || option == "close";
        keep_ = keep_ || option == "keep-alive";
      }
    }
    return true;
  }

  static std::string_view trimmed_zeros(std::string_view digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  }

  bool read_chunks() {
    for (;;) {
      const auto head = line();
      if (!head) return false;
      const auto digits = head->substr(0, head->find(';'));
      if (!only(digits, kHex) || trimmed_zeros(digits).size() > 5) return false;
      const std::size_t size = std::strtoul(std::string(digits).c_str(), nullptr, 16);
      if (size == 0) break;
      if (rest_.size() < size + 2 || rest_.substr(size, 2) != "\r\n") return false;
      request_.body += rest_.substr(0, size);
      rest_.remove_prefix(size + 2);
    }
    const auto trailers = block();
    return trailers && std::all_of(trailers->begin(), trailers->end(), [](std::string_view text) {
             const auto name = lower(text.substr(0, text.find(':')));
             return text.find(':') != text.npos && only(name, kToken) && name != "content-length" &&
                    name != "transfer-encoding" && name != "host";
           });
  }

  std::optional<StrictRequest> read_request() {
    while (rest_.substr(0, 2) == "\r\n") rest_.remove_prefix(2);
    const auto head = block();
    if (!head || head->empty() || !read_request_line(head->front())) return std::nullopt;
    for (std::size_t i = 1; i < head->size(); ++i) {
      if (!read_field((*head)[i])) return std::nullopt;
    }
    if (hosts_ > 1 || (one_one_ && hosts_ == 0)) return std::nullopt;
    if (chunked_ && (length_ || !one_one_)) return std::nullopt;
    if (chunked_ && !read_chunks()) return std::nullopt;
    if (length_) {
      if (*length_ > rest_.size()) return std::nullopt;
      request_.body = rest_.substr(0, *length_);
      rest_.remove_prefix(*length_);
    }
    if (request_.body.size() > 64 * 1024) return std::nullopt;
    request_.keep_alive = !close_ && (one_one_ || keep_);
    request_.size = all_ - rest_.size();
    return request_;
  }

  const std::size_t all_;
  std::string_view rest_;
  StrictRequest request_;
  bool one_one_ = false;
  bool chunked_ = false;
  bool close_ = false;
  bool keep_ = false;
  int hosts_ = 0;
  std::optional<std::size_t> length_;
};

}  // namespace convoy::testing
