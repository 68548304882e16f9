// outgoing.cc — Gathering and sending.
// SPDX-License-Identifier: MIT
#include "server/outgoing.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace convoy {

void Outgoing::set_file(std::shared_ptr<const OpenFile> file) {
  file_ = std::move(file);
  next_page_ = 0;
  end_page_ = (file_->size() + kPageBytes - 1) / kPageBytes;
}

tl::expected<void, PageError> Outgoing::map_window() {
  unpin_window();
  const std::uint64_t end = std::min<std::uint64_t>(end_page_, next_page_ + kWindowPages);
  pins_.reserve(end - next_page_);  // A page is appended under its lock: no allocation there.
  for (; next_page_ < end; ++next_page_) {
    auto mapped = pages_.map(*file_, next_page_, pins_);
    if (mapped) continue;
    // What is pinned can be sent and unpinned, and makes room.
    if (mapped.error().kind == PageError::Kind::kFull && !pins_.empty()) break;
    unpin_window();
    return mapped;
  }
  return {};
}

Outgoing::Progress Outgoing::send(int socket) {
  while (has_unsent()) {
    iovec parts[1 + kWindowPages];
    std::size_t count = 0;
    if (head_sent_ < head_.size()) parts[count++] = {head_.data() + head_sent_, head_.size() - head_sent_};
    std::size_t skip = sent_of_first_;
    for (std::size_t i = first_unsent_; i < pins_.size(); ++i) {
      // sendmsg only reads; iovec has no const.
      parts[count++] = {const_cast<std::byte*>(pins_[i].data) + skip, pins_[i].size - skip};
      skip = 0;
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == ENOBUFS ? Progress::kBlocked : Progress::kBroken;
    }
    advance(static_cast<std::size_t>(sent));
  }
  unpin_window();
  return Progress::kSent;
}

void Outgoing::advance(std::size_t sent) {
  const std::size_t of_head = std::min(sent, head_.size() - head_sent_);
  head_sent_ += of_head;
  sent -= of_head;
  while (sent > 0) {
    const std::size_t left = pins_[first_unsent_].size - sent_of_first_;
    if (sent < left) {
      sent_of_first_ += sent;
      return;
    }
    sent -= left;
    sent_of_first_ = 0;
    ++first_unsent_;
  }
}

void Outgoing::unpin_window() {
  pages_.unpin(pins_);
  first_unsent_ = sent_of_first_ = 0;
}

void Outgoing::reset() {
  unpin_window();
  head_.clear();
  head_sent_ = 0;
  file_.reset();
  next_page_ = end_page_ = 0;
}

}  // namespace convoy
