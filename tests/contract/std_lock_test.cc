// std_lock_test.cc — Goal: every policy is a lock of the standard's kind. Method: its guards over each of them.
// SPDX-License-Identifier: MIT
#include "locks/std_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "locks/annotations.h"
#include "locks/none.h"
#include "locks/policies.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;

// Calls f.operator()<P>() for every policy of real threads, so that a new one is asked by itself.
template <class F, class... Ps>
void for_each_policy(PolicyList<Ps...>, F f) {
  const auto call = [&]<class P>() {
    SCOPED_TRACE(std::string(P::kTraits.name));
    f.template operator()<P>();
  };
  (call.template operator()<Ps>(), ...);
}
template <class F>
void for_each_policy(F f) {
  for_each_policy(AllPolicies<RealWorld>{}, f);
}

template <class F, class G>
void at_the_same_time(F f, G g) {
  std::thread other(f);
  g();
  other.join();
}

TEST(Lock, scoped_lock_takes_two_of_different_policies_in_either_order) {
  for_each_policy([]<class P> {
    Lock<P> first;
    Lock<Ttas<RealWorld>> second;
    int count = 0;
    const auto add = [&count](auto& one, auto& two) {
      for (int i = 0; i < 2000; ++i) {
        const std::scoped_lock both(one, two);
        ++count;
      }
    };
    at_the_same_time([&] { add(first, second); }, [&] { add(second, first); });
    EXPECT_EQ(count, 4000);
  });
}

TEST(Lock, unique_lock_and_a_condition_variable_pass_a_turn_to_and_fro) {
  for_each_policy([]<class P> {
    Lock<P> lock;
    std::condition_variable_any changed;
    int turn = 0;
    const auto play = [&](int me) {
      for (int i = 0; i < 50; ++i) {
        std::unique_lock<Lock<P>> held(lock);
        changed.wait(held, [&] { return turn % 2 == me; });
        ++turn;
        changed.notify_one();
      }
    };
    at_the_same_time([&] { play(0); }, [&] { play(1); });
    EXPECT_EQ(turn, 100);
  });
}

TEST(Lock, try_to_lock_fails_while_another_thread_holds_it) {
  for_each_policy([]<class P> {
    Lock<P> lock;
    const auto got_it = [&lock] {
      bool got = false;
      std::thread([&] { got = std::unique_lock<Lock<P>>(lock, std::try_to_lock).owns_lock(); }).join();
      return got;
    };
    {
      const std::lock_guard<Lock<P>> held(lock);
      EXPECT_FALSE(got_it());
    }
    EXPECT_TRUE(got_it());
  });
}

TEST(Lock, shared_locks_are_held_together_and_keep_a_writer_out) {
  int shared_policies = 0;
  for_each_policy([&]<class P> {
    if constexpr (SharedLockable<P>) {
      ++shared_policies;
      Lock<P> lock;
      const auto other_thread = [&lock]<class Held>(std::type_identity<Held>) {
        bool got = false;
        std::thread([&] { got = Held(lock, std::try_to_lock).owns_lock(); }).join();
        return got;
      };
      const std::shared_lock<Lock<P>> mine(lock);
      EXPECT_TRUE(other_thread(std::type_identity<std::shared_lock<Lock<P>>>{}));
      EXPECT_FALSE(other_thread(std::type_identity<std::unique_lock<Lock<P>>>{}));
    }
  });
  EXPECT_GT(shared_policies, 0);
}

// `Held` is unique_lock or shared_lock of a lock that a writer holds until the end.
template <class Held, class L>
void expect_timed_waits(L& lock) {
  std::unique_lock<L> writer(lock);
  const auto wait = [&lock](auto patience) {
    const Held mine(lock, patience);
    return mine.owns_lock();
  };
  std::thread([&] {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(wait(5ms));
    EXPECT_FALSE(wait(start + 10ms));
    EXPECT_GE(std::chrono::steady_clock::now() - start, 10ms);
    EXPECT_FALSE(wait(-1s));
    EXPECT_FALSE(wait(std::chrono::system_clock::now() - 1h));
  }).join();
  at_the_same_time([&] { EXPECT_TRUE(wait(1h)); }, [&] { writer.unlock(); });
}

TEST(Lock, a_timed_wait_ends_at_its_time_or_with_the_lock) {
  int timed_policies = 0;
  for_each_policy([&]<class P> {
    Lock<P> lock;
    if constexpr (TimedLockable<P>) expect_timed_waits<std::unique_lock<Lock<P>>>(lock);
    if constexpr (SharedTimedLockable<P>) expect_timed_waits<std::shared_lock<Lock<P>>>(lock);
    timed_policies += TimedLockable<P> ? 1 : 0;
  });
  EXPECT_GT(timed_policies, 0);
}

// A time that lies behind has passed, one that no 64 bits of nanoseconds reach never comes.
TEST(Lock, a_timed_wait_takes_any_time_that_there_is) {
  Lock<Bounded<RealWorld>> lock;
  const std::unique_lock holder(lock);
  const auto fails_at_once = [&](auto end) { std::thread([&] { EXPECT_FALSE(lock.try_lock_until(end)); }).join(); };
  fails_at_once(std::chrono::steady_clock::time_point::min());
  fails_at_once(std::chrono::system_clock::time_point::min());
  std::thread([&] { EXPECT_FALSE(lock.try_lock_for(std::chrono::hours::min())); }).join();
  const auto has_no_end = [](auto wait) {
    Lock<Bounded<RealWorld>> other_lock;
    std::unique_lock holding(other_lock);
    std::thread waiter([&] {
      std::unique_lock waiting(other_lock, std::defer_lock);
      EXPECT_TRUE(wait(waiting));
    });
    std::this_thread::sleep_for(20ms);  // time for a wait that is too short to fail
    holding.unlock();
    waiter.join();
  };
  has_no_end([](auto& waiting) { return waiting.try_lock_for(std::chrono::hours::max()); });
  has_no_end([](auto& waiting) { return waiting.try_lock_for(std::chrono::duration<double>(1e30)); });
  has_no_end([](auto& waiting) { return waiting.try_lock_until(std::chrono::steady_clock::time_point::max()); });
}

TEST(Lock, those_without_a_class_share_one_of_their_policy) {
  auto& bounded = Lock<Bounded<RealWorld>>::default_class();
  EXPECT_EQ(bounded.name(), "bounded");
  EXPECT_NE(&bounded, &Lock<Handoff<RealWorld>>::default_class());
  LockClass<RealWorld> mine("mine");
  Lock<Bounded<RealWorld>> first, second, third(mine);
  EXPECT_EQ(&first.lock_class(), &bounded);
  EXPECT_EQ(&second.lock_class(), &bounded);
  EXPECT_EQ(&third.lock_class(), &mine);
  const std::uint64_t before = bounded.total(Event::kPageLockFast);
  { const std::scoped_lock all(first, second, third); }
  EXPECT_EQ(bounded.total(Event::kPageLockFast), before + 2);
  EXPECT_EQ(mine.total(Event::kPageLockFast), 1u);
}

void take_what_is_held(Lock<None>& lock) CONVOY_NO_TSA {
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.try_lock_shared());
  lock.unlock_shared();
  lock.unlock();
}

TEST(None, excludes_nobody) {
  Lock<None> lock;
  const std::scoped_lock held(lock);
  take_what_is_held(lock);
}

}  // namespace
}  // namespace convoy
