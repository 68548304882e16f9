// busted_locks_test.cc — Broken locks: each scenario finds the one that breaks what it is there for (K1).
// SPDX-License-Identifier: MIT
//
// The twins (tests/mutants) break the real headers; these are whole locks that are wrong from the start, one for each
// claim of the scenarios that all policies share.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "sim/explore_world.h"
#include "sim/explorer.h"
#include "tests/scenarios.h"
#include "tests/shared_scenarios.h"

namespace convoy {
namespace {

using W = ExploreWorld;

template <class S, class... Arguments>
Exploration explore(Arguments... arguments) {
  return Explorer().explore([=] { return std::make_unique<S>(arguments...); }, {});
}
std::string kind_of(const Exploration& exploration) { return exploration.defect ? exploration.defect->kind : "none"; }
std::string text_of(const Exploration& exploration) { return exploration.defect ? exploration.defect->text : "none"; }

constexpr PolicyTraits kSpins{.name = "busted",
                              .kind = Kind::kSpinning,
                              .fairness = "none",
                              .origin = "broken on purpose",
                              .needs_core_per_thread = true};
constexpr PolicyTraits kSleeps{
    .name = "busted", .kind = Kind::kSleeping, .fairness = "none", .origin = "broken on purpose"};

// Right, and the base of what is not.
class Honest {
 public:
  static constexpr PolicyTraits kTraits = kSpins;
  explicit Honest(LockClass<W>&) {}
  void lock() {
    W::await_exchange(word_, 1u, acquire, [](std::uint32_t old) { return old == 0; });
  }
  bool try_lock() { return word_.exchange(1, acquire) == 0; }
  void unlock() { word_.store(0, release); }

 protected:
  Atomic<W, std::uint32_t> word_{0};
};

class LooksThenTakes : public Honest {
 public:
  using Honest::Honest;
  void lock() {
    W::await(word_, acquire, [](std::uint32_t word) { return word == 0; });
    word_.store(1, relaxed);
  }
};

class TouchesAfterUnlock : public Honest {
 public:
  using Honest::Honest;
  void unlock() {
    word_.store(0, release);
    word_.load(relaxed);
  }
};

// The waiter tests the state, the unlocker looks for waiters, the waiter enters itself (K4).
class EntersLate {
 public:
  static constexpr PolicyTraits kTraits = kSleeps;
  explicit EntersLate(LockClass<W>&) {}
  void lock() {
    while (!try_lock()) {
      W::prepare_park();
      waiter_.store(W::self().index + 1, relaxed);
      W::park();
    }
  }
  bool try_lock() { return word_.exchange(1, acquire) == 0; }
  void unlock() {
    word_.store(0, release);
    if (const std::uint32_t waiter = waiter_.exchange(0, relaxed); waiter != 0) W::unpark(Thread{waiter - 1});
  }

 private:
  Atomic<W, std::uint32_t> word_{0};
  Atomic<W, std::uint32_t> waiter_{0};
};

class ReadersAlone : public Honest {
 public:
  using Honest::Honest;
  void lock_shared() { lock(); }
  bool try_lock_shared() { return try_lock(); }
  void unlock_shared() { unlock(); }
};

// A word of readers and a bit of the writer; right, with readers first.
class ReadersFirst {
 public:
  static constexpr PolicyTraits kTraits = kSpins;
  explicit ReadersFirst(LockClass<W>&) {}
  void lock() {
    while (!try_lock()) await_free(~0u);
  }
  bool try_lock() {
    std::uint32_t free = 0;
    return word_.compare_exchange(free, kWriter, acquire);
  }
  void unlock() { word_.fetch_and(~kWriter, release); }
  void lock_shared() {
    while (!try_lock_shared()) await_free(kWriter);
  }
  bool try_lock_shared() {
    std::uint32_t word = word_.load(relaxed);
    while ((word & kWriter) == 0) {
      if (word_.compare_exchange(word, word + 1, acquire)) return true;
    }
    return false;
  }
  void unlock_shared() { word_.fetch_sub(1, release); }

 protected:
  static constexpr std::uint32_t kWriter = 1u << 16;
  void await_free(std::uint32_t mask) {
    W::await(word_, relaxed, [mask](std::uint32_t word) { return (word & mask) == 0; });
  }
  Atomic<W, std::uint32_t> word_{0};
};

class ForgetsReaders : public ReadersFirst {
 public:
  using ReadersFirst::ReadersFirst;
  void lock() {
    while ((word_.fetch_or(kWriter, acquire) & kWriter) != 0) await_free(kWriter);
  }
};

// A waiting writer makes readers' tries fail, but not their lock_shared().
class BarsTriesOnly : public ReadersFirst {
 public:
  using ReadersFirst::ReadersFirst;
  void lock() {
    waiting_.store(1, relaxed);
    ReadersFirst::lock();
    waiting_.store(0, relaxed);
  }
  bool try_lock_shared() { return waiting_.load(relaxed) == 0 && ReadersFirst::try_lock_shared(); }
  void lock_shared() {
    while (!ReadersFirst::try_lock_shared()) await_free(kWriter);
  }

 private:
  Atomic<W, std::uint32_t> waiting_{0};
};

constexpr ScenarioSize kTwo{2, 2}, kThree{3, 1};
const std::vector<Mode> kTwoWriters(2, Mode::kExclusive);

TEST(BustedLocks, an_honest_lock_passes) {
  EXPECT_EQ(text_of(explore<MutualExclusion<W, Honest>>(kTwo)), "none");
  EXPECT_EQ(text_of(explore<LostWakeup<W, Honest>>(kTwoWriters, 1)), "none");
  EXPECT_EQ(text_of(explore<NodeDiesAfterUnlock<W, Honest>>(kTwoWriters, 1)), "none");
  EXPECT_EQ(text_of(explore<WriterExcluded<W, ReadersFirst>>(kThree, 1)), "none");
  EXPECT_EQ(text_of(explore<ReadersShare<W, ReadersFirst>>(kTwo)), "none");
  EXPECT_EQ(text_of(explore<ModesExclude<W, ReadersFirst>>()), "none");
}

TEST(BustedLocks, who_looks_and_then_takes_is_found_by_every_count) {
  EXPECT_EQ(kind_of(explore<MutualExclusion<W, LooksThenTakes>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<MutualExclusion<W, LooksThenTakes>>(kThree)), "race");
  EXPECT_EQ(kind_of(explore<TryLock<W, LooksThenTakes>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<TwoLocksOneQueue<W, LooksThenTakes>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<HoldTwo<W, LooksThenTakes>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<LostWakeup<W, LooksThenTakes>>(std::vector<Mode>(3, Mode::kExclusive), 1)), "race");
  EXPECT_EQ(kind_of(explore<PingPong<W, LooksThenTakes>>(kTwo, Mode::kExclusive)), "race");
}

TEST(BustedLocks, a_waiter_that_enters_itself_too_late_sleeps_for_ever) {
  EXPECT_EQ(kind_of(explore<LostWakeup<W, EntersLate>>(kTwoWriters, 1)), "deadlock");
  EXPECT_EQ(kind_of(explore<MutualExclusion<W, EntersLate>>(kTwo)), "deadlock");
  EXPECT_EQ(kind_of(explore<PingPong<W, EntersLate>>(kTwo, Mode::kExclusive)), "deadlock");
}

TEST(BustedLocks, an_unlock_that_touches_the_free_lock_is_found) {
  // The schedule in which the touch comes before the end, and nothing orders the two, is met first.
  EXPECT_EQ(kind_of(explore<NodeDiesAfterUnlock<W, TouchesAfterUnlock>>(kTwoWriters, 1)), "race");
}

TEST(BustedLocks, a_shared_mode_that_is_exclusive_is_found) {
  EXPECT_EQ(kind_of(explore<ReadersShare<W, ReadersAlone>>(kTwo)), "deadlock");
  EXPECT_EQ(text_of(explore<ModesExclude<W, ReadersAlone>>()), "a reader beside a reader");
}

TEST(BustedLocks, a_writer_beside_readers_is_found) {
  EXPECT_EQ(kind_of(explore<WriterExcluded<W, ForgetsReaders>>(kTwo, 1)), "race");
  EXPECT_EQ(kind_of(explore<ReadThenWrite<W, ForgetsReaders>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<TryLockShared<W, ForgetsReaders>>(kTwo)), "race");
  EXPECT_EQ(kind_of(explore<PingPong<W, ForgetsReaders>>(kTwo, Mode::kShared)), "race");
}

TEST(BustedLocks, readers_that_pass_a_writer_they_should_not_pass_are_found) {
  EXPECT_EQ(text_of(explore<ConspiringReaders<W, BarsTriesOnly>>(2, std::optional<int>(0))),
            "barred readers pass a waiting writer at most so often");
  const Exploration unfair = explore<ConspiringReaders<W, ReadersFirst>>(2, std::optional<int>(0));
  const auto& seen = unfair.witnesses;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "a reader was barred"), 0) << "nothing bars them";
  EXPECT_EQ(std::count(seen.begin(), seen.end(), "a reader passed a waiting writer"), 1);
}

}  // namespace
}  // namespace convoy
