// lock_order_test.cc — Goal: on real threads a bad order of locks ends the process, with both call sites, and a sleep
// under a spinning lock is told once.
// SPDX-License-Identifier: MIT
//
// Method: a world of real threads that checks whatever the build says, so that every preset runs the tests; and the
// build's own.
#include "locks/lock_order.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "locks/policies.h"
#include "locks/std_lock.h"

namespace convoy {
namespace {

struct CheckedWorld : RealWorld {
  static constexpr bool kChecksOrder = true;
};
static_assert(World<CheckedWorld>);

using Page = Bounded<CheckedWorld>;
constexpr Site kFirst{"first"}, kSecond{"second"}, kThird{"third"}, kFourth{"fourth"};

template <class W>
struct TwoClasses {
  using Lock = Bounded<W>;
  LockClass<W> page_class{"page"};
  LockClass<W> mapping_class{"mapping"};
  Lock page{page_class};
  Lock next_page{page_class};
  Lock mapping{mapping_class};

  void page_then_mapping() {
    const Guard<W, Lock> outer(page, kFirst);
    const Guard<W, Lock> inner(mapping, kSecond);
  }
  void two_pages(Lock& one, Lock& other) {
    const Guard<W, Lock> outer(one, kFirst);
    const Guard<W, Lock> inner(other, kSecond);
  }
  void mapping_then_page() {
    const Guard<W, Lock> outer(mapping, kThird);
    const Guard<W, Lock> inner(page, kFourth);
  }
};

TEST(LockOrder, two_threads_in_opposite_order_end_the_process_though_they_never_meet) {
  TwoClasses<CheckedWorld> locks;
  std::thread([&] { locks.page_then_mapping(); }).join();
  EXPECT_DEATH(std::thread([&] { locks.mapping_then_page(); }).join(),
               "panic: lock order: ABBA: page .fourth. under mapping .third.; seen before: mapping .second. under page "
               ".first.");
}

TEST(LockOrder, two_page_locks_in_falling_order_end_the_process) {
  TwoClasses<CheckedWorld> locks;
  locks.two_pages(locks.page, locks.next_page);
  EXPECT_DEATH(
      locks.two_pages(locks.next_page, locks.page),
      "panic: lock order: ABBA: two locks of one class are taken in falling order: page .second. under page .first.");
}

TEST(LockOrder, many_threads_in_one_order_are_left_alone) {
  TwoClasses<CheckedWorld> locks;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 1000; ++round) locks.page_then_mapping();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(CheckedWorld::held_locks().begin(), CheckedWorld::held_locks().end());
}

TEST(LockOrder, a_sleeping_lock_under_a_spinning_one_is_told_once) {
  LockClass<CheckedWorld> ticket_class{"ticket"};
  Ticket<CheckedWorld> ticket{ticket_class};
  TwoClasses<CheckedWorld> locks;
  testing::internal::CaptureStderr();
  for (int round = 0; round < 2; ++round) {
    const Guard<CheckedWorld, Ticket<CheckedWorld>> outer(ticket, kFirst);
    const Guard<CheckedWorld, Page> inner(locks.page, kSecond);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "warning: lock order: sleeps while holding a spinning lock: page (second) under a lock of no known class "
            "(first)\n");
}

TEST(LockOrder, locks_that_were_made_without_a_class_are_in_no_order) {
  using Lock = convoy::Lock<Bounded<RealWorld>>;
  Lock first, second;
  EXPECT_EQ(first.lock_class().order_position(), 0u);
  const auto take_both = [](Lock& one, Lock& other) {
    const Guard<RealWorld, Lock> outer(one, kFirst);
    const Guard<RealWorld, Lock> inner(other, kSecond);
  };
  take_both(first, second);
  take_both(second, first);
}

TEST(LockOrder, the_build_checks_unless_NDEBUG_says_that_it_should_not) {
  const auto both_orders = [] {
    TwoClasses<RealWorld> locks;
    locks.page_then_mapping();
    locks.mapping_then_page();
  };
  if constexpr (RealWorld::kChecksOrder) {
    EXPECT_DEATH(both_orders(), "panic: lock order: ABBA");
  } else {
    both_orders();
    EXPECT_EQ((sizeof(Guard<RealWorld, Bounded<RealWorld>>)), sizeof(void*)) << "a guard is its lock";
  }
}

}  // namespace
}  // namespace convoy
