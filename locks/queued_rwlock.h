// queued_rwlock.h — The word and the engine that the queue reader/writer locks share.
// SPDX-License-Identifier: MIT
//
// A reader/writer spinlock of one word, and an exclusive lock as the queue of those who have to wait. A reader adds
// itself and then looks for a writer, a writer takes the free word; each is one read-modify-write. Who fails takes the
// queue lock, so that one thread at a time polls the word:
//
//   reader:  take back my count; enter the queue; await no writer; count; await that no writer was faster; leave it
//   writer:  enter the queue; free: take it; else set waiting, so that readers go to the queue, await the word with
//            nothing but waiting, and turn it into locked; leave the queue
//
// A policy says which queue lock there is, where the bits stand, and which readers may pass a writer who waits.
// Origin: see qrwlock.h and qrwlock_2013.h. Changed in both: unlock is a read-modify-write, for want of a byte of its
// own; there is no way for interrupts, whose readers pass the queue in the kernel.
//
// State word
//   bits 0..7 locked   all set while a writer holds the lock, by who takes the free word or the word with nothing but
//                      waiting; cleared by the holder in unlock()
//   waiting            1 in bits 0..7, or a bit of its own, bit 8: set by the holder of the queue lock, a writer;
//                      turned into locked by the same thread
//   readers            in units of 256, or of 512 above bit 8. A reader counts itself before it looks, so for a moment
//                      one may be counted who does not get the lock
//
// Invariants
//   I1  A writer holds => locked. A reader holds => it is counted, and locked is clear.
//   I2  waiting is set => a writer holds the queue lock. With waiting in bits 0..7, locked is then clear.
//   I3  Bits 0..7 are 0, waiting, or locked.
//
// Transitions (readers,waiting,locked), r > 0
//   (0,0,0) -> (0,0,1)  lock, try_lock              (r,w,l) -> (r+1,w,l)  lock_shared, held or to be undone
//   (r,0,l) -> (r,1,l)  writer who waits            (r,w,l) -> (r-1,w,l)  unlock_shared, undo
//   (0,1,0) -> (0,0,1)  writer who waited           (r,w,1) -> (r,w,0)    unlock
//
// Synchronizes-with
//   A: A1 unlock → A0 lock, lock_shared (critical section)
//   B: B1 unlock_shared → B0 lock (what readers read, before it is overwritten)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "world.h"

namespace convoy {

// Policy is the class that derives from it and has
//   void enter_queue(), leave_queue()       take and release its queue lock
//   bool passes(word)                       whether a reader who is counted and found a writer in `word` has the lock
//   static constexpr bool kCountsThenWaits  the reader at the head of the queue counts itself without the first await
template <World W, class Policy>
class CONVOY_CAPABILITY("queue rwlock") QueuedRwlock {
 public:
  QueuedRwlock(const QueuedRwlock&) = delete;
  QueuedRwlock& operator=(const QueuedRwlock&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    std::uint32_t word = 0;
    if (!word_.compare_exchange(word, kLocked, acquire)) [[unlikely]]  // A0, B0
      lock_slow();
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint32_t word = word_.load(relaxed);                            // relaxed: A0 follows
    return word == 0 && word_.compare_exchange(word, kLocked, acquire);  // A0, B0
  }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint32_t old = word_.fetch_sub(kLocked, release);  // A1
    if (!is_write_locked(old)) [[unlikely]]
      panic_unlock("unlock", old);
  }
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    const std::uint32_t old = word_.fetch_add(unit_, acquire);  // A0
    if (has_writer(old)) [[unlikely]]
      lock_shared_slow(old);
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    if (!admits_reader(word_.load(relaxed))) return false;            // relaxed: A0 follows
    if (admits_reader(word_.fetch_add(unit_, acquire))) return true;  // A0
    take_back_count();
    return false;
  }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {
    const std::uint32_t old = word_.fetch_sub(unit_, release);  // B1
    if (old < unit_) [[unlikely]]
      panic_unlock("unlock_shared", old);
  }
  // Relaxed: a hint. A reader who will not get the lock may be taken for one who has it.
  bool is_locked() const {
    const std::uint32_t word = word_.load(relaxed);
    return is_write_locked(word) || word >= unit_;
  }
  // I3. Requires: nothing moves.
  void check_invariants() const {
    const std::uint32_t low = word_.load(relaxed) & kLocked;
    if (low != 0 && low != kLocked && (has_waiting_bit() || low != waiting()))
      W::panic("queue rwlock: a state that has no meaning (I3)");
  }
  LockClass<W>& lock_class() { return class_; }

 protected:
  static constexpr std::uint32_t kLocked = 0xff;
  static constexpr std::uint32_t kReader = 0x100;          // waiting is 1 in the bits of locked
  static constexpr std::uint32_t kReaderAboveBit = 0x200;  // waiting is bit 8

  QueuedRwlock(LockClass<W>& lock_class, std::uint32_t reader_unit) : class_(lock_class), unit_(reader_unit) {}
  ~QueuedRwlock() = default;

  bool has_waiting_bit() const { return unit_ == kReaderAboveBit; }
  static bool is_write_locked(std::uint32_t word) { return (word & kLocked) == kLocked; }

  LockClass<W>& class_;

 private:
  Policy& policy() { return static_cast<Policy&>(*this); }

  std::uint32_t waiting() const { return has_waiting_bit() ? kReader : 1; }
  bool has_writer(std::uint32_t word) const { return (word & (unit_ - 1)) != 0; }  // holding or waiting
  bool admits_reader(std::uint32_t word) { return !has_writer(word) || policy().passes(word); }

  // Relaxed: the count guarded nothing. A read-modify-write carries on what others released.
  void take_back_count() { word_.fetch_sub(unit_, relaxed); }

  [[gnu::noinline]] void lock_slow() CONVOY_NO_TSA {
    policy().enter_queue();
    if (!try_lock()) {
      announce();
      take_when_drained();
    }
    policy().leave_queue();
  }

  // Sets waiting. Relaxed: it guards nothing. A writer without a bit of its own must await that locked is clear, and
  // until then another may take the lock.
  void announce() {
    if (has_waiting_bit()) {
      word_.fetch_or(waiting(), relaxed);
      return;
    }
    std::uint32_t word;
    do {
      word = W::await(word_, relaxed, [](std::uint32_t w) { return !is_write_locked(w); });
    } while (!word_.compare_exchange(word, word | waiting(), relaxed));
  }

  // Readers who count themselves in vain may spoil a try. Relaxed: A0 follows.
  void take_when_drained() {
    std::uint32_t word;
    do {
      word = W::await(word_, relaxed, [this](std::uint32_t w) { return w == waiting(); });
    } while (!word_.compare_exchange(word, kLocked, acquire));  // A0, B0
  }

  // Entered counted. Only a holder of the queue lock waits as a writer (I2), so at the head a writer is one who holds.
  [[gnu::noinline]] void lock_shared_slow(std::uint32_t old) {
    if (policy().passes(old)) return;
    take_back_count();
    policy().enter_queue();
    const auto no_writer = [](std::uint32_t w) { return !is_write_locked(w); };
    if constexpr (!Policy::kCountsThenWaits) W::await(word_, relaxed, no_writer);               // relaxed: A0 follows
    if (is_write_locked(word_.fetch_add(unit_, acquire))) W::await(word_, acquire, no_writer);  // A0, both
    policy().leave_queue();
  }

  [[noreturn, gnu::noinline]] void panic_unlock(const char* operation, std::uint32_t old) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.*s: %s of a queue rwlock that is not held so; word = { readers %u%s%s } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), operation, old / unit_,
                  is_write_locked(old) ? " locked" : "", !is_write_locked(old) && has_writer(old) ? " waiting" : "",
                  W::self().index);
    W::panic(text);
  }

  const std::uint32_t unit_;  // what a reader adds; set once
  Atomic<W, std::uint32_t> word_{0};
};

}  // namespace convoy
