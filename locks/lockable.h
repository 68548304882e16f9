// lockable.h — The standard's lock words as concepts, and guards that carry the call site.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>

#include "annotations.h"
#include "lock_order.h"
#include "world.h"

namespace convoy {

template <class L>
concept Lockable = requires(L l) {
  l.lock();
  { l.try_lock() } -> std::same_as<bool>;
  l.unlock();
};

// An exclusive wait that may end without the lock. A deadline that has passed still tries once.
template <class L>
concept TimedLockable = Lockable<L> && requires(L l, Deadline d) {
  { l.try_lock_until(d) } -> std::same_as<bool>;
};

template <class L>
concept SharedLockable = Lockable<L> && requires(L l) {
  l.lock_shared();
  { l.try_lock_shared() } -> std::same_as<bool>;
  l.unlock_shared();
};

// A shared wait that may end without the lock, as TimedLockable.
template <class L>
concept SharedTimedLockable = SharedLockable<L> && requires(L l, Deadline d) {
  { l.try_lock_shared_until(d) } -> std::same_as<bool>;
};

// What the page role asks for: whether somebody holds the lock, which may be out of date when it is returned.
template <class L>
concept PageLockable = Lockable<L> && requires(const L l) {
  { l.is_locked() } -> std::same_as<bool>;
};

// Holds an exclusive lock for a scope; released by the thread that took it.
template <class W, Lockable L>
class [[nodiscard]] CONVOY_SCOPED_CAPABILITY Guard {
 public:
  Guard(L& lock, const Site& site) CONVOY_ACQUIRE(lock) CONVOY_NO_TSA : lock_(lock) {
    W::at(site);
    check_order<W>(lock_, site, false);
    lock_.lock();
    note_held<W>(lock_, site, false);
  }
  ~Guard() CONVOY_RELEASE() CONVOY_NO_TSA {
    note_released<W>(&lock_);
    lock_.unlock();
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  L& lock_;
};

// Holds it if it was free. Clang's analysis believes that it is held: test it at once, `if (!guard) return`.
template <class W, Lockable L>
class [[nodiscard]] CONVOY_SCOPED_CAPABILITY TryGuard {
 public:
  TryGuard(L& lock, const Site& site) CONVOY_ACQUIRE(lock) CONVOY_NO_TSA : lock_(lock) {
    W::at(site);
    held_ = lock_.try_lock();
    if (held_) note_held<W>(lock_, site, false);
  }
  ~TryGuard() CONVOY_RELEASE() CONVOY_NO_TSA {
    if (!held_) return;
    note_released<W>(&lock_);
    lock_.unlock();
  }
  TryGuard(const TryGuard&) = delete;
  TryGuard& operator=(const TryGuard&) = delete;
  explicit operator bool() const { return held_; }

 private:
  L& lock_;
  bool held_ = false;
};

template <class W, SharedLockable L>
class [[nodiscard]] CONVOY_SCOPED_CAPABILITY SharedGuard {
 public:
  SharedGuard(L& lock, const Site& site) CONVOY_ACQUIRE_SHARED(lock) CONVOY_NO_TSA : lock_(lock) {
    W::at(site);
    check_order<W>(lock_, site, true);
    lock_.lock_shared();
    note_held<W>(lock_, site, true);
  }
  ~SharedGuard() CONVOY_RELEASE_GENERIC() CONVOY_NO_TSA {
    note_released<W>(&lock_);
    lock_.unlock_shared();
  }
  SharedGuard(const SharedGuard&) = delete;
  SharedGuard& operator=(const SharedGuard&) = delete;

 private:
  L& lock_;
};

}  // namespace convoy
