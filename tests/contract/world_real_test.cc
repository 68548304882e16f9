// world_real_test.cc — Goal: the world of real threads keeps spare nodes and polls as world.h says. Method: by hand.
// SPDX-License-Identifier: MIT
#include "locks/world_real.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "locks/annotations.h"
#include "locks/policies.h"

namespace convoy {
namespace {

using W = RealWorld;

struct alignas(64) Node {
  Atomic<W, std::uint32_t> flag{7};
};
struct OtherNode {
  Atomic<W, std::uint64_t> flag{0};
};

// Wakes within NoPreempt are issued at its end, so that until then a woken thread certainly sleeps.
TEST(RealWorld, a_woken_thread_is_not_running_before_it_runs) {
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::atomic<std::uint32_t> sleeper{kNone};
  std::atomic<bool> over{false};
  std::thread thread([&] {
    W::prepare_park();
    sleeper = W::self().index;
    W::park();
    over = true;
  });
  while (sleeper == kNone) std::this_thread::yield();
  const Thread other{sleeper};
  while (W::is_running(other) && !over) std::this_thread::yield();
  {
    const W::NoPreempt keep;
    EXPECT_TRUE(W::unpark(other));
    EXPECT_FALSE(W::is_running(other));
  }
  thread.join();
  EXPECT_TRUE(over);
}

TEST(SpareNodes, a_node_is_with_one_user_at_a_time_and_comes_back_as_it_was_left) {
  Node* first = W::take_spare<Node>();
  Node* second = W::take_spare<Node>();
  ASSERT_NE(first, second);
  EXPECT_EQ(first->flag.load(relaxed), 7u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second) % alignof(Node), 0u);
  first->flag.store(1, relaxed);
  W::give_spare(first);
  Node* again = W::take_spare<Node>();
  EXPECT_EQ(again, first) << "the last node given back is the first taken";
  EXPECT_EQ(again->flag.load(relaxed), 1u);
  W::give_spare(second);
  W::give_spare(again);
}

TEST(SpareNodes, a_thread_has_as_many_as_it_ever_used_at_a_time) {
  std::set<Node*> seen;
  for (int round = 0; round < 1000; ++round) {
    std::vector<Node*> held;
    for (int i = 0; i < 3; ++i) held.push_back(W::take_spare<Node>());
    seen.insert(held.begin(), held.end());
    for (Node* node : held) W::give_spare(node);  // first taken, first given
  }
  EXPECT_EQ(seen.size(), 3u);
}

TEST(SpareNodes, a_node_keeps_its_type) {
  Node* node = W::take_spare<Node>();
  W::give_spare(node);
  OtherNode* other = W::take_spare<OtherNode>();
  EXPECT_NE(static_cast<void*>(other), static_cast<void*>(node));
  W::give_spare(other);
  EXPECT_EQ(W::take_spare<Node>(), node);
  W::give_spare(node);
}

TEST(SpareNodes, each_thread_has_its_own_and_leaves_them_to_the_next_thread_in_its_place) {
  Node* mine = W::take_spare<Node>();
  W::give_spare(mine);
  std::vector<Node*> theirs;
  std::vector<std::uint32_t> places;
  for (int i = 0; i < 2; ++i) {
    std::thread([&] {
      theirs.push_back(W::take_spare<Node>());
      places.push_back(W::self().index);
      W::give_spare(theirs.back());
    }).join();
  }
  EXPECT_NE(theirs[0], mine);
  ASSERT_EQ(places[0], places[1]) << "the place of a thread that has ended is taken first";
  EXPECT_EQ(theirs[0], theirs[1]);
}

TEST(AwaitExchange, ends_with_the_exchange_that_found_what_it_wanted) {
  Atomic<W, std::uint32_t> word{1};
  std::uint32_t found = 9;
  std::thread waiter([&] { found = W::await_exchange(word, 1u, acquire, [](std::uint32_t old) { return old != 1; }); });
  word.store(5, release);
  waiter.join();
  EXPECT_EQ(found, 5u);
  EXPECT_EQ(word.load(relaxed), 1u);
}

void unlock_whoever_holds_it(Mcs<W>& lock) CONVOY_NO_TSA { lock.unlock(); }

TEST(Mcs, says_who_unlocks_what_nobody_holds) {
  LockClass<W> lock_class("test");
  Mcs<W> lock(lock_class);
  EXPECT_DEATH(unlock_whoever_holds_it(lock), "panic: mcs: unlock of a lock that is not held");
  lock.lock();
  lock.unlock();
  EXPECT_DEATH(unlock_whoever_holds_it(lock), "panic: mcs: unlock of a lock that is not held");
}

constexpr std::uint64_t kMinute = 60'000'000'000;

TEST(Run, every_body_is_called_once_on_a_thread_of_its_own) {
  constexpr std::uint32_t kThreads = 9;
  std::vector<std::uint32_t> calls(kThreads);
  std::vector<std::thread::id> ids(kThreads);
  W::run(kThreads, kMinute, [&](std::uint32_t i) {
    ++calls[i];
    ids[i] = std::this_thread::get_id();
  });
  EXPECT_EQ(calls, std::vector<std::uint32_t>(kThreads, 1));
  std::set<std::thread::id> distinct(ids.begin(), ids.end());
  distinct.insert(std::this_thread::get_id());
  EXPECT_EQ(distinct.size(), kThreads + 1);
}

TEST(Run, time_is_up_after_the_time_and_not_before) {
  constexpr std::uint64_t kTime = 50'000'000;
  std::uint64_t lasted[2] = {};
  bool was_stopped[2] = {true, true};
  const std::uint64_t begin = W::now_ns();
  W::run(2, kTime, [&](std::uint32_t i) {
    was_stopped[i] = W::stopped();
    while (!W::stopped()) W::work(1);
    lasted[i] = W::now_ns() - begin;
  });
  for (int i = 0; i < 2; ++i) EXPECT_GE(lasted[i], kTime);
  EXPECT_FALSE(was_stopped[0] && was_stopped[1]);
  EXPECT_LT(W::now_ns() - begin, kMinute);
  EXPECT_TRUE(W::stopped()) << "no run is going on";
}

TEST(Run, ends_early_when_all_have_returned_and_when_it_is_stopped) {
  const std::uint64_t begin = W::now_ns();
  W::run(3, kMinute, [](std::uint32_t) {});
  W::run(3, kMinute, [](std::uint32_t i) {
    if (i == 1) W::stop();
    while (!W::stopped()) W::work(1);
  });
  EXPECT_LT(W::now_ns() - begin, kMinute);
}

}  // namespace
}  // namespace convoy
