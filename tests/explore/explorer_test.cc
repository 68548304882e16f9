// explorer_test.cc — The explorer finds each kind of defect, and only where there is one.
// SPDX-License-Identifier: MIT
#include "sim/explorer.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/explore_world.h"
#include "tests/cells.h"

namespace convoy {
namespace {

using W = ExploreWorld;

// A scenario of two threads from two functions over shared data.
template <class Shared>
class TwoThreads : public Scenario {
 public:
  using Body = void (*)(Shared&);
  TwoThreads(Body first, Body second, Body finish) : bodies_{first, second}, finish_(finish) {}
  int threads() const override { return 2; }
  void run(int thread) override { bodies_[thread](shared_); }
  void finish() override { finish_(shared_); }

 private:
  Shared shared_;
  Body bodies_[2];
  Body finish_;
};

template <class Shared>
Exploration explore_two(
    typename TwoThreads<Shared>::Body first, typename TwoThreads<Shared>::Body second,
    typename TwoThreads<Shared>::Body finish = [](Shared&) {}, const ExploreOptions& options = {}) {
  Explorer explorer;
  return explorer.explore([=] { return std::make_unique<TwoThreads<Shared>>(first, second, finish); }, options);
}

std::string kind_of(const Exploration& exploration) { return exploration.defect ? exploration.defect->kind : "none"; }

struct Words {
  Atomic<W, std::uint32_t> a{0};
  Atomic<W, std::uint32_t> b{0};
  Plain<W, int> data{0};
  std::optional<Plain<W, int>> mortal{0};
};

TEST(Explorer, a_lost_update_needs_one_preemption) {
  const auto increment = [](Words& w) { w.a.store(w.a.load(relaxed) + 1, relaxed); };
  const auto finish = [](Words& w) { W::require(w.a.load(relaxed) == 2, "both increments count"); };
  ExploreOptions none;
  none.preemption_bound = 0;
  EXPECT_EQ(kind_of(explore_two<Words>(increment, increment, finish, none)), "none");
  const Exploration found = explore_two<Words>(increment, increment, finish);
  EXPECT_EQ(kind_of(found), "claim");
  EXPECT_EQ(found.defect->text, "both increments count");
}

TEST(Explorer, a_release_and_an_acquire_make_plain_data_safe) {
  const auto publish = [](Words& w) {
    w.data = 1;
    w.a.store(1, release);
  };
  const auto consume = [](Words& w) {
    if (w.a.load(acquire) == 1) W::require(w.data == 1, "the data is there");
  };
  const Exploration clean = explore_two<Words>(publish, consume);
  EXPECT_EQ(kind_of(clean), "none");
  EXPECT_TRUE(clean.exhausted);
}

TEST(Explorer, a_relaxed_publication_is_a_race) {
  const auto publish = [](Words& w) {
    w.data = 1;
    w.a.store(1, relaxed);
  };
  const auto consume = [](Words& w) {
    if (w.a.load(acquire) == 1) W::require(w.data == 1, "the data is there");
  };
  EXPECT_EQ(kind_of(explore_two<Words>(publish, consume)), "race");
}

TEST(Explorer, a_relaxed_read_modify_write_keeps_a_release_sequence_and_a_store_ends_it) {
  const auto publish = [](Words& w) {
    w.data = 1;
    w.a.store(1, release);
    w.a.fetch_add(1, relaxed);
  };
  const auto publish_over = [](Words& w) {
    w.data = 1;
    w.a.store(1, release);
    w.a.store(2, relaxed);
  };
  const auto consume = [](Words& w) {
    W::await(w.a, acquire, [](std::uint32_t a) { return a == 2; });
    W::require(w.data == 1, "the data is there");
  };
  EXPECT_EQ(kind_of(explore_two<Words>(publish, consume)), "none");
  EXPECT_EQ(kind_of(explore_two<Words>(publish_over, consume)), "race");
}

TEST(Explorer, a_use_after_the_end_is_found_even_when_it_is_ordered) {
  const auto end = [](Words& w) {
    w.mortal.reset();
    w.a.store(1, release);
  };
  const auto use = [](Words& w) {
    W::await(w.a, acquire, [](std::uint32_t a) { return a == 1; });
    *w.mortal = 1;
  };
  EXPECT_EQ(kind_of(explore_two<Words>(end, use)), "dead_object");
}

TEST(Explorer, two_threads_that_await_each_other_are_a_deadlock) {
  const auto first = [](Words& w) {
    W::await(w.a, acquire, [](std::uint32_t a) { return a == 1; });
    w.b.store(1, release);
  };
  const auto second = [](Words& w) {
    W::await(w.b, acquire, [](std::uint32_t b) { return b == 1; });
    w.a.store(1, release);
  };
  EXPECT_EQ(kind_of(explore_two<Words>(first, second)), "deadlock");
}

TEST(Explorer, a_bare_spin_loop_makes_no_progress) {
  const auto spin = [](Words& w) {
    while (w.a.load(acquire) == 0) {}
  };
  const auto set = [](Words& w) { w.a.store(1, release); };
  EXPECT_EQ(kind_of(explore_two<Words>(spin, set)), "no_progress");
}

TEST(Explorer, a_park_without_a_new_test_loses_the_wake_up) {
  const auto sleep = [](Words& w) {
    const bool must_wait = w.a.load(acquire) == 0;
    W::prepare_park();  // too late: an unpark before this is forgotten
    if (must_wait) W::park();
  };
  const auto sleep_well = [](Words& w) {
    W::prepare_park();
    if (w.a.load(acquire) == 0) W::park();
  };
  const auto wake = [](Words& w) {
    w.a.store(1, release);
    W::unpark(Thread{0});
  };
  EXPECT_EQ(kind_of(explore_two<Words>(sleep, wake)), "deadlock");
  EXPECT_EQ(kind_of(explore_two<Words>(sleep_well, wake)), "none");
}

TEST(Explorer, a_wait_without_a_loop_meets_the_spurious_wake) {
  const auto sleep_once = [](Words& w) {
    W::prepare_park();
    if (w.a.load(acquire) == 0) W::park();
    W::require(w.a.load(acquire) == 1, "awake only when woken");
  };
  const auto wake = [](Words& w) {
    w.a.store(1, release);
    W::unpark(Thread{0});
  };
  EXPECT_EQ(kind_of(explore_two<Words>(sleep_once, wake)), "claim");
}

TEST(Explorer, a_deadline_may_pass_or_not_and_stays_passed) {
  const auto sleep = [](Words&) {
    const Deadline deadline = W::deadline_in(1);
    W::prepare_park();
    if (W::park_until(deadline)) {
      W::witness("woken in time");
    } else {
      W::witness("too late");
      W::require(W::expired(deadline), "a deadline that has passed stays passed");
    }
  };
  const auto wake = [](Words&) { W::unpark(Thread{0}); };
  const Exploration all = explore_two<Words>(sleep, wake);
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_EQ(all.witnesses.size(), 2u);
}

struct SharedDeadline {
  Deadline deadline = W::deadline_in(1);
  Atomic<W, std::uint32_t> passed{0};
};

TEST(Explorer, a_deadline_that_one_thread_saw_pass_has_passed_for_all) {
  const auto ask = [](SharedDeadline& shared) {
    const bool passed_before = shared.passed.load(acquire) != 0;
    if (W::expired(shared.deadline)) {
      W::witness(passed_before ? "the second sees it" : "the first sees it");
      shared.passed.store(1, release);
    } else {
      W::require(!passed_before, "a deadline that has passed stays passed");
      W::witness("not yet");
    }
  };
  const Exploration all = explore_two<SharedDeadline>(ask, ask);
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
  EXPECT_EQ(all.witnesses.size(), 3u);
}

struct Node {
  Atomic<W, std::uint32_t> flag{7};
  Plain<W, int> data{7};
};

struct NodeOf {
  Atomic<W, Node*> node{nullptr};
  Atomic<W, std::uint32_t> given_back{0};
};

TEST(Explorer, a_spare_node_comes_back_to_its_thread_as_it_was_left) {
  const auto use = [](NodeOf&) {
    Node* first = W::take_spare<Node>();
    Node* second = W::take_spare<Node>();
    W::require(first != second, "a node is with one user at a time");
    W::require(first->flag.load(relaxed) == 7 && second->data == 7, "a new node is as constructed");
    first->flag.store(1, relaxed);
    first->data = 2;
    W::give_spare(first);
    Node* again = W::take_spare<Node>();
    W::require(again == first, "the last node given back is the first taken");
    W::require(again->flag.load(relaxed) == 1 && again->data == 2, "it holds what it held");
    W::give_spare(second);
    W::give_spare(again);
    W::witness("used");
  };
  const Exploration all = explore_two<NodeOf>(use, use);
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
  EXPECT_EQ(all.witnesses, std::vector<std::string>{"used"});
}

TEST(Explorer, a_spare_node_touched_by_others_after_it_was_given_back_is_found) {
  const auto lend = [](NodeOf& shared) {
    Node* node = W::take_spare<Node>();
    shared.node.store(node, release);
    W::give_spare(node);
    shared.given_back.store(1, release);
  };
  const auto lend_and_take_again = [](NodeOf& shared) {
    Node* node = W::take_spare<Node>();
    shared.node.store(node, release);
    shared.given_back.store(1, release);
    W::give_spare(node);
    W::require(W::take_spare<Node>() == node, "the same node");
  };
  const auto touch_late = [](NodeOf& shared) {
    W::await(shared.given_back, acquire, [](std::uint32_t given_back) { return given_back == 1; });
    shared.node.load(acquire)->flag.store(1, release);
  };
  EXPECT_EQ(kind_of(explore_two<NodeOf>(lend, touch_late)), "dead_object");
  EXPECT_EQ(kind_of(explore_two<NodeOf>(lend_and_take_again, touch_late)), "race");
}

TEST(Explorer, a_spare_node_given_back_twice_is_found) {
  const auto twice = [](NodeOf&) {
    Node* node = W::take_spare<Node>();
    W::give_spare(node);
    W::give_spare(node);
  };
  EXPECT_EQ(kind_of(explore_two<NodeOf>(twice, [](NodeOf&) {})), "dead_object");
}

TEST(Explorer, a_wait_by_exchange_ends_with_the_exchange_that_found_what_it_wanted) {
  const auto take = [](Words& w) {
    const auto is_free = [](std::uint32_t old) { return old != 1; };
    W::require(W::await_exchange(w.a, 1u, acquire, is_free) == 0, "the value that it found");
    w.data = w.data + 1;
    w.a.store(0, release);
  };
  const auto finish = [](Words& w) { W::require(w.data == 2 && w.a.load(relaxed) == 0, "each took it once"); };
  const Exploration all = explore_two<Words>(take, take, finish);
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
}

TEST(Explorer, a_replay_repeats_the_defect_and_its_ladder) {
  const auto increment = [](Words& w) { w.a.store(w.a.load(relaxed) + 1, relaxed); };
  const auto finish = [](Words& w) { W::require(w.a.load(relaxed) == 2, "both increments count"); };
  const ScenarioFactory make = [=] { return std::make_unique<TwoThreads<Words>>(increment, increment, finish); };
  Explorer explorer;
  const Exploration found = explorer.explore(make, {});
  ASSERT_TRUE(found.defect);
  const Exploration again = explorer.replay(make, {}, found.defect->schedule);
  ASSERT_TRUE(again.defect);
  EXPECT_EQ(again.defect->ladder, found.defect->ladder);
  EXPECT_NE(found.defect->ladder.find("explorer_test.cc:"), std::string::npos);
  EXPECT_FALSE(explorer.replay(make, {}, "-").defect);
}

TEST(Explorer, pruning_changes_the_work_and_not_the_verdict) {
  for (const Cell& cell : cells_of<W>(WorldPolicies<W>{}, CellSizes{{2, 1}, {3, 1}, 2})) {
    ExploreOptions options;
    options.preemption_bound = 2;
    Explorer explorer;
    const Exploration pruned = explorer.explore(cell.make, options);
    options.cache = false;
    const Exploration whole = explorer.explore(cell.make, options);
    EXPECT_EQ(kind_of(pruned), kind_of(whole)) << cell.policy << ' ' << cell.scenario;
    EXPECT_TRUE(pruned.exhausted && whole.exhausted) << cell.policy << ' ' << cell.scenario;
    EXPECT_LE(pruned.schedules, whole.schedules);
    EXPECT_EQ(std::set(pruned.witnesses.begin(), pruned.witnesses.end()),
              std::set(whole.witnesses.begin(), whole.witnesses.end()))
        << cell.policy << ' ' << cell.scenario;
  }
}

}  // namespace
}  // namespace convoy
