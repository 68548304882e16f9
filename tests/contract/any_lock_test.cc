// any_lock_test.cc — Goal: each word of an AnyLock reaches the policy that its class has. Method: by hand.
// SPDX-License-Identifier: MIT
#include "locks/any_lock.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "locks/annotations.h"
#include "locks/policies.h"

namespace convoy {
namespace {

using W = RealWorld;
using Policies = PolicyList<StdSharedMutex, Bounded<W>, Ticket<W>>;
using Any = AnyLock<W, Policies>;

// By another thread: who holds a std::shared_mutex must not try it.
template <class Try>
bool elsewhere(Try attempt) {
  bool taken = false;
  std::thread([&] { taken = attempt(); }).join();
  return taken;
}

bool try_and_let_go(Any& lock) {
  return elsewhere([&]() CONVOY_NO_TSA {
    const bool taken = lock.try_lock();
    if (taken) lock.unlock();
    return taken;
  });
}
bool try_shared_and_let_go(Any& lock) {
  return elsewhere([&]() CONVOY_NO_TSA {
    const bool taken = lock.try_lock_shared();
    if (taken) lock.unlock_shared();
    return taken;
  });
}

void expect_every_word(Any& lock, bool readers_share) CONVOY_NO_TSA {
  EXPECT_TRUE(try_and_let_go(lock));
  EXPECT_TRUE(try_shared_and_let_go(lock));
  lock.lock();
  EXPECT_FALSE(try_and_let_go(lock));
  EXPECT_FALSE(try_shared_and_let_go(lock));
  lock.unlock();
  lock.lock_shared();
  EXPECT_FALSE(try_and_let_go(lock));
  EXPECT_EQ(try_shared_and_let_go(lock), readers_share);
  lock.unlock_shared();
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_FALSE(try_and_let_go(lock));
  EXPECT_EQ(try_shared_and_let_go(lock), readers_share);
  lock.unlock_shared();
  EXPECT_TRUE(try_and_let_go(lock));
}

TEST(AnyLock, each_word_reaches_the_policy_at_its_position) {
  const auto traits = traits_of(Policies{});
  for (std::uint8_t position = 0; position < traits.size(); ++position) {
    LockClass<W> lock_class("test", position);
    Any lock(lock_class);
    SCOPED_TRACE(lock.traits().name);
    EXPECT_EQ(lock.traits().name, traits[position].name);
    EXPECT_EQ(&lock.lock_class(), &lock_class);
    expect_every_word(lock, position == 0);
  }
}

TEST(AnyLock, is_the_policy_that_it_was_reset_to) {
  LockClass<W> lock_class("test", 0);
  Any lock(lock_class);
  for (const std::uint8_t position : {2, 1, 0, 1}) {
    lock.reset(position);
    lock_class.set_policy(position);
    expect_every_word(lock, position == 0);
  }
}

TEST(AnyLock, says_whether_it_is_locked_where_every_policy_can) {
  LockClass<W> lock_class("test", 1);
  AnyLock<W, PolicyList<Bounded<W>, Ticket<W>>> lock(lock_class);
  EXPECT_FALSE(lock.is_locked());
  static constexpr Site kSite{"test"};
  const Guard<W, decltype(lock)> guard(lock, kSite);
  EXPECT_TRUE(lock.is_locked());
}

}  // namespace
}  // namespace convoy
