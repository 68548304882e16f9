// rwsem_scenarios.h — What the rwsems are asked to do beyond what every lock is.
// SPDX-License-Identifier: MIT
//
// Goal: their events mean what they say, a hand-off keeps its promise, the count does not overflow, and whoever leaves
// the queue passes on what it was given. Method: as scenarios.h; the explorer takes every answer to "has a core", "time
// is up", "must yield". Each scenario ends with the identities of rwsem_claims.h and a lock whose words say nothing.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "locks/rwsem.h"
#include "locks/rwsem_3_12.h"
#include "locks/rwsem_restored.h"
#include "locks/rwsem_transfer.h"
#include "sim/scenario.h"
#include "tests/cell.h"
#include "tests/rwsem_claims.h"

namespace convoy {

// A class, one lock of it, how often it was held, and what they must say in the end.
template <Host W, class Lock>
class RwsemScenario : public Scenario {
 protected:
  static constexpr bool kSpins = Lock::kTraits.name != "rwsem-3.12";
  static constexpr bool kPlain = Lock::kTraits.name == "rwsem";
  static constexpr bool kTransfers = Lock::kTraits.name == "rwsem-transfer";

  std::uint64_t total(Event event) const { return class_.total(event); }

  void write() {
    written_ = written_ + 1;
    writes_.fetch_add(1, relaxed);  // relaxed: read when all have ended
  }
  void read() {
    (void)static_cast<int>(written_);  // a race with any writer
    reads_.fetch_add(1, relaxed);      // relaxed: as above
  }

  void claim_end() {
    const std::uint64_t writes = writes_.load(relaxed);  // relaxed: all have ended
    claim_rwsem_identities<W>(class_, writes, reads_.load(relaxed));
    W::require(written_ == static_cast<int>(writes), "every write under the lock is kept");
    if (!kSpins) W::require(total(Event::kRwsemOptFail) + total(Event::kRwsemOptLock) == 0, "3.12 never spins");
    if (kPlain) W::require(total(Event::kRwsemWlockEhandoff) == 0, "rwsem never transfers");
    if (kTransfers) W::require(total(Event::kRwsemWakeWriter) == 0, "rwsem-transfer never wakes without the lock");
    lock_.check_invariants();
    const bool shared = lock_.try_lock_shared();
    W::require(shared, "the lock is free at the end, and nobody queues");
    if (shared) lock_.unlock_shared();
    const bool exclusive = lock_.try_lock();
    W::require(exclusive, "the lock is free at the end, and says nothing else");
    if (exclusive) lock_.unlock();
    for (const auto& [event, name] : kWitnesses) {
      if (total(event) > 0) W::witness(name);
    }
  }

  LockClass<W> class_{"scenario"};
  Lock lock_{class_};

 private:
  static constexpr std::pair<Event, const char*> kWitnesses[] = {
      {Event::kRwsemOptLock, "a spinner stole the lock"},
      {Event::kRwsemOptNospin, "a spinner gave up on readers"},
      {Event::kRwsemRlock, "a reader was granted the lock"},
      {Event::kRwsemRlockFast, "a reader found nobody in the queue"},
      {Event::kRwsemRlockSteal, "a reader stole the lock"},
      {Event::kRwsemRlockFail, "a reader left"},
      {Event::kRwsemRlockHandoff, "a hand-off for a reader"},
      {Event::kRwsemWlock, "a writer got the lock in the queue"},
      {Event::kRwsemWlockFail, "a writer left"},
      {Event::kRwsemWlockHandoff, "a hand-off for a writer"},
      {Event::kRwsemWlockEhandoff, "a transfer after a hand-off"},
      {Event::kRwsemWakeWriter, "a writer was woken without the lock"},
  };
  Plain<W, int> written_{0};
  Atomic<W, std::uint64_t> writes_{0};
  Atomic<W, std::uint64_t> reads_{0};
};

// What a thread does in each of its rounds: 'w' and 'r' lock in either mode; 'W' and 'R' with a deadline.
using Roles = std::vector<char>;

// Threads of given roles, that hold the lock and let it go.
template <Host W, class Lock>
class RwsemMix : public RwsemScenario<W, Lock> {
 public:
  RwsemMix(Roles roles, int rounds) : roles_(std::move(roles)), rounds_(rounds) {}
  int threads() const override { return static_cast<int>(roles_.size()); }
  void run(int thread) override CONVOY_NO_TSA {
    const char role = roles_[static_cast<std::size_t>(thread)];
    for (int round = 0; round < rounds_; ++round) {
      if (role == 'w' || role == 'W') {
        if (role == 'w') {
          this->lock_.lock();
        } else if (!this->lock_.try_lock_until(W::deadline_in(20'000))) {
          continue;
        }
        this->write();
        this->lock_.unlock();
      } else {
        if (role == 'r') {
          this->lock_.lock_shared();
        } else if (!this->lock_.try_lock_shared_until(W::deadline_in(20'000))) {
          continue;
        }
        this->read();
        this->lock_.unlock_shared();
      }
    }
  }
  void check() const override { this->lock_.check_invariants(); }
  void finish() override { this->claim_end(); }

 private:
  Roles roles_;
  int rounds_;
};

// One writer waits in the queue, another takes the lock again and again. Once hand-off stands when the other asks for
// the lock, the waiter must have it first.
template <Host W, class Lock>
class HandoffForWriter : public RwsemScenario<W, Lock> {
 public:
  explicit HandoffForWriter(int thefts) : thefts_(thefts) {}
  int threads() const override { return 2; }
  void run(int thread) override CONVOY_NO_TSA {
    if (thread == 0) {
      this->lock_.lock();
      this->write();
      served_.store(1, relaxed);  // relaxed: the lock publishes it
      this->lock_.unlock();
      return;
    }
    for (int theft = 0; theft < thefts_; ++theft) {
      const bool stands = this->total(Event::kRwsemWlockHandoff) > 0;
      this->lock_.lock();
      W::require(!stands || served_.load(relaxed) != 0, "nobody overtakes the waiter for whom hand-off is set");
      if (stands) W::witness("hand-off kept the other out");
      this->write();
      this->lock_.unlock();
    }
  }
  void check() const override { this->lock_.check_invariants(); }
  void finish() override { this->claim_end(); }

 private:
  int thefts_;
  Atomic<W, std::uint32_t> served_{0};
};

// A reader waits behind a holder. Between the holder's release and its walk of the queue a second writer steals the
// lock, and lets the walk go by: that meets a writer, and may set hand-off for the reader. Then the first holder comes
// back. Without `meets_the_walk` the second writer goes on at once, and nobody comes back.
template <Host W, class Lock>
class HandoffForReader : public RwsemScenario<W, Lock> {
 public:
  explicit HandoffForReader(bool meets_the_walk) : meets_the_walk_(meets_the_walk) {}
  int threads() const override { return 3; }
  void run(int thread) override CONVOY_NO_TSA {
    if (thread == 0) {
      hold_twice();
    } else if (thread == 1) {
      await(first_is_in_);
      reader_comes_.store(1, relaxed);  // relaxed, as all of these: only the order of events matters
      this->lock_.lock_shared();
      this->read();
      served_.store(1, relaxed);
      this->lock_.unlock_shared();
    } else {
      await(reader_comes_);
      this->lock_.lock();
      this->write();
      if (meets_the_walk_ && served_.load(relaxed) == 0) await(first_is_out_);
      this->lock_.unlock();
    }
  }
  void check() const override { this->lock_.check_invariants(); }
  void finish() override { this->claim_end(); }

 private:
  void hold_twice() CONVOY_NO_TSA {
    this->lock_.lock();
    first_is_in_.store(1, relaxed);
    await(reader_comes_);
    this->write();
    this->lock_.unlock();
    first_is_out_.store(1, relaxed);
    if (!meets_the_walk_) return;
    const bool stands = this->total(Event::kRwsemRlockHandoff) > 0;
    this->lock_.lock();
    W::require(!stands || served_.load(relaxed) != 0, "nobody overtakes the reader for whom hand-off is set");
    if (stands) W::witness("hand-off kept the other out");
    this->write();
    this->lock_.unlock();
  }
  static void await(const Atomic<W, std::uint32_t>& flag) {
    W::await(flag, relaxed, [](std::uint32_t set) { return set != 0; });
  }

  bool meets_the_walk_;
  Atomic<W, std::uint32_t> first_is_in_{0};
  Atomic<W, std::uint32_t> reader_comes_{0};
  Atomic<W, std::uint32_t> first_is_out_{0};
  Atomic<W, std::uint32_t> served_{0};
};

// One thread holds the lock shared as often as the count can say, the others ask for it once more each. They queue
// until there is room, and nobody is forgotten. Lock counts readers with 3 bits.
template <Host W, class Lock>
class CountOverflows : public RwsemScenario<W, Lock> {
 public:
  explicit CountOverflows(Roles roles) : roles_(std::move(roles)) {}
  int threads() const override { return 1 + static_cast<int>(roles_.size()); }
  void run(int thread) override CONVOY_NO_TSA {
    if (thread > 0) {
      if (roles_[static_cast<std::size_t>(thread - 1)] == 'w') {
        this->lock_.lock();
        this->write();
        this->lock_.unlock();
      } else {
        this->lock_.lock_shared();
        this->read();
        this->lock_.unlock_shared();
      }
      return;
    }
    int held = 0;
    while (held < kMost && this->lock_.try_lock_shared()) ++held;
    if (held == kMost) {
      W::require(!this->lock_.try_lock_shared(), "the count is full");
      W::witness("the count was full");
    }
    for (int i = 0; i < held; ++i) {
      this->read();
      this->lock_.unlock_shared();
    }
  }
  void check() const override { this->lock_.check_invariants(); }
  void finish() override { this->claim_end(); }

 private:
  static constexpr int kMost = 7;
  Roles roles_;
};

struct RwsemSizes {
  int rounds;  // of two threads
  int thefts;
};

template <Host W, class Lock, class NarrowLock>
void add_rwsem_cells_of(std::vector<Cell>& cells, const std::string& policy, const RwsemSizes& sizes) {
  const auto add = [&]<class S>(std::type_identity<S>, const char* name, int fewer_preemptions,
                                std::vector<std::string> witnesses, auto... arguments) {
    cells.push_back(
        {policy, name, [=] { return std::make_unique<S>(arguments...); }, std::move(witnesses), fewer_preemptions});
  };
  using std::type_identity;
  using Mix = RwsemMix<W, Lock>;
  constexpr bool kSpins = Lock::kTraits.name != "rwsem-3.12";
  // Three threads with the choices of a spinner are too many for the usual number of preemptions.
  const int fewer = kSpins ? 1 : 0;
  std::vector<std::string> queued = {"a writer got the lock in the queue", "a reader was granted the lock"};
  std::vector<std::string> two = queued;
  if (kSpins) two.insert(two.end(), {"a spinner stole the lock", "a spinner gave up on readers"});
  if (kSpins && Lock::kTraits.name != "rwsem-transfer") two.push_back("a reader stole the lock");
  add(type_identity<Mix>{}, "writer_and_reader", 0, two, Roles{'w', 'r'}, sizes.rounds);
  add(type_identity<Mix>{}, "writer_two_readers", fewer, queued, Roles{'w', 'r', 'r'}, 1);
  add(type_identity<Mix>{}, "two_writers_reader", fewer, queued, Roles{'w', 'w', 'r'}, 1);
  add(type_identity<Mix>{}, "reader_leaves", fewer, {"a reader left"}, Roles{'w', 'R', 'w'}, 1);
  add(type_identity<Mix>{}, "writer_leaves", fewer, {"a writer left"}, Roles{'w', 'W', 'r'}, 1);
  add(type_identity<Mix>{}, "writer_leaves_readers", fewer, {"a writer left"}, Roles{'r', 'W', 'r'}, 1);
  add(type_identity<Mix>{}, "writer_leaves_writer", fewer, {"a writer left"}, Roles{'r', 'W', 'w'}, 1);
  add(type_identity<Mix>{}, "both_leave", fewer, {"a writer left", "a reader left"}, Roles{'w', 'W', 'R'}, 1);
  add(type_identity<HandoffForReader<W, Lock>>{}, "stolen_from_reader", fewer, {"a reader was granted the lock"},
      false);
  if constexpr (kSpins) {
    std::vector<std::string> kept = {"a hand-off for a writer", "hand-off kept the other out"};
    if (Lock::kTraits.name != "rwsem") kept.push_back("a transfer after a hand-off");
    add(type_identity<HandoffForWriter<W, Lock>>{}, "handoff_for_writer", 0, kept, sizes.thefts);
    add(type_identity<HandoffForReader<W, Lock>>{}, "handoff_for_reader", 2,
        {"a hand-off for a reader", "hand-off kept the other out"}, true);
    using Narrow = CountOverflows<W, NarrowLock>;
    add(type_identity<Narrow>{}, "count_overflows", 0, {"the count was full", "a reader was granted the lock"},
        Roles{'r'});
    add(type_identity<Narrow>{}, "count_overflows_writer", 2, {"the count was full"}, Roles{'r', 'w'});
  }
}

template <Host W>
void add_rwsem_cells(std::vector<Cell>& cells, const RwsemSizes& sizes) {
  add_rwsem_cells_of<W, Rwsem<W>, Rwsem<W, 3>>(cells, "rwsem", sizes);
  add_rwsem_cells_of<W, RwsemTransfer<W>, RwsemTransfer<W, 3>>(cells, "rwsem_transfer", sizes);
  add_rwsem_cells_of<W, RwsemRestored<W>, RwsemRestored<W, 3>>(cells, "rwsem_restored", sizes);
  add_rwsem_cells_of<W, Rwsem312<W>, Rwsem312<W>>(cells, "rwsem_3_12", sizes);
}

}  // namespace convoy
