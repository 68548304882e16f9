// chunk_guard.cc — The states of a chunked body, byte by byte; the data of a chunk at a stride.
// SPDX-License-Identifier: MIT
#include "server/chunk_guard.h"

#include <algorithm>

#include "server/ascii.h"

namespace convoy {
namespace {

// The value of a hexadecimal digit, or -1.
int hex_value(unsigned char byte) {
  if (byte >= '0' && byte <= '9') return byte - '0';
  const unsigned char small = byte | 0x20;
  return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
}

bool is_control(unsigned char byte) { return (byte < 32 && byte != '\t') || byte == 127; }

}  // namespace

void ChunkGuard::restart() {
  at_ = At::kSize;
  digits_ = extension_ = trailers_ = name_size_ = 0;
  size_ = body_ = 0;
  trailer_bytes_ = 0;
  status_ = 0;
}

bool ChunkGuard::refuse(int status, std::string_view reason) {
  status_ = status;
  reason_ = reason;
  return false;
}

ChunkGuard::Step ChunkGuard::scan(std::string_view bytes) {
  std::size_t i = 0;
  while (i < bytes.size()) {
    if (at_ == At::kData) {
      const auto stride = std::min<std::uint64_t>(size_, bytes.size() - i);
      size_ -= stride;
      i += stride;
      if (size_ == 0) at_ = At::kDataCr;
      continue;
    }
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (!take(byte)) return {State::kRefused, i};
    ++i;
    if (at_ == At::kEndLf && byte == '\n') return {State::kEnded, i};
  }
  return {State::kMore, i};
}

bool ChunkGuard::take(unsigned char byte) {
  switch (at_) {
    case At::kSize:
      return take_size(byte);
    case At::kExtension:
      if (byte == '\r') return at_ = At::kSizeLf, true;
      if (is_control(byte)) return refuse(400, "a control byte in a chunk extension");
      return ++extension_ <= kMaxExtension || refuse(431, "chunk extensions of more than 256 bytes");
    case At::kSizeLf:
      return byte == '\n' ? end_of_size() : refuse(400, "a chunk size that does not end in CR LF");
    case At::kData:
      break;
    case At::kDataCr:
      at_ = At::kDataLf;
      return byte == '\r' || refuse(400, "a chunk that is longer than its size");
    case At::kDataLf:
      at_ = At::kSize;
      digits_ = extension_ = 0;
      size_ = 0;
      return byte == '\n' || refuse(400, "a chunk that does not end in CR LF");
    case At::kName:
      return take_name(byte);
    case At::kValue:
      if (byte == '\r') return at_ = At::kLineLf, true;
      if (is_control(byte)) return refuse(400, "a control byte in a trailer");
      return ++trailer_bytes_ <= kMaxTrailerBytes || refuse(431, "trailers of more than 8 KiB");
    case At::kLineLf:
      at_ = At::kName;
      name_size_ = 0;
      return byte == '\n' || refuse(400, "a trailer that does not end in CR LF");
    case At::kEndLf:
      return byte == '\n' || refuse(400, "a chunked body that does not end in CR LF");
  }
  return true;
}

bool ChunkGuard::take_size(unsigned char byte) {
  if (const int value = hex_value(byte); value >= 0) {
    if (++digits_ > kMaxSizeDigits) return refuse(400, "a chunk size of more than 16 digits");
    size_ = size_ * 16 + static_cast<unsigned>(value);
    return size_ <= max_body_ - body_ || refuse(413, "a body of more than 64 KiB");
  }
  if (digits_ == 0 || (byte != '\r' && byte != ';')) return refuse(400, "a malformed chunk size");
  at_ = byte == '\r' ? At::kSizeLf : At::kExtension;
  return true;
}

bool ChunkGuard::end_of_size() {
  body_ += size_;
  at_ = size_ == 0 ? At::kName : At::kData;
  name_size_ = 0;
  return true;
}

bool ChunkGuard::take_name(unsigned char byte) {
  if (byte == '\r' && name_size_ == 0) return at_ = At::kEndLf, true;
  if (byte == ':') return end_of_name();
  if (!is_token_byte(static_cast<char>(byte))) return refuse(400, "a malformed trailer");
  if (++trailer_bytes_ > kMaxTrailerBytes) return refuse(431, "trailers of more than 8 KiB");
  if (name_size_ < sizeof name_) name_[name_size_++] = to_lower(static_cast<char>(byte));
  return true;
}

// Fields that say how a message is framed or routed are read before the body; behind it they could only mislead.
bool ChunkGuard::end_of_name() {
  const std::string_view name(name_, name_size_);
  if (name.empty()) return refuse(400, "a malformed trailer");
  if (name == "content-length" || name == "transfer-encoding" || name == "host") {
    return refuse(400, "a trailer that may only stand in the head");
  }
  if (++trailers_ > kMaxTrailers) return refuse(431, "more than 100 trailers");
  at_ = At::kValue;
  return true;
}

}  // namespace convoy
