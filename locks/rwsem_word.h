// rwsem_word.h — The words of the rwsems of 2023, and the small steps that move them.
// SPDX-License-Identifier: MIT
//
// Count
//   bit 0 writer     set by who takes the lock exclusively, or by a waker for the first writer; cleared by unlock()
//   bit 1 waiters    set under wait_lock by the first who queues, cleared under it when the queue is empty. Must not be
//                    clear with a waiter, but for the moment between queueing and setting, under wait_lock.
//   bit 2 hand-off   set under wait_lock for a waiter that has waited too long, cleared under it with the queue's last
//                    waiter, when a queued writer takes the lock, and when readers are granted it. Keeps out spinners
//                    and stealing readers. May outlive the waiter that it was set for.
//   bits 8..         readers: who holds the lock shared, and *for a moment* who has not yet seen that it may not
//   above them       guard: a reader that sees it set waits for the readers to leave, instead of wrapping the count
//
// Owner: the holder's thread number + 1 above two flags; 0 when a writer has let go. A hint for spinners: written after
// the count when the lock is taken and before it when a writer lets go, so it may lag behind. A reader leaves its own
// name behind, in a free lock too; of several readers the last who wrote it.
//   bit 0 reader-owned    written with the name
//   bit 1 nonspinnable    set by a spinner whose time limit on readers passed; kept by readers, cleared by the last
//                         reader to leave waiters behind, by who queues for a free lock, and by the next writer. A
//                         stale one costs spinning, a lost one a time limit.
//
// Synchronizes-with
//   B: see rwsem_engine.h
#pragma once

#include <cstdint>
#include <cstdio>

#include "lock_class.h"
#include "osq.h"
#include "wait_list.h"
#include "world.h"

namespace convoy {

// kBits: how many bits count readers.
template <int kBits>
struct RwsemCount {
  static constexpr std::uint64_t kWriter = 1;
  static constexpr std::uint64_t kWaiters = 2;
  static constexpr std::uint64_t kHandoff = 4;
  static constexpr std::uint64_t kReader = 256;
  static constexpr std::uint64_t kGuard = ~std::uint64_t{0} << (8 + kBits);
  static constexpr std::uint64_t kReaders = ~(kReader - 1);
  // Somebody holds the lock, or a reader is about to see that it may not.
  static constexpr std::uint64_t kLocked = kWriter | kReaders;
  // A reader that sees one of these after its own step did not get the lock by it.
  static constexpr std::uint64_t kNotForReaders = kWriter | kWaiters | kHandoff | kGuard;

  static constexpr std::uint64_t readers(std::uint64_t count) { return count / kReader; }

  static_assert(kBits >= 1 && kBits <= 55, "the guard has a bit");
  static_assert(((kWriter | kWaiters | kHandoff) & kReaders) == 0, "flags and readers do not overlap");
  static_assert((kReaders & ~kGuard) / kReader == (std::uint64_t{1} << kBits) - 1, "as many readers as bits can count");
};

// What a spinner makes of the owner word.
enum class RwsemOwner : std::uint8_t { kNobody, kWriter, kReader, kNotSpinnable };

struct RwsemOwnerWord {
  static constexpr std::uint64_t kReaderOwned = 1;
  static constexpr std::uint64_t kNonspinnable = 2;

  static constexpr std::uint64_t of(Thread thread) { return (std::uint64_t{thread.index} + 1) << 2; }
  static constexpr Thread thread(std::uint64_t word) {
    return word < of(Thread{0}) ? kNobody : Thread{static_cast<std::uint32_t>((word >> 2) - 1)};
  }
  static constexpr RwsemOwner state(std::uint64_t word) {
    if ((word & kNonspinnable) != 0) return RwsemOwner::kNotSpinnable;
    if ((word & kReaderOwned) != 0) return RwsemOwner::kReader;
    return word == 0 ? RwsemOwner::kNobody : RwsemOwner::kWriter;
  }
};
static_assert(RwsemOwnerWord::of(Thread{0}) > (RwsemOwnerWord::kReaderOwned | RwsemOwnerWord::kNonspinnable),
              "flags and names do not overlap");

// What stands on the stack of a thread that waits.
template <World W>
struct RwsemWaiter : ListedWaiter<W, RwsemWaiter<W>> {
  explicit RwsemWaiter(bool exclusive) : is_writer(exclusive), patience(W::deadline_in(kPatienceNs)) {}

  bool was_granted() const { return granted.load(acquire) != 0; }  // B0

  // How long a waiter waits before it asks for a hand-off: the kernel's RWSEM_WAIT_TIMEOUT, at HZ = 250.
  static constexpr std::uint64_t kPatienceNs = 4'000'000;

  // Set once.
  Plain<W, bool> is_writer;
  Plain<W, Deadline> patience;
  // Guarded by wait_lock: hand-off was set while this was the first waiter, so others must not pass it.
  Plain<W, bool> handoff_set{false};

  Atomic<W, std::uint32_t> granted{0};  // 1 once a waker has unlinked it and taken the lock for it
};

// The kernel's five fields, in 40 bytes, and the class.
template <World W, int kReaderBits>
class RwsemWord {
 public:
  RwsemWord(const RwsemWord&) = delete;
  RwsemWord& operator=(const RwsemWord&) = delete;
  LockClass<W>& lock_class() { return class_; }

 protected:
  using Count = RwsemCount<kReaderBits>;
  using Owner = RwsemOwnerWord;
  using Waiter = RwsemWaiter<W>;

  explicit RwsemWord(LockClass<W>& lock_class) : class_(lock_class) {}

  // The owner is a hint that orders nothing: all its operations are relaxed.
  void own(Thread writer) { owner_.store(Owner::of(writer), relaxed); }
  void own_shared(Thread reader) {
    owner_.store(Owner::of(reader) | Owner::kReaderOwned | (owner_.load(relaxed) & Owner::kNonspinnable), relaxed);
  }
  void clear_nonspinnable() {
    if ((owner_.load(relaxed) & Owner::kNonspinnable) != 0) owner_.fetch_and(~Owner::kNonspinnable, relaxed);
  }
  void set_nonspinnable_if_reader_owned() {
    std::uint64_t owner = owner_.load(relaxed);
    while ((owner & Owner::kReaderOwned) != 0 && (owner & Owner::kNonspinnable) == 0 &&
           !owner_.compare_exchange(owner, owner | Owner::kNonspinnable, relaxed)) {}
  }

  bool acquired(Event how) {
    class_.count(how);
    return true;
  }

  [[noreturn]] void panic_misuse(const char* operation, std::uint64_t count) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "%.*s: %s of an rwsem that is not held so; count was { %s%s%sreaders %llu } by thread %u",
                  static_cast<int>(class_.name().size()), class_.name().data(), operation,
                  (count & Count::kWriter) != 0 ? "writer " : "", (count & Count::kWaiters) != 0 ? "waiters " : "",
                  (count & Count::kHandoff) != 0 ? "hand-off " : "",
                  static_cast<unsigned long long>(Count::readers(count)), W::self().index);
    W::panic(text);
  }

  Atomic<W, std::uint64_t> count_{0};
  Atomic<W, std::uint64_t> owner_{0};
  Osq<W> osq_;
  typename W::SpinLock wait_lock_;
  WaitList<W, Waiter> wait_list_;  // guarded by wait_lock_
  LockClass<W>& class_;
};

}  // namespace convoy
