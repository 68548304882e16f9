// rwlock_3_12.h — Reader/writer spinlock of one signed word, without a queue.
// SPDX-License-Identifier: MIT
//
// The word is a bias less one for each reader, less the whole bias for each writer. lock_shared: subtract one; not
// negative: held. lock: subtract the bias; zero: held. Who fails adds back what it took, awaits by plain reads that the
// word is positive (a reader) or the whole bias (a writer), and subtracts again. Fairness: none. Readers that overlap
// keep writers out for ever, and a writer that fails makes others fail for as long as its bias is gone. Every release
// makes all waiters miss, and all waiting writers write the line twice. Needs a core per thread. To be chosen for very
// short sections with few writers, and to see what queueing mends.
//
// Origin: Linux 3.12, x86 rwlock_t. Changed: always the 64-bit word and the bias of 2^32 that the kernel took for more
// than 2048 CPUs, since a world may have more threads than that and each may be a writer that fails; try_lock looks
// before it takes, and takes by a compare-and-exchange that has nothing to give back.
//
// State word: bias - readers - bias * writers, those who are about to fail included; signed.
// Invariants
//   I1  A writer holds => the word is not positive. Only readers hold => it is less than the bias.
//   I2  The word never exceeds the bias.
// Transitions, w the word
//   w -> w - 1     lock_shared, try_lock_shared: held if w > 0, else undone
//   w -> w - bias  lock: held if w == bias, else undone; try_lock only from w == bias
//   w -> w + 1     unlock_shared, undo        w -> w + bias  unlock, undo
//
// Synchronizes-with
//   A: A1 unlock → A0 lock, lock_shared (critical section)
//   B: B1 unlock_shared → B0 lock (what readers read, before it is overwritten)
#pragma once

#include <cstdint>
#include <cstdio>

#include "annotations.h"
#include "lock_class.h"
#include "traits.h"
#include "world.h"

namespace convoy {

template <World W>
class CONVOY_CAPABILITY("rwlock-3.12") Rwlock312 {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "rwlock-3.12",
      .kind = Kind::kSharedSpinning,
      .fairness = "none; readers starve writers",
      .origin = "Linux 3.12, x86",
      .needs_core_per_thread = true,
  };
  explicit Rwlock312(LockClass<W>& lock_class) : class_(lock_class) {}
  Rwlock312(const Rwlock312&) = delete;
  Rwlock312& operator=(const Rwlock312&) = delete;

  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    if (word_.fetch_sub(kBias, acquire) != kBias) [[unlikely]]  // A0, B0
      lock_slow();
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint64_t word = word_.load(relaxed);                          // relaxed: A0 follows
    return word == kBias && word_.compare_exchange(word, 0, acquire);  // A0, B0
  }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA {
    const std::uint64_t old = word_.fetch_add(kBias, release);  // A1
    if (is_positive(old)) [[unlikely]]
      panic_unlock("unlock", old);  // I1
  }
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    if (!is_positive(word_.fetch_sub(kReader, acquire))) [[unlikely]]  // A0
      lock_shared_slow();
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA {
    if (!is_positive(word_.load(relaxed))) return false;              // relaxed: A0 follows
    if (is_positive(word_.fetch_sub(kReader, acquire))) return true;  // A0
    give_back(kReader);
    return false;
  }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA {
    const std::uint64_t old = word_.fetch_add(kReader, release);  // B1
    // No reader is counted, whoever holds it.
    if ((old & (kBias - 1)) == 0) [[unlikely]]
      panic_unlock("unlock_shared", old);
  }
  bool is_locked() const { return word_.load(relaxed) != kBias; }  // relaxed: a hint
  // I2. Requires: nothing moves.
  void check_invariants() const {
    const std::uint64_t word = word_.load(relaxed);
    if (is_positive(word) && word > kBias) W::panic("rwlock-3.12: more was given back than was taken (I2)");
  }
  LockClass<W>& lock_class() { return class_; }

 private:
  static constexpr std::uint64_t kReader = 1;
  static constexpr std::uint64_t kBias = std::uint64_t{1} << 32;
  static bool is_positive(std::uint64_t word) { return static_cast<std::int64_t>(word) > 0; }

  // Relaxed: what was taken guarded nothing. Read-modify-writes carry on what others released.
  void give_back(std::uint64_t taken) { word_.fetch_add(taken, relaxed); }

  // Entered with a bias taken in vain. Relaxed: A0 follows.
  [[gnu::noinline]] void lock_slow() {
    do {
      give_back(kBias);
      W::await(word_, relaxed, [](std::uint64_t w) { return w == kBias; });
    } while (word_.fetch_sub(kBias, acquire) != kBias);  // A0, B0
  }
  // Entered with one taken in vain. Relaxed: A0 follows.
  [[gnu::noinline]] void lock_shared_slow() {
    do {
      give_back(kReader);
      W::await(word_, relaxed, is_positive);
    } while (!is_positive(word_.fetch_sub(kReader, acquire)));  // A0
  }

  [[noreturn, gnu::noinline]] void panic_unlock(const char* operation, std::uint64_t old) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.*s: %s of an rwlock-3.12 that is not held so; word = { bias - %lld } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), operation,
                  static_cast<long long>(kBias - old), W::self().index);
    W::panic(text);
  }

  LockClass<W>& class_;
  Atomic<W, std::uint64_t> word_{kBias};
};

}  // namespace convoy
