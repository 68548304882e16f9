// wait_table.h — Hashed wait queues, shared by all page locks and fill waits of one cache.
// SPDX-License-Identifier: MIT
//
// A page has no room for a wait queue, so all waiters of all pages stand in a table of W::kWaitQueues queues, chosen by
// a hash of what they wait for; two pages may share one queue. A queue is a spin lock and a doubly linked FIFO list, 24
// bytes in RealWorld. A waiter stands on the stack of the thread that waits.
//
// Origin: Linux, mm/filemap.c, 256 hashed wait queues for page bits. Different here: the waker unlinks first and stores
// its verdict last, so that a waiter that has seen a verdict may return without the queue's lock; and a walk has no
// bookmark (the kernel drops the lock after 64 entries), because an exclusive wake ends it and fills have few waiters.
//
// Life of a waiter: under the queue's lock *unlink, then the releasing store of the verdict as the last access, then
// unpark(thread)*. A waiter that leaves by itself unlinks itself under the queue's lock.
//
// Synchronizes-with
//   B: B1 verdict store → B0 waiter's load of the verdict (the lock it was handed, the bytes it waited for)
//   W: W1 the bit is cleared, by whoever owns the word → W0 wait_for_clear finds it clear (what it stood for)
#pragma once

#include <cstddef>
#include <cstdint>

#include "world.h"

namespace convoy {

enum class Verdict : std::uint32_t {
  kWaiting,  // in the queue, or not yet
  kWoken,    // unlinked and woken; must try for itself
  kGranted,  // unlinked and woken; the waker took the lock for it
};

template <World W>
struct Waiter {
  // Waits for `object`: the address of a word, used as a name only.
  explicit Waiter(const void* waited_for) : object(waited_for), thread(W::self()) {}

  // Sleeps until a waker has stored its verdict; false when `deadline` passed before. Calls on_sleep() after every
  // return from park, spurious ones included.
  template <class OnSleep>
  bool await_verdict(Deadline deadline, OnSleep on_sleep) {
    for (;;) {
      W::prepare_park();
      if (load_verdict() != Verdict::kWaiting) return true;
      if (deadline == kNever) {
        W::park();
        on_sleep();
      } else {
        const bool in_time = W::park_until(deadline);
        on_sleep();
        if (!in_time) return load_verdict() != Verdict::kWaiting;
      }
    }
  }

  Verdict load_verdict() const { return static_cast<Verdict>(verdict.load(acquire)); }  // B0

  // Guarded by the queue's lock while linked, the waiting thread's own otherwise.
  Plain<W, Waiter*> next{nullptr};
  Plain<W, Waiter*> previous{nullptr};
  Plain<W, bool> linked{false};
  Plain<W, bool> wants_handoff{false};
  // Set once.
  Plain<W, const void*> object;
  Plain<W, Thread> thread;

  Atomic<W, std::uint32_t> verdict{static_cast<std::uint32_t>(Verdict::kWaiting)};
};

template <World W>
class WaitTable {
  struct Queue {
    typename W::SpinLock lock;
    Plain<W, Waiter<W>*> head{nullptr};
    Plain<W, Waiter<W>*> tail{nullptr};
  };

 public:
  enum class Walk : std::uint8_t { kContinue, kStop };

  // Holds the queue of one object. Unparks of the scope reach their threads when it ends (World::NoPreempt).
  class Locked {
   public:
    Locked(WaitTable& table, const void* object) : queue_(table.queue_of(object)) { queue_.lock.lock(); }
    ~Locked() { queue_.lock.unlock(); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

    void append(Waiter<W>& waiter) {
      Waiter<W>* tail = queue_.tail;
      waiter.verdict.store(static_cast<std::uint32_t>(Verdict::kWaiting),
                           relaxed);  // relaxed: the queue's lock publishes it
      waiter.next = nullptr;
      waiter.previous = tail;
      waiter.linked = true;
      if (tail != nullptr) {
        tail->next = &waiter;
      } else {
        queue_.head = &waiter;
      }
      queue_.tail = &waiter;
    }

    // Requires: waiter.linked.
    void unlink(Waiter<W>& waiter) {
      Waiter<W>* next = waiter.next;
      Waiter<W>* previous = waiter.previous;
      if (previous != nullptr) {
        previous->next = next;
      } else {
        queue_.head = next;
      }
      if (next != nullptr) {
        next->previous = previous;
      } else {
        queue_.tail = previous;
      }
      waiter.linked = false;
    }

    // Unlinks the waiter, stores the verdict and wakes its thread. The waiter's node may be gone when this returns.
    void wake(Waiter<W>& waiter, Verdict verdict) {
      const Thread thread = waiter.thread;
      unlink(waiter);
      waiter.verdict.store(static_cast<std::uint32_t>(verdict), release);  // B1, absolute last access
      W::unpark(thread);
    }

    // Shows each waiter for `object`, first come first, to on_waiter(waiter) -> Walk, which may wake it. Returns false
    // when surely nobody waits for object any more; true may be out of date, which costs one useless walk later.
    template <class OnWaiter>
    bool walk(const void* object, OnWaiter on_waiter) {
      bool seen = false;
      for (Waiter<W>* waiter = queue_.head; waiter != nullptr;) {
        Waiter<W>* next = waiter->next;
        if (waiter->object == object) {
          seen = true;
          if (on_waiter(*waiter) == Walk::kStop) break;
        }
        waiter = next;
      }
      return seen && static_cast<Waiter<W>*>(queue_.head) != nullptr;
    }

   private:
    [[no_unique_address]] typename W::NoPreempt no_preempt_;
    Queue& queue_;
  };

  // Whether a waiter for `object` is in its queue. Requires: the queue's lock is held, or nothing moves.
  bool is_waited_for(const void* object) {
    for (Waiter<W>* waiter = queue_of(object).head; waiter != nullptr; waiter = waiter->next) {
      if (waiter->object == object) return true;
    }
    return false;
  }

 private:
  Queue& queue_of(const void* object) {
    if constexpr (W::kWaitQueues == 1) {
      return queues_[0];
    } else {
      // Fibonacci hashing: the high bits of a product with 2^64 divided by the golden ratio.
      constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
      return queues_[((W::ordinal(object) >> 3) * kGolden >> 32) & (W::kWaitQueues - 1)];
    }
  }

  alignas(64) Queue queues_[W::kWaitQueues];
};

// Waits for a bit of a word that is not a lock: a SHARED wait, as the kernel's for writeback. Returns true once the bit
// was seen clear, or was for a while; the caller then looks at the word again (acquire). False when `deadline` passed
// before. Waiters are all woken together, by wake_all().
// Requires: who clears the bit reads `waiters_bit` in the same read-modify-write and calls wake_all() if it was set.
template <World W>
bool wait_for_clear(WaitTable<W>& table, Atomic<W, std::uint32_t>& word, std::uint32_t bit, std::uint32_t waiters_bit,
                    Deadline deadline = kNever) {
  Waiter<W> me(&word);
  {
    typename WaitTable<W>::Locked queue(table, &word);
    // Waiters bit first, then the last look: who clears the bit afterwards sees it.
    if ((word.fetch_or(waiters_bit, acquire) & bit) == 0) return true;  // W0
    queue.append(me);
  }
  if (me.await_verdict(deadline, [] {})) return true;
  typename WaitTable<W>::Locked queue(table, &word);
  if (me.linked) queue.unlink(me);
  return me.load_verdict() != Verdict::kWaiting;
}

template <World W>
void wake_all(WaitTable<W>& table, Atomic<W, std::uint32_t>& word, std::uint32_t waiters_bit) {
  typename WaitTable<W>::Locked queue(table, &word);
  queue.walk(&word, [&](Waiter<W>& waiter) {
    queue.wake(waiter, Verdict::kWoken);
    return WaitTable<W>::Walk::kContinue;
  });
  word.fetch_and(~waiters_bit, relaxed);  // relaxed: waiters re-read the word themselves
}

}  // namespace convoy
