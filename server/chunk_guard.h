// chunk_guard.h — Strict reading of a chunked body's framing, ahead of llhttp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace convoy {

// Walks over the bytes of a chunked body and says how far they are beyond doubt (RFC 9112, 7.1), however they are
// split. Looks at the framing only: chunk sizes, the CR LF behind each chunk, trailer lines, the empty line at the end.
//
// llhttp 8 takes any two bytes for the CR LF behind a chunk, LF LF for the empty line at the end, and any trailer; a
// proxy that reads strictly would see the body end elsewhere. Not thread-safe.
class ChunkGuard {
 public:
  static constexpr unsigned kMaxSizeDigits = 16;  // of a chunk's size, leading zeros included
  static constexpr unsigned kMaxExtension = 256;  // bytes of one chunk's extensions
  static constexpr unsigned kMaxTrailers = 100;   // lines
  static constexpr std::size_t kMaxTrailerBytes = 8 * 1024;

  enum class State : std::uint8_t {
    kMore,     // all bytes are good, and more belong to the body
    kEnded,    // the good bytes end with the body
    kRefused,  // the byte behind the good ones is not; status() and reason() say why
  };
  struct Step {
    State state;
    std::size_t good;  // bytes at the front of what scan() was given
  };

  // Refuses chunks that bring the body to more than `max_body` bytes as soon as their size is read.
  explicit ChunkGuard(std::uint64_t max_body) : max_body_(max_body) {}

  // Forgets everything: the next byte is the first of another body.
  void restart();

  // Goes on with the bytes behind those of the last call. Not after kEnded or kRefused.
  Step scan(std::string_view bytes);

  // After kRefused: 400, 413 or 431, and a phrase in static storage.
  int status() const { return status_; }
  std::string_view reason() const { return reason_; }

 private:
  enum class At : std::uint8_t { kSize, kExtension, kSizeLf, kData, kDataCr, kDataLf, kName, kValue, kLineLf, kEndLf };

  bool take(unsigned char byte);
  bool take_size(unsigned char byte);
  bool take_name(unsigned char byte);
  bool end_of_size();
  bool end_of_name();
  bool refuse(int status, std::string_view reason);

  const std::uint64_t max_body_;
  At at_ = At::kSize;
  unsigned digits_ = 0;     // of the size that is being read
  unsigned extension_ = 0;  // bytes of its extensions
  std::uint64_t size_ = 0;  // of the chunk; counts down in kData
  std::uint64_t body_ = 0;  // of all chunks so far
  unsigned trailers_ = 0;   // lines
  std::size_t trailer_bytes_ = 0;
  char name_[18] = {};  // of the trailer that is being read, in small letters; longer ones are cut
  unsigned name_size_ = 0;
  int status_ = 0;
  std::string_view reason_;
};

}  // namespace convoy
