// lock_order_test.cc — Goal: an order of locks that could end in a deadlock is reported, and no other is.
// SPDX-License-Identifier: MIT
//
// Method: two threads take locks by guards. What is to be reported is explored without a preemption, so that no
// schedule deadlocks and only the order can tell; what is not, under every schedule up to three.
#include "locks/lock_order.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "locks/annotations.h"
#include "sim/explore_world.h"
#include "sim/explorer.h"
#include "tests/cells.h"

namespace convoy {
namespace {

using W = ExploreWorld;
using Page = Bounded<W>;
using Swappable = AnyLock<W, PolicyList<Bounded<W>, Ticket<W>>>;

// Readers beside each other, recursion included: the smallest lock of that kind.
class CONVOY_CAPABILITY("readers") Readers {
 public:
  explicit Readers(LockClass<W>& lock_class) : class_(lock_class) {}
  void lock() CONVOY_ACQUIRE() CONVOY_NO_TSA {
    W::await_exchange(word_, kWriter, acquire, [](std::uint32_t old) { return old == 0; });
  }
  bool try_lock() CONVOY_TRY_ACQUIRE(true) CONVOY_NO_TSA {
    std::uint32_t free = 0;
    return word_.compare_exchange(free, kWriter, acquire);
  }
  void unlock() CONVOY_RELEASE() CONVOY_NO_TSA { word_.store(0, release); }
  void lock_shared() CONVOY_ACQUIRE_SHARED() CONVOY_NO_TSA {
    std::uint32_t word = 0;
    do {
      word = W::await(word_, relaxed, [](std::uint32_t now) { return now < kWriter; });
    } while (!word_.compare_exchange(word, word + 1, acquire));
  }
  bool try_lock_shared() CONVOY_TRY_ACQUIRE_SHARED(true) CONVOY_NO_TSA { return false; }
  void unlock_shared() CONVOY_RELEASE_SHARED() CONVOY_NO_TSA { word_.fetch_sub(1, release); }
  LockClass<W>& lock_class() { return class_; }

 private:
  static constexpr std::uint32_t kWriter = 1000;
  LockClass<W>& class_;
  Atomic<W, std::uint32_t> word_{0};
};

struct Locks {
  LockClass<W> page_class{"page"};
  LockClass<W> mapping_class{"mapping"};
  LockClass<W> lru_class{"lru"};
  LockClass<W> spinning_class{"spinning", 1};
  Page page{page_class};
  Page next_page{page_class};
  Page mapping{mapping_class};
  Page lru{lru_class};
  Readers readers{mapping_class};
  Ticket<W> ticket{spinning_class};
  Swappable sleeper{page_class};
  Swappable spinner{spinning_class};
};

constexpr Site kFirst{"first"}, kSecond{"second"}, kThird{"third"}, kFourth{"fourth"};

using Body = void (*)(Locks&);

class TwoBodies : public Scenario {
 public:
  TwoBodies(Body first, Body second) : bodies_{first, second} {}
  int threads() const override { return 2; }
  void run(int thread) override { bodies_[thread](locks_); }

 private:
  Locks locks_;
  Body bodies_[2];
};

// What is reported when one thread runs after the other.
std::string report_of(
    Body first, Body second = [](Locks&) {}) {
  Explorer explorer;
  ExploreOptions options;
  options.preemption_bound = 0;
  options.spurious_wakes = 0;
  const Exploration found = explorer.explore([=] { return std::make_unique<TwoBodies>(first, second); }, options);
  return found.defect ? found.defect->kind + ": " + found.defect->text : "nothing";
}

void expect_nothing(Body first, Body second) {
  Explorer explorer;
  const Exploration all = explorer.explore([=] { return std::make_unique<TwoBodies>(first, second); }, {});
  EXPECT_FALSE(all.defect) << all.defect->kind << ": " << all.defect->text << '\n' << all.defect->ladder;
  EXPECT_TRUE(all.exhausted);
}

void page_then_mapping(Locks& locks) {
  const Guard<W, Page> page(locks.page, kFirst);
  const Guard<W, Page> mapping(locks.mapping, kSecond);
}
void mapping_then_page(Locks& locks) {
  const Guard<W, Page> mapping(locks.mapping, kThird);
  const Guard<W, Page> page(locks.page, kFourth);
}

TEST(LockOrder, two_classes_in_opposite_order_are_reported_without_a_deadlock) {
  EXPECT_EQ(report_of(page_then_mapping, mapping_then_page),
            "panic: lock order: ABBA: page (fourth) under mapping (third); seen before: mapping (second) under page "
            "(first)");
}

TEST(LockOrder, one_thread_alone_can_show_it) {
  EXPECT_NE(report_of([](Locks& locks) {
              page_then_mapping(locks);
              mapping_then_page(locks);
            }).find("ABBA"),
            std::string::npos);
}

TEST(LockOrder, two_page_locks_in_opposite_order_are_reported_without_a_deadlock) {
  const auto rising = [](Locks& locks) {
    const Guard<W, Page> page(locks.page, kFirst);
    const Guard<W, Page> next(locks.next_page, kSecond);
  };
  const auto falling = [](Locks& locks) {
    const Guard<W, Page> next(locks.next_page, kThird);
    const Guard<W, Page> page(locks.page, kFourth);
  };
  EXPECT_EQ(report_of(rising, falling),
            "panic: lock order: ABBA: two locks of one class are taken in falling order: page (fourth) under page "
            "(third)");
  expect_nothing(rising, rising);
}

TEST(LockOrder, a_cycle_of_three_classes_is_told_with_its_path) {
  const auto first_two = [](Locks& locks) {
    page_then_mapping(locks);
    const Guard<W, Page> mapping(locks.mapping, kFirst);
    const Guard<W, Page> lru(locks.lru, kSecond);
  };
  const auto last = [](Locks& locks) {
    const Guard<W, Page> lru(locks.lru, kThird);
    const Guard<W, Page> page(locks.page, kFourth);
  };
  EXPECT_EQ(report_of(first_two, last),
            "panic: lock order: ABBA: page (fourth) under lru (third); seen before: lru (second) under mapping "
            "(first), mapping (second) under page (first)");
}

TEST(LockOrder, the_same_order_in_both_threads_is_none) {
  expect_nothing(
      [](Locks& locks) {
        const Guard<W, Page> page(locks.page, kFirst);
        const Guard<W, Page> mapping(locks.mapping, kSecond);
        const Guard<W, Page> lru(locks.lru, kThird);
      },
      [](Locks& locks) {
        { const Guard<W, Page> lru(locks.lru, kFourth); }
        page_then_mapping(locks);
        const Guard<W, Page> page(locks.page, kFirst);
        const Guard<W, Page> lru(locks.lru, kSecond);
      });
}

TEST(LockOrder, who_only_tries_waits_for_nobody) {
  expect_nothing(page_then_mapping, [](Locks& locks) {
    const Guard<W, Page> mapping(locks.mapping, kThird);
    if (const TryGuard<W, Page> page(locks.page, kFourth); page) W::witness("both");
  });
}

TEST(LockOrder, what_is_awaited_under_a_lock_that_was_tried_counts) {
  const auto try_mapping_then_page = [](Locks& locks) {
    const TryGuard<W, Page> mapping(locks.mapping, kThird);
    if (mapping) const Guard<W, Page> page(locks.page, kFourth);
  };
  EXPECT_NE(report_of(page_then_mapping, try_mapping_then_page).find("ABBA"), std::string::npos);
}

TEST(LockOrder, a_lock_that_was_let_go_is_not_held_whatever_the_order_of_release) {
  expect_nothing(
      [](Locks& locks) {
        std::optional<Guard<W, Page>> mapping;
        mapping.emplace(locks.mapping, kFirst);
        const TryGuard<W, Page> lru(locks.lru, kSecond);
        mapping.reset();
        const Guard<W, Page> page(locks.page, kThird);
      },
      [](Locks& locks) {
        const Guard<W, Page> page(locks.page, kFirst);
        const Guard<W, Page> mapping(locks.mapping, kSecond);
      });
}

TEST(LockOrder, a_reader_may_enter_again_and_a_writer_may_not) {
  expect_nothing(
      [](Locks& locks) CONVOY_NO_TSA {
        const SharedGuard<W, Readers> outer(locks.readers, kFirst);
        const SharedGuard<W, Readers> inner(locks.readers, kSecond);
      },
      [](Locks& locks) { const Guard<W, Readers> writer(locks.readers, kThird); });
  EXPECT_EQ(report_of([](Locks& locks) CONVOY_NO_TSA {
              const SharedGuard<W, Readers> outer(locks.readers, kFirst);
              const Guard<W, Readers> inner(locks.readers, kSecond);
            }),
            "panic: lock order: a thread waits for a lock that it holds: mapping (second) under mapping (first)");
}

TEST(LockOrder, a_reader_counts_as_a_writer) {
  const auto readers_then_page = [](Locks& locks) {
    const SharedGuard<W, Readers> readers(locks.readers, kThird);
    const Guard<W, Page> page(locks.page, kFourth);
  };
  EXPECT_NE(report_of(page_then_mapping, readers_then_page).find("ABBA"), std::string::npos);
}

TEST(LockOrder, a_sleeping_lock_under_a_spinning_one_is_reported) {
  EXPECT_EQ(report_of([](Locks& locks) {
              const Guard<W, Swappable> spinner(locks.spinner, kFirst);
              const Guard<W, Page> page(locks.page, kSecond);
            }),
            "panic: lock order: sleeps while holding a spinning lock: page (second) under spinning (first)");
  EXPECT_EQ(report_of([](Locks& locks) {
              const Guard<W, Ticket<W>> ticket(locks.ticket, kFirst);
              const Guard<W, Swappable> sleeper(locks.sleeper, kSecond);
            }),
            "panic: lock order: sleeps while holding a spinning lock: page (second) under a lock of no known class "
            "(first)");
}

TEST(LockOrder, a_park_under_a_spinning_lock_is_reported) {
  EXPECT_EQ(report_of([](Locks& locks) {
              const Guard<W, Swappable> spinner(locks.spinner, kFirst);
              W::prepare_park();
              W::park_until(W::deadline_in(1));
            }),
            "panic: lock order: sleeps while holding a spinning lock: spinning (first)");
}

TEST(LockOrder, a_spinning_lock_under_either_kind_is_no_sleep) {
  expect_nothing(
      [](Locks& locks) {
        const Guard<W, Page> page(locks.page, kFirst);
        const Guard<W, Swappable> spinner(locks.spinner, kSecond);
        const Guard<W, Ticket<W>> ticket(locks.ticket, kThird);
      },
      [](Locks& locks) { const Guard<W, Swappable> spinner(locks.spinner, kFirst); });
}

TEST(LockOrder, a_class_that_has_ended_leaves_no_edges) {
  LockOrder order;
  const HeldLock a{&order, &kFirst, 1, order.add("a"), false, false};
  const HeldLock b{&a, &kSecond, 1, order.add("b"), false, false};
  OrderReport report;
  order.take_under(a, b, report);
  order.remove(b.position);
  ASSERT_EQ(order.add("another b"), b.position);
  order.take_under(b, a, report);
  EXPECT_TRUE(report.empty()) << report.text();
  order.take_under(a, b, report);
  EXPECT_FALSE(report.empty());
}

}  // namespace
}  // namespace convoy
