// http_parser.h — Incremental parser of HTTP/1.0 and HTTP/1.1 requests: llhttp behind guards of our own.
// SPDX-License-Identifier: MIT
#pragma once

#include <llhttp.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/chunk_guard.h"

namespace convoy {

enum class Method : std::uint8_t { kGet, kHead, kPut, kOther };

// One request as far as this server looks at it. Valid until the parser is fed again.
struct Request {
  Method method = Method::kOther;
  int version_minor = 1;     // HTTP/1.0 or HTTP/1.1
  bool keep_alive = false;   // the client allows another request on this connection
  bool chunked = false;      // the body came in chunks
  std::uint64_t length = 0;  // Content-Length, 0 without one
  std::string target;        // as sent: "/path?query" or "http://host/path"
  std::string body;          // at most HttpParser::kMaxBody bytes
};

// A request that is refused while it is read. The connection cannot be used after it.
struct ParseError {
  int status = 0;           // 400, 405, 413, 414, 431, 501 or 505
  std::string_view reason;  // a phrase for the body of the answer; static storage
};

// Reads the requests of one connection out of its input buffer. The head of a request is scanned as it arrives, however
// it is split, and given to llhttp once it is complete; a body is given to llhttp as it arrives.
//
// llhttp is lenient in ways that let two parties disagree about where a request ends. So the scan refuses, before
// llhttp sees them: bare LF and CR, control bytes, folded lines, names that are not tokens, other versions than 1.0 and
// 1.1 (HTTP/0.9 included), a missing or second Host or one that names no host, Content-Length beside Transfer-Encoding,
// and any transfer coding but a final `chunked`; ChunkGuard does the same for chunked bodies. Not thread-safe: a
// connection has one owner at a time.
class HttpParser {
 public:
  static constexpr std::size_t kMaxRequestLine = 8 * 1024;  // as nginx and httpd: about 8 KiB
  static constexpr std::size_t kMaxHeaders = 16 * 1024;     // bytes of all header lines
  static constexpr unsigned kMaxFields = 100;               // httpd's LimitRequestFields
  static constexpr std::size_t kMaxBody = 64 * 1024;
  static constexpr std::size_t kMaxChunkedBytes = 2 * kMaxBody;  // a chunked body with its sizes and trailers
  static constexpr unsigned kMaxEmptyLines = 16;                 // ahead of a request line
  static constexpr std::size_t kKeptBytes = 512;                 // what release_memory() leaves to each string

  enum class Outcome { kNeedMore, kRequest, kError };
  struct Step {
    Outcome outcome;
    std::size_t consumed;  // bytes that the caller drops from the front of its input
  };

  HttpParser();
  HttpParser(const HttpParser&) = delete;
  HttpParser& operator=(const HttpParser&) = delete;

  // Goes on with `input`: every byte that was received and not yet consumed, in order. After kError the parser is dead.
  Step parse(std::string_view input);

  // The request of the last kRequest.
  const Request& request() const { return request_; }
  // What was wrong, after kError.
  const ParseError& error() const { return error_; }

  // True once for a request that waits for `100 Continue` before it sends its body.
  bool take_continue();

  // Gives back what an unusually long target or body took. Between requests; request() is then void.
  void release_memory();

  // True when no byte of a further request has been seen but empty lines.
  bool between_requests() const { return complete_ || (phase_ == Phase::kHead && scanned_ == 0); }

 private:
  enum class Phase : std::uint8_t { kHead, kBody, kDead };

  void start_request();
  bool refuse(int status, std::string_view reason);
  // Scans new bytes of the head. True while all is well; `head_end_` is set once the empty line stands in `input`.
  bool scan_head(std::string_view input);
  bool end_of_line(std::string_view line);
  bool check_request_line(std::string_view line);
  bool check_field(std::string_view line);
  bool check_transfer_encoding(std::string_view value);
  void read_connection(std::string_view value);
  bool check_head();
  Step feed_head(std::string_view input, std::size_t skipped);
  Step feed_body(std::string_view bytes, std::size_t already_consumed);
  Outcome feed(std::string_view bytes);

  static int on_headers_complete(llhttp_t* parser);
  static int on_body(llhttp_t* parser, const char* at, std::size_t length);
  static int on_message_complete(llhttp_t* parser);
  static const llhttp_settings_t& settings();

  llhttp_t llhttp_;
  Phase phase_ = Phase::kHead;
  bool complete_ = false;
  bool wants_continue_ = false;
  bool line_one_ = true;           // the next line is the request line
  bool has_length_ = false;        // Content-Length seen
  bool has_encoding_ = false;      // Transfer-Encoding seen
  bool says_close_ = false;        // Connection: close
  bool says_keep_alive_ = false;   // Connection: keep-alive
  unsigned hosts_ = 0;             // Host lines seen
  unsigned fields_ = 0;            // header lines seen
  unsigned empty_lines_ = 0;       // ahead of the request line
  std::size_t scanned_ = 0;        // bytes of the input that the scan has passed
  std::size_t line_start_ = 0;     // where the line that is being scanned begins
  std::size_t headers_start_ = 0;  // where the header lines begin
  std::size_t head_end_ = 0;       // bytes of the whole head, 0 while it is incomplete
  std::size_t chunked_bytes_ = 0;  // bytes fed of a chunked body
  std::size_t fed_ = 0;            // bytes that llhttp took of what it was given last
  ChunkGuard chunks_{kMaxBody};
  Request request_;
  ParseError error_;
};

}  // namespace convoy
