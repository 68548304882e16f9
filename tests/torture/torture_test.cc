// torture_test.cc — Goal: the torture finds a broken lock (K1). Method: locks that are broken on purpose.
// SPDX-License-Identifier: MIT
#include "tests/torture/torture.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <string>

namespace convoy {
namespace {

using W = RealWorld;

// Looks, then takes, with a gap between the two in which others get in.
class LooksThenTakes {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "looks-then-takes", .kind = Kind::kSpinning, .fairness = "none", .origin = "broken on purpose"};
  explicit LooksThenTakes(LockClass<W>&) {}
  void lock() {
    while (!try_lock()) sched_yield();
  }
  bool try_lock() {
    if (word_.load(acquire) != 0) return false;
    sched_yield();
    word_.store(1, relaxed);
    return true;
  }
  void unlock() { word_.store(0, release); }

 private:
  Atomic<W, std::uint32_t> word_{0};
};

// A writer does not wait for the readers that are inside.
class ForgetsReaders {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "forgets-readers", .kind = Kind::kSharedSleeping, .fairness = "none", .origin = "broken on purpose"};
  explicit ForgetsReaders(LockClass<W>&) {}
  void lock() {
    while (!try_lock()) sched_yield();
  }
  bool try_lock() { return (word_.fetch_or(1, acquire) & 1) == 0; }
  void unlock() { word_.fetch_and(~1u, release); }
  void lock_shared() {
    while (!try_lock_shared()) sched_yield();
  }
  bool try_lock_shared() { return (word_.load(acquire) & 1) == 0; }
  void unlock_shared() {}

 private:
  Atomic<W, std::uint32_t> word_{0};
};

// As it should be, without a shared mode.
class OneAtATime {
 public:
  static constexpr PolicyTraits kTraits{
      .name = "one-at-a-time", .kind = Kind::kSpinning, .fairness = "none", .origin = "the plainest lock"};
  explicit OneAtATime(LockClass<W>&) {}
  void lock() {
    while (!try_lock()) sched_yield();
  }
  bool try_lock() { return word_.exchange(1, acquire) == 0; }
  void unlock() { word_.store(0, release); }

 private:
  Atomic<W, std::uint32_t> word_{0};
};

// Its shared mode is exclusive.
class ReadersAlone : public OneAtATime {
 public:
  using OneAtATime::OneAtATime;
  void lock_shared() { lock(); }
  bool try_lock_shared() { return try_lock(); }
  void unlock_shared() { unlock(); }
};

template <class Lock>
void torture() {
  Torture<Lock>({4, std::chrono::milliseconds(500), 1, std::chrono::milliseconds(0)}).run();
}

class BustedTorture : public testing::Test {
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

// K1
TEST_F(BustedTorture, finds_a_lock_that_lets_two_in) {
  EXPECT_DEATH(torture<LooksThenTakes>(), "panic: .*(alone|whole pair|wrote its pair)");
}
TEST_F(BustedTorture, finds_a_writer_beside_readers) {
  EXPECT_DEATH(torture<ForgetsReaders>(), "panic: .*(alone|beside|whole pair)");
}
TEST_F(BustedTorture, finds_a_shared_mode_that_is_exclusive) {
  EXPECT_DEATH(torture<ReadersAlone>(), "panic: readers were inside together");
}

TEST(Torture, says_what_it_did) {
  Torture<OneAtATime> torture({2, std::chrono::milliseconds(50), 7});
  torture.run();
  const std::string text = torture.summary();
  EXPECT_TRUE(text.starts_with("2 threads, 50 ms, seed 7: ")) << text;
  EXPECT_NE(text.find("shared 0,"), std::string::npos) << text;
}

}  // namespace
}  // namespace convoy
