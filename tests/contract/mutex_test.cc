// mutex_test.cc — Goal: the mutexes say who holds them, and refuse what nobody may do. Method: by hand.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <thread>

#include "locks/annotations.h"
#include "locks/policies.h"

namespace convoy {
namespace {

using W = RealWorld;

template <class Lock>
class Mutexes : public testing::Test {
 protected:
  LockClass<W> class_{"test"};
  Lock lock_{class_};
};
using BothMutexes = testing::Types<Mutex<W>, Mutex312<W>>;
TYPED_TEST_SUITE(Mutexes, BothMutexes);

TYPED_TEST(Mutexes, one_at_a_time) CONVOY_NO_TSA {
  TypeParam& lock = this->lock_;
  EXPECT_FALSE(lock.is_locked());
  lock.lock();
  EXPECT_TRUE(lock.is_locked());
  std::thread([&]() CONVOY_NO_TSA { EXPECT_FALSE(lock.try_lock()); }).join();
  lock.unlock();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  EXPECT_EQ(this->class_.total(Event::kMutexSlow), 0u) << "no slow path without contention";
}

TYPED_TEST(Mutexes, a_wait_ends_at_its_deadline) CONVOY_NO_TSA {
  TypeParam& lock = this->lock_;
  lock.lock();
  std::thread([&]() CONVOY_NO_TSA { EXPECT_FALSE(lock.try_lock_until(W::deadline_in(1'000'000))); }).join();
  EXPECT_EQ(this->class_.total(Event::kMutexLeave), 1u);
  lock.unlock();
  EXPECT_TRUE(lock.try_lock_until(W::deadline_in(0))) << "a deadline that has passed still tries once";
  lock.unlock();
}

TYPED_TEST(Mutexes, says_who_unlocks_what_nobody_holds) CONVOY_NO_TSA {
  EXPECT_DEATH(this->lock_.unlock(), "panic: test: unlock of a mutex.* that is not held");
}

TEST(Mutex, says_who_unlocks_what_another_holds) CONVOY_NO_TSA {
  LockClass<W> lock_class("test");
  Mutex<W> lock(lock_class);
  lock.lock();
  std::thread([&]() CONVOY_NO_TSA {
    EXPECT_DEATH(lock.unlock(),
                 "panic: test: unlock of a mutex that is not held by this thread; word = . owner [0-9]+");
  }).join();
  lock.unlock();
}

}  // namespace
}  // namespace convoy
