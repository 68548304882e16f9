// lock_order.h — Which lock class is taken under which, and a report when that could end in a deadlock.
// SPDX-License-Identifier: MIT
//
// A deadlock needs an unlucky schedule, an order that allows one does not: a thread that waits for a lock of class B
// while it holds one of class A draws the edge A → B, with both call sites, and an edge that closes a cycle is reported
// at once (ABBA), whoever drew the others, and whenever. Three more are reported the moment they are seen:
//
//   two locks of one class   are taken in rising order of W::ordinal. The locks of a class differ in nothing else, so
//                            only their place can be the order that all threads keep
//   a lock that is held      is waited for by its holder, unless it takes it shared both times: whether a reader may
//                            enter again past a waiting writer is the policy's matter
//   a sleep                  under a lock whose policy spins: its waiters burn their cores until the sleeper is awake
//                            again. Reported where a sleeping policy is taken, whether or not it has to wait
//                            this time (the kernel's might_sleep()), and in park()
//
// try_lock() waits for nobody and draws no edge; what is taken under a lock that was got so does. A shared acquisition
// counts as an exclusive one: a waiting writer can stand between two readers.
//
// Seen is what goes through Guard, TryGuard and SharedGuard, 32 locks a thread at a time. A policy without
// lock_class(), as the small spinlocks are, has a class only inside an AnyLock; bare, it takes part in the last two
// rules alone. No report means that no such order was seen, not that there is none.
//
// A world checks when W::kChecksOrder is true: ExploreWorld, and RealWorld without NDEBUG. In others nothing of this is
// compiled in. Origin: Linux lockdep. What we changed: no contexts of interrupts, no subclasses but the order by place.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "traits.h"
#include "world.h"

namespace convoy {

// A place among the classes of a world; 0 for a lock whose class is not known.
using OrderPosition = std::uint8_t;

struct HeldLock {
  const void* lock = nullptr;
  const Site* site = nullptr;
  std::uint64_t place = 0;  // among the locks of its class
  OrderPosition position = 0;
  bool shared = false;
  bool spins = false;  // its policy does
};

// The locks that a thread holds, in the order in which it took them.
class HeldLocks {
 public:
  void add(const HeldLock& lock) {
    if (count_ < held_.size()) held_[count_++] = lock;
  }
  // The last acquisition of it; they need not end in the order of a stack.
  void remove(const void* lock) {
    for (std::size_t i = count_; i-- > 0;) {
      if (held_[i].lock != lock) continue;
      for (--count_; i < count_; ++i) held_[i] = held_[i + 1];
      return;
    }
  }
  void clear() { count_ = 0; }
  const HeldLock* begin() const { return held_.data(); }
  const HeldLock* end() const { return held_.data() + count_; }

 private:
  std::array<HeldLock, 32> held_{};
  std::size_t count_ = 0;
};

class OrderReport {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    std::va_list arguments;
    va_start(arguments, format);
    const int length = std::vsnprintf(text_ + length_, sizeof text_ - length_, format, arguments);
    va_end(arguments);
    length_ += static_cast<std::size_t>(length);
    if (length_ >= sizeof text_) length_ = sizeof text_ - 1;
  }
  bool empty() const { return length_ == 0; }
  const char* text() const { return text_; }

 private:
  char text_[1024] = {};
  std::size_t length_ = 0;
};

// The classes of a world and the edges between them. Plain data: its world lets one thread at a time to it.
class LockOrder {
 public:
  static constexpr std::size_t kMaxClasses = 64;

  // `name` outlives the class. 0 when there are 63 classes already.
  OrderPosition add(std::string_view name) {
    for (std::size_t i = 1; i < kMaxClasses; ++i) {
      if ((used_ & bit(i)) != 0) continue;
      used_ |= bit(i);
      names_[i] = name;
      return static_cast<OrderPosition>(i);
    }
    return 0;
  }
  void remove(OrderPosition position) {
    if (position == 0) return;
    used_ &= ~bit(position);
    taken_under_[position] = 0;
    slept_under_[position] = 0;
    for (std::size_t i = 0; i < kMaxClasses; ++i) {
      taken_under_[i] &= ~bit(position);
      slept_under_[i] &= ~bit(position);
    }
  }
  // Forgets all classes.
  void clear() {
    taken_under_.fill(0);
    slept_under_.fill(0);
    used_ = 0;
  }

  // A thread that holds `held` is about to wait for `taken`. Says what is wrong with that.
  void take_under(const HeldLock& held, const HeldLock& taken, OrderReport& report) {
    if (held.lock == taken.lock) {
      if (held.shared && taken.shared) return;
      report.add("lock order: a thread waits for a lock that it holds: ");
      return say_edge(held.position, taken.position, {held.site, taken.site}, report);
    }
    if (held.position == 0 || taken.position == 0) return;
    if (held.position == taken.position) {
      if (held.place <= taken.place) return;
      report.add("lock order: ABBA: two locks of one class are taken in falling order: ");
      return say_edge(held.position, taken.position, {held.site, taken.site}, report);
    }
    if ((taken_under_[held.position] & bit(taken.position)) != 0) return;
    taken_under_[held.position] |= bit(taken.position);
    sites_[held.position][taken.position] = {held.site, taken.site};
    say_cycle(held.position, taken.position, report);
  }

  // The first time that a thread may sleep for a lock at `taken` (0: for something else) while it holds `held`, which
  // spins. True when that is new.
  bool sleep_under(OrderPosition held, OrderPosition taken) {
    const bool is_new = (slept_under_[held] & bit(taken)) == 0;
    slept_under_[held] |= bit(taken);
    return is_new;
  }

  void say_lock(OrderPosition position, const Site* site, OrderReport& report) const {
    const std::string_view name = position == 0 ? "a lock of no known class" : names_[position];
    report.add("%.*s (%s)", static_cast<int>(name.size()), name.data(), site->name);
  }

 private:
  struct Sites {
    const Site* held;
    const Site* taken;
  };

  static constexpr std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << i; }

  void say_edge(std::size_t held, std::size_t taken, Sites sites, OrderReport& report) const {
    say_lock(static_cast<OrderPosition>(taken), sites.taken, report);
    report.add(" under ");
    say_lock(static_cast<OrderPosition>(held), sites.held, report);
  }

  // Whether `from` was taken, directly or not, under `to`: the new edge from → to then closes a cycle.
  void say_cycle(std::size_t from, std::size_t to, OrderReport& report) const {
    // Breadth first, so that the shortest path is told.
    std::array<std::uint8_t, kMaxClasses> came_from{};
    std::array<std::uint8_t, kMaxClasses> queue{};
    std::uint64_t seen = bit(to);
    std::size_t head = 0, tail = 0;
    queue[tail++] = static_cast<std::uint8_t>(to);
    while (head != tail && (seen & bit(from)) == 0) {
      const std::size_t at = queue[head++];
      for (std::size_t next = 1; next < kMaxClasses; ++next) {
        if ((taken_under_[at] & ~seen & bit(next)) == 0) continue;
        seen |= bit(next);
        came_from[next] = static_cast<std::uint8_t>(at);
        queue[tail++] = static_cast<std::uint8_t>(next);
      }
    }
    if ((seen & bit(from)) == 0) return;
    report.add("lock order: ABBA: ");
    say_edge(from, to, sites_[from][to], report);
    const char* separator = "; seen before: ";
    for (std::size_t at = from; at != to; at = came_from[at]) {
      report.add("%s", separator);
      say_edge(came_from[at], at, sites_[came_from[at]][at], report);
      separator = ", ";
    }
  }

  std::uint64_t used_ = 0;
  std::array<std::string_view, kMaxClasses> names_{};
  std::array<std::uint64_t, kMaxClasses> taken_under_{};  // bit j of element i: the edge i → j
  std::array<std::uint64_t, kMaxClasses> slept_under_{};
  Sites sites_[kMaxClasses][kMaxClasses];  // of the edges that there are
};

namespace detail {

template <class L>
bool spins(const L& lock) {
  if constexpr (requires { lock.traits(); }) {
    return lock.traits().needs_core_per_thread;
  } else if constexpr (requires { L::kTraits; }) {
    return L::kTraits.needs_core_per_thread;
  } else {
    return false;
  }
}

// In a simulated world an ordinal belongs to an atomic or plain object: that of the first in the lock.
template <class W, class L>
std::uint64_t place_of(const L& lock) {
  const auto* const bytes = reinterpret_cast<const char*>(&lock);
  for (std::size_t i = 0; i < sizeof(L); ++i) {
    if (const std::uint64_t ordinal = W::ordinal(bytes + i); ordinal != 0) return ordinal;
  }
  return 0;
}

template <class W, class L>
HeldLock held_lock(L& lock, const Site& site, bool shared) {
  HeldLock held{&lock, &site, 0, 0, shared, spins(lock)};
  if constexpr (requires { lock.lock_class(); }) {
    held.position = lock.lock_class().order_position();
    held.place = place_of<W>(lock);
  }
  return held;
}

}  // namespace detail

// The calling thread may sleep now, for a lock or (null) for something else.
template <class W>
void check_sleep(const HeldLock* wanted = nullptr) {
  if constexpr (W::kChecksOrder) {
    for (const HeldLock& held : W::held_locks()) {
      if (!held.spins) continue;
      OrderReport report;
      {
        const auto order = W::lock_order();
        if (!order->sleep_under(held.position, wanted == nullptr ? 0 : wanted->position)) continue;
        report.add("lock order: sleeps while holding a spinning lock: ");
        if (wanted != nullptr) {
          order->say_lock(wanted->position, wanted->site, report);
          report.add(" under ");
        }
        order->say_lock(held.position, held.site, report);
      }
      W::warn(report.text());
    }
  }
}

// For guards: the calling thread is about to wait for the lock.
template <class W, class L>
void check_order([[maybe_unused]] L& lock, [[maybe_unused]] const Site& site, [[maybe_unused]] bool shared) {
  if constexpr (W::kChecksOrder) {
    const HeldLocks& all_held = W::held_locks();
    if (all_held.begin() == all_held.end()) return;
    const HeldLock wanted = detail::held_lock<W>(lock, site, shared);
    OrderReport report;
    for (const HeldLock& held : all_held) {
      W::lock_order()->take_under(held, wanted, report);
      if (!report.empty()) W::panic(report.text());
    }
    if (!wanted.spins) check_sleep<W>(&wanted);
  }
}

// For guards: it has the lock; it lets it go.
template <class W, class L>
void note_held([[maybe_unused]] L& lock, [[maybe_unused]] const Site& site, [[maybe_unused]] bool shared) {
  if constexpr (W::kChecksOrder) W::held_locks().add(detail::held_lock<W>(lock, site, shared));
}
template <class W>
void note_released([[maybe_unused]] const void* lock) {
  if constexpr (W::kChecksOrder) W::held_locks().remove(lock);
}

}  // namespace convoy
