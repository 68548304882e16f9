// outgoing.h — One answer on its way into a socket: its head, then the pinned pages of a file, window by window.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "server/open_file.h"
#include "server/page_source.h"

namespace convoy {

// Filled by a worker, sent by a worker or a loop: one owner at a time. Pages stay pinned from map_window() until the
// socket has taken them. At most kWindowPages are pinned at a time, so a large file costs no more memory than a small
// one.
class Outgoing {
 public:
  static constexpr std::size_t kWindowPages = 64;
  enum class Progress { kSent, kBlocked, kBroken };

  explicit Outgoing(PageSource& pages) : pages_(pages) {}
  ~Outgoing() { reset(); }
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  // The head of the answer (and a small body); to be filled before the first send().
  std::string& head() { return head_; }

  // The rest of the answer is all of `file`.
  void set_file(std::shared_ptr<const OpenFile> file);

  // Maps and pins the next pages of the file until a window is full, the file ends, or the cache is full: one page is
  // then enough of a window. May sleep in page locks: for workers only. On an error nothing of the window is pinned.
  tl::expected<void, PageError> map_window();

  // Sends what is mapped with gathered, non-blocking sends until it is sent or the socket is full. kBroken: the peer is
  // gone.
  Progress send(int socket);

  // True while pages of the file have yet to be mapped.
  bool wants_window() const { return file_ != nullptr && next_page_ < end_page_; }
  bool has_unsent() const { return head_sent_ < head_.size() || first_unsent_ < pins_.size(); }
  bool active() const { return has_unsent() || wants_window(); }

  // Drops what is left, pins included.
  void reset();

 private:
  void advance(std::size_t sent);
  void unpin_window();

  PageSource& pages_;
  std::string head_;
  std::size_t head_sent_ = 0;
  std::shared_ptr<const OpenFile> file_;
  std::uint64_t next_page_ = 0;
  std::uint64_t end_page_ = 0;
  std::vector<PinnedPage> pins_;
  std::size_t first_unsent_ = 0;   // index into pins_
  std::size_t sent_of_first_ = 0;  // bytes of that page that are sent
};

}  // namespace convoy
