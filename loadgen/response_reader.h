// response_reader.h — Finds the end of an HTTP answer in the bytes of a connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace convoy {

// Reads answers to GET requests that are not pipelined. Plain answers (the whole head in one piece, a Content-Length,
// no transfer coding) are read by a few lines here, because the generator's price per transaction is the generator's
// worth; everything else goes through llhttp from its first byte. The bytes of bodies are counted and dropped.
// Not thread-safe; one a connection.
class ResponseReader {
 public:
  enum class State : std::uint8_t {
    kMore,      // The answer is not complete.
    kComplete,  // It is, and nothing stands behind it.
    kBad,       // It is no HTTP answer, or bytes stand behind it that nobody asked for.
    kShort,     // The connection ended inside of it.
  };

  ResponseReader();
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;
  ~ResponseReader();

  // Forgets the last answer; call before each request.
  void reset();

  // Takes the next bytes of the connection, at least one. Must not be called after kComplete or kBad.
  State feed(std::string_view bytes);

  // Says that no more bytes come. An answer without a length ends here, complete.
  State end_of_file();

  bool empty() const { return mode_ == Mode::kStart; }  // No byte has come.

  // Of a complete answer.
  int status() const { return status_; }
  bool keep_alive() const { return keep_alive_; }
  std::uint64_t body_bytes() const { return body_bytes_; }

 private:
  enum class Mode : std::uint8_t { kStart, kCountBody, kParser };
  struct Parser;

  State feed_parser(std::string_view bytes);

  Mode mode_ = Mode::kStart;
  bool keep_alive_ = false;
  int status_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::uint64_t missing_ = 0;  // Of the body, in kCountBody.
  std::unique_ptr<Parser> parser_;
};

}  // namespace convoy
