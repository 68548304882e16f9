// page_waiters.h — Connections that wait for a page of a full page cache.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

namespace convoy {

struct Connection;

// A line: who lets pages go wakes the first, which tries again on a worker. When that one got some, or needs none any
// more, it wakes the next, and again when it lets its pages go in turn; one whose pages were taken by a newcomer stands
// first again. Nobody in line has a page pinned, and whoever has is sending, so the line moves or ends by send-timeout.
//
//   to wait: announce; try once more; still full: wait(), unless pages were let go since the announcement
//
// Thread-safe. Costs who lets pages go one look at a word while nobody waits.
class PageWaiters {
 public:
  // Pages that are let go while it lives are noticed by wait().
  class Announcement {
   public:
    explicit Announcement(PageWaiters& waiters);
    ~Announcement();
    Announcement(const Announcement&) = delete;
    Announcement& operator=(const Announcement&) = delete;

   private:
    friend class PageWaiters;
    PageWaiters& waiters_;
    std::uint64_t seen_;  // of let_go_
  };

  // Gives `connection` up: it stands in line, by its starved_until_ns. False when pages were let go since the
  // announcement: the caller still has it, and tries again.
  bool wait(Connection& connection, const Announcement& announcement);

  // Takes it out of the line; false when it does not stand there (any more).
  bool leave(Connection& connection);

  // Pages were let go.
  void room() {
    // Relaxed: who announces itself at this moment may be missed. The next who lets pages go finds it, and so does the
    // loops' sweep.
    if (waiting_.load(std::memory_order_relaxed) != 0) wake_first();
  }

 private:
  void wake_first();

  std::atomic<std::uint32_t> waiting_{0};  // in line, or announced
  std::mutex mutex_;                       // protects the rest
  std::deque<Connection*> line_;
  std::uint64_t let_go_ = 0;  // how often pages were let go while somebody was waiting
};

}  // namespace convoy
