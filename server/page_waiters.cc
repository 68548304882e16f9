// page_waiters.cc — Standing in line, and being called.
// SPDX-License-Identifier: MIT
#include "server/page_waiters.h"

#include <algorithm>

#include "server/event_loop.h"

namespace convoy {

PageWaiters::Announcement::Announcement(PageWaiters& waiters) : waiters_(waiters) {
  waiters.waiting_.fetch_add(1);
  const std::lock_guard guard(waiters.mutex_);
  seen_ = waiters.let_go_;
}

PageWaiters::Announcement::~Announcement() { waiters_.waiting_.fetch_sub(1); }

bool PageWaiters::wait(Connection& connection, const Announcement& announcement) {
  const std::lock_guard guard(mutex_);
  if (let_go_ != announcement.seen_) return false;
  const auto starves_later = [](std::int64_t until, const Connection* other) {
    return until < other->starved_until_ns;
  };
  line_.insert(std::upper_bound(line_.begin(), line_.end(), connection.starved_until_ns, starves_later), &connection);
  waiting_.fetch_add(1);
  return true;
}

bool PageWaiters::leave(Connection& connection) {
  // Relaxed: one that has just begun to wait may be missed, and is found at the next sweep.
  if (waiting_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard guard(mutex_);
  const auto place = std::find(line_.begin(), line_.end(), &connection);
  if (place == line_.end()) return false;
  line_.erase(place);
  waiting_.fetch_sub(1);
  return true;
}

void PageWaiters::wake_first() {
  Connection* first = nullptr;
  {
    const std::lock_guard guard(mutex_);
    ++let_go_;
    if (line_.empty()) return;
    first = line_.front();
    line_.pop_front();
    waiting_.fetch_sub(1);
  }
  first->loop.submit(*first);
}

}  // namespace convoy
