// input_buffer.h — The bytes of a connection that were received and not yet parsed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace convoy {

// Grows by doubling up to kMaxBytes, which is more than the parser lets stand unparsed. Has no memory until bytes come:
// 10,000 idle connections must not cost a buffer each.
class InputBuffer {
 public:
  static constexpr std::size_t kFirstBytes = 512;  // most requests fit
  static constexpr std::size_t kMaxBytes = 32 * 1024;

  std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }

  // Takes over the first bytes of a request that were received elsewhere. Requires: empty(), at most kMaxBytes.
  void assign(std::string_view bytes) {
    begin_ = end_ = 0;
    while (capacity_ < bytes.size()) grow();
    std::memcpy(data_.get(), bytes.data(), bytes.size());
    end_ = bytes.size();
  }

  // Gives back what an unusually long request took. Requires: empty().
  void release_memory() {
    if (capacity_ <= kFirstBytes) return;
    data_.reset();
    capacity_ = begin_ = end_ = 0;
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
