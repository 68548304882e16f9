// input_buffer.h — The bytes of a connection that were received and not yet parsed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace convoy {

// Grows by doubling up to kMaxBytes, which is more than the parser lets stand unparsed.
class InputBuffer {
 public:
  static constexpr std::size_t kFirstBytes = 4 * 1024;
  static constexpr std::size_t kMaxBytes = 32 * 1024;

  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Room for more bytes behind those that are there; at least one byte unless kMaxBytes are unparsed.
  char* room() {
    if (capacity_ == 0 || (end_ == capacity_ && begin_ == 0 && capacity_ < kMaxBytes)) grow();
    if (end_ == capacity_ && begin_ > 0) {
      std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    return data_.get() + end_;
  }
  std::size_t room_bytes() const { return capacity_ - end_; }
  void received(std::size_t bytes) { end_ += bytes; }

 private:
  void grow() {
    const std::size_t larger = capacity_ == 0 ? kFirstBytes : 2 * capacity_;
    std::unique_ptr<char[]> data(new char[larger]);
    if (end_ > 0) std::memcpy(data.get(), data_.get(), end_);
    data_ = std::move(data);
    capacity_ = larger;
  }

  std::unique_ptr<char[]> data_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace convoy
