// shared_scenarios.h — What every lock with a shared mode is asked to do: readers and writers.
// SPDX-License-Identifier: MIT
//
// Goal: readers share (K2), a writer is alone, a reader sees no half-written pair, a waiting writer gets in as the
// policy's fairness promises (K3). Method: as scenarios.h.
#pragma once

#include <cstdint>
#include <optional>

#include "tests/scenarios.h"

namespace convoy {

// K2. Readers enter and meet inside: a lock whose shared mode is exclusive would wait for ever.
template <Host W, class Lock>
class ReadersShare : public Scenario {
 public:
  explicit ReadersShare(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int) override {
    for (int round = 0; round < size_.rounds; ++round) {
      const auto all = static_cast<std::uint32_t>((round + 1) * size_.threads);
      const SharedGuard<W, Lock> guard(lock_, kScenarioSite);
      entered_.fetch_add(1, relaxed);  // relaxed: it only counts
      W::await(entered_, relaxed, [all](std::uint32_t entered) { return entered >= all; });
      W::witness("readers meet inside");
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Atomic<W, std::uint32_t> entered_{0};
};

// What a try answers beside a reader and beside a writer. The threads take turns, so there is nothing to be lucky
// about.
template <Host W, class Lock>
class ModesExclude : public Scenario {
 public:
  int threads() const override { return 2; }
  void run(int thread) override CONVOY_NO_TSA {
    if (thread == 0) {
      lock_.lock_shared();
      pass_to_tries(1);
      lock_.unlock_shared();
      lock_.lock();
      pass_to_tries(3);
      lock_.unlock();
      return;
    }
    await_stage(1);
    W::require(lock_.try_lock_shared(), "a reader beside a reader");
    lock_.unlock_shared();
    W::require(!lock_.try_lock(), "no writer beside a reader");
    stage_.store(2, release);
    await_stage(3);
    W::require(!lock_.try_lock_shared(), "no reader beside a writer");
    W::require(!lock_.try_lock(), "no writer beside a writer");
    stage_.store(4, release);
  }
  void check() const override { check_locks(lock_); }
  void finish() override { claim_free<W>(lock_); }

 private:
  void await_stage(std::uint32_t stage) {
    W::await(stage_, acquire, [stage](std::uint32_t now) { return now == stage; });
  }
  void pass_to_tries(std::uint32_t stage) {
    stage_.store(stage, release);
    await_stage(stage + 1);
  }
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Atomic<W, std::uint32_t> stage_{0};
};

// The first threads write a pair, the others see it whole.
template <Host W, class Lock>
class WriterExcluded : public Scenario {
 public:
  WriterExcluded(ScenarioSize size, int writers) : size_(size), writers_(writers) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    for (int round = 0; round < size_.rounds; ++round) {
      if (thread < writers_) {
        const Guard<W, Lock> guard(lock_, kScenarioSite);
        first_ = first_ + 1;
        second_ = second_ + 1;
      } else {
        const SharedGuard<W, Lock> guard(lock_, kScenarioSite);
        const int first = first_;
        W::require(first == second_, "a reader sees a whole pair");
        W::witness(first == 0 ? "a reader before the writers" : "a reader behind a writer");
      }
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(first_ == writers_ * size_.rounds && first_ == second_, "every pair was written");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  int writers_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> first_{0};
  Plain<W, int> second_{0};
};

// Each thread reads, lets go, and then writes: there is no upgrade, so the value may have changed in between.
template <Host W, class Lock>
class ReadThenWrite : public Scenario {
 public:
  explicit ReadThenWrite(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int) override {
    for (int round = 0; round < size_.rounds; ++round) {
      int before = 0;
      under<W>(lock_, Mode::kShared, [&] { before = count_; });
      under<W>(lock_, Mode::kExclusive, [&] {
        const int now = count_;
        W::require(now >= before, "the count never falls");
        if (now != before) W::witness("another wrote in between");
        count_ = now + 1;
      });
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(count_ == size_.threads * size_.rounds, "every count under the lock is kept");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> count_{0};
};

// Thread 0 locks, the others only try, in shared mode.
template <Host W, class Lock>
class TryLockShared : public Scenario {
 public:
  explicit TryLockShared(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override CONVOY_NO_TSA {
    for (int round = 0; round < size_.rounds; ++round) {
      if (thread == 0) {
        const Guard<W, Lock> guard(lock_, kScenarioSite);
        first_ = first_ + 1;
        second_ = second_ + 1;
      } else if (lock_.try_lock_shared()) {
        const int first = first_;
        W::require(first == second_, "a reader sees a whole pair");
        W::witness("a shared try that got the lock");
        lock_.unlock_shared();
      } else {
        W::witness("a shared try that failed");
      }
    }
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    W::require(first_ == size_.rounds, "every lock() got the lock");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  ScenarioSize size_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> first_{0};
  Plain<W, int> second_{0};
};

// K3. Two readers keep the lock read-held between them for as long as they can (nsync's starvation game): each holds it
// until the other is in as well. A writer comes meanwhile. A reader first tries; a try that fails beside a reader says
// that the lock bars readers for the writer's sake. Then the other reader gives up its hold, and the barred one queues:
// if it is in before the writer that it found waiting, it has passed it.
// `most_passes` is what the policy's fairness allows: a bound for those that are fair to writers, none for the others.
template <Host W, class Lock>
class ConspiringReaders : public Scenario {
 public:
  ConspiringReaders(int rounds, std::optional<int> most_passes) : steps_(2 * rounds), most_passes_(most_passes) {}
  int threads() const override { return 3; }
  void run(int thread) override {
    if (thread == 2) return write();
    for (int step = thread; step < steps_; step += 2) read(static_cast<std::uint32_t>(step));
  }
  void check() const override { check_locks(lock_); }
  void finish() override {
    if (most_passes_) W::require(passes_ <= *most_passes_, "barred readers pass a waiting writer at most so often");
    W::require(writer_in_.load(relaxed) == 1, "the writer was in");
    claim_free<W>(lock_);
    claim_identities<W>(class_);
  }

 private:
  static constexpr std::uint32_t kBarred = 1u << 31;
  static std::uint32_t entries(std::uint32_t word) { return word & ~kBarred; }

  void write() CONVOY_NO_TSA {
    W::await(entered_, acquire, [](std::uint32_t word) { return entries(word) >= 1; });
    if (!lock_.try_lock()) {
      writer_waits_.store(1, relaxed);  // relaxed: a hint for a witness
      lock_.lock();
    }
    writer_in_.store(1, release);
    lock_.unlock();
  }

  // The step-th entry: the reader of the step before is inside, and leaves once this one is, or is barred.
  void read(std::uint32_t step) CONVOY_NO_TSA {
    W::await(entered_, acquire, [step](std::uint32_t word) { return entries(word) >= step; });
    if (step == 0) {
      lock_.lock_shared();
    } else if (lock_.try_lock_shared()) {
      if (writer_waits_.load(relaxed) == 1 && writer_in_.load(acquire) == 0)
        W::witness("a reader passed a waiting writer");
    } else {
      W::witness("a reader was barred");
      entered_.fetch_or(kBarred, release);
      lock_.lock_shared();
      if (writer_in_.load(acquire) == 0) passes_ = passes_ + 1;
    }
    entered_.store(step + 1, release);
    const auto last = static_cast<std::uint32_t>(steps_);
    W::await(entered_, acquire, [step, last](std::uint32_t word) {
      return step + 1 == last || entries(word) > step + 1 || (word & kBarred) != 0;
    });
    lock_.unlock_shared();
  }

  int steps_;
  std::optional<int> most_passes_;
  LockClass<W> class_{"scenario"};
  Lock lock_{class_};
  Plain<W, int> passes_{0};              // by the reader that enters, one after the other
  Atomic<W, std::uint32_t> entered_{0};  // entries so far; the next reader is barred
  Atomic<W, std::uint32_t> writer_waits_{0};
  Atomic<W, std::uint32_t> writer_in_{0};
};

}  // namespace convoy
