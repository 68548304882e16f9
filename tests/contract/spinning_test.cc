// spinning_test.cc — Goal: the words of the spinning locks say who holds them, and refuse what nobody may do.
// SPDX-License-Identifier: MIT
//
// Method: by hand, on one thread; each policy and each value of a knob that decides how it works.
#include <gtest/gtest.h>

#include <type_traits>

#include "locks/annotations.h"
#include "locks/policies.h"
#include "tests/knob_policies.h"

namespace convoy {
namespace {

using W = RealWorld;

template <class Lock>
class SharedSpinning : public testing::Test {
 protected:
  LockClass<W> class_{"test"};
  Lock lock_{class_};
};
using SharedLocks =
    testing::Types<Rwlock312<W>, Qrwlock2013<W>, Qrwlock2013FairReaders<W>, Qrwlock<W>, QrwlockWaitingBit<W>>;
TYPED_TEST_SUITE(SharedSpinning, SharedLocks);

TYPED_TEST(SharedSpinning, readers_share_and_a_writer_is_alone) CONVOY_NO_TSA {
  TypeParam& lock = this->lock_;
  EXPECT_FALSE(lock.is_locked());
  lock.lock_shared();
  EXPECT_TRUE(lock.is_locked());
  EXPECT_TRUE(lock.try_lock_shared());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock_shared();
  EXPECT_FALSE(lock.try_lock()) << "one reader is left";
  lock.unlock_shared();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.is_locked());
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_shared());
  lock.unlock();
  EXPECT_FALSE(lock.is_locked());
}

TYPED_TEST(SharedSpinning, says_who_unlocks_what_nobody_holds) CONVOY_NO_TSA {
  TypeParam& lock = this->lock_;
  EXPECT_DEATH(lock.unlock(), "panic: test: unlock of an? .*rwlock.* that is not held so; word = ");
  EXPECT_DEATH(lock.unlock_shared(), "panic: test: unlock_shared of an? .*rwlock.* that is not held so; word = ");
  lock.lock_shared();
  EXPECT_DEATH(lock.unlock(), "unlock of an? .*rwlock.* that is not held so");
  lock.unlock_shared();
  EXPECT_DEATH(lock.unlock_shared(), "unlock_shared of an? .*rwlock.* that is not held so");
  lock.lock();
  EXPECT_DEATH(lock.unlock_shared(), "unlock_shared of an? .*rwlock.* that is not held so");
  lock.unlock();
}

template <class Lock>
class Spinning : public testing::Test {};
using SpinningPolicies = testing::Types<Tas<W>, Ttas<W>, Ticket<W>, Mcs<W>>;
TYPED_TEST_SUITE(Spinning, SpinningPolicies);

// By tas and ttas in debug builds: their unlock is a store, which cannot tell.
TYPED_TEST(Spinning, an_unlock_of_what_is_not_held_is_noticed) CONVOY_NO_TSA {
  LockClass<W> lock_class("test");
  TypeParam lock(lock_class);
  constexpr bool kStores = std::is_same_v<TypeParam, Tas<W>> || std::is_same_v<TypeParam, Ttas<W>>;
  if constexpr (kStores && !W::kDebugChecks) {
    lock.unlock();
    EXPECT_TRUE(lock.try_lock());
    return;
  }
  EXPECT_DEATH(lock.unlock(), "panic: [a-z]+: unlock of a lock that is not held");
  lock.lock();
  lock.unlock();
  EXPECT_DEATH(lock.unlock(), "panic: [a-z]+: unlock of a lock that is not held");
}

TEST(Qspinlock, says_who_unlocks_what_nobody_holds) CONVOY_NO_TSA {
  LockClass<W> lock_class("test");
  Qspinlock<W> lock(lock_class);
  EXPECT_DEATH(lock.unlock(), "panic: test: unlock of a qspinlock that is not held; word = ");
  ASSERT_TRUE(lock.try_lock());
  EXPECT_TRUE(lock.is_locked());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_DEATH(lock.unlock(), "unlock of a qspinlock that is not held");
}

TEST(Qrwlock, keeps_the_layout_that_it_was_built_with) CONVOY_NO_TSA {
  LockClass<W> lock_class("test");
  Qrwlock<W> lock(lock_class);
  lock.lock_shared();
  lock_class.set_knob(Knob::kWaitingBit, 1);
  EXPECT_TRUE(lock.try_lock_shared());
  lock.unlock_shared();
  lock.unlock_shared();
  EXPECT_FALSE(lock.is_locked());
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
  EXPECT_FALSE(info(Knob::kWaitingBit).live);
}

}  // namespace
}  // namespace convoy
