// explorer_test.cc — The explorer finds each kind of defect, and only where there is one.
// SPDX-License-Identifier: MIT
#include "sim/explorer.h"

#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
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
  std::optional<Atomic<W, std::uint32_t>> mortal_word{0};
  Atomic<W, std::uint32_t> other{0};
  W::SpinLock spin_lock;
};

// Each of two threads raises its own flag, does something, then looks at the other's.
template <class S, class L>
class Dekker : public Scenario {
 public:
  using Middle = void (*)(Words&);
  explicit Dekker(Middle middle) : middle_(middle) {}
  int threads() const override { return 2; }
  void run(int thread) override {
    (thread == 0 ? words_.a : words_.b).store(1, S{});
    middle_(words_);
    saw_nobody_[thread] = (thread == 0 ? words_.b : words_.a).load(L{}) == 0;
  }
  void finish() override { W::require(!saw_nobody_[0] || !saw_nobody_[1], "one sees the other"); }

 private:
  Words words_;
  bool saw_nobody_[2] = {};
  Middle middle_;
};

template <class S, class L>
Exploration explore_dekker(
    int delayed_stores, typename Dekker<S, L>::Middle middle = [](Words&) {}) {
  ExploreOptions options;
  options.delayed_stores = delayed_stores;
  Explorer explorer;
  return explorer.explore([middle] { return std::make_unique<Dekker<S, L>>(middle); }, options);
}

ExploreOptions with_delayed_stores(int delayed_stores) {
  ExploreOptions options;
  options.delayed_stores = delayed_stores;
  return options;
}

TEST(Explorer, a_lost_update_needs_one_preemption) {
  const auto increment = [](Words& w) { w.a.store(w.a.load(relaxed) + 1, relaxed); };
  const auto finish = [](Words& w) { W::require(w.a.load(relaxed) == 2, "both increments count"); };
  ExploreOptions none;
  none.preemption_bound = 0;
  none.fair_schedules = 0;  // they know no bound
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

TEST(Explorer, a_dekker_pair_needs_seq_cst_stores_and_a_delayed_store_shows_it) {
  EXPECT_EQ(kind_of((explore_dekker<Release, Acquire>(0))), "none");
  const Exploration found = explore_dekker<Release, Acquire>(1);
  EXPECT_EQ(kind_of(found), "claim");
  EXPECT_NE(found.defect->ladder.find("delayed"), std::string::npos);
  EXPECT_EQ(kind_of((explore_dekker<Release, SeqCst>(1))), "claim");
  const Exploration clean = explore_dekker<SeqCst, SeqCst>(1);
  EXPECT_EQ(kind_of(clean), "none");
  EXPECT_TRUE(clean.exhausted);
}

TEST(Explorer, a_delayed_store_is_seen_by_its_own_thread_and_what_follows_stays_behind_it) {
  const auto publish = [](Words& w) {
    w.a.store(1, relaxed);
    w.b.store(1, relaxed);
    W::require(w.a.load(relaxed) == 1 && w.b.load(relaxed) == 1, "a thread sees its own stores");
    w.a.store(2, relaxed);
    W::require(w.a.load(relaxed) == 2, "the last of them");
  };
  const auto look = [](Words& w) {
    const std::uint32_t b = w.b.load(relaxed);
    const std::uint32_t a = w.a.load(relaxed);
    W::require(b <= a, "stores reach the memory in their order");
    if (a == 1) W::witness("between the stores");
  };
  const auto finish = [](Words& w) { W::require(w.a.load(relaxed) == 2, "all have reached it at the end"); };
  const Exploration all = explore_two<Words>(publish, look, finish, with_delayed_stores(1));
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
  EXPECT_EQ(all.witnesses.size(), 1u);
}

// Between the store and the load stands something that is a fence on x86.
TEST(Explorer, what_is_a_fence_on_x86_lets_no_store_stay_behind) {
  using Middle = void (*)(Words&);
  const std::vector<Middle> fences = {
      [](Words& w) { w.other.fetch_add(0, relaxed); },
      [](Words& w) {
        std::uint32_t expected = 7;
        w.other.compare_exchange(expected, 8, relaxed);
      },
      [](Words& w) { w.other.store(0, seq_cst); },
      [](Words& w) {
        w.spin_lock.lock();
        w.spin_lock.unlock();
      },
      [](Words&) { W::prepare_park(); },
      [](Words&) { W::unpark(Thread{0}); },
  };
  const std::vector<Middle> others = {
      [](Words& w) { w.other.load(seq_cst); },
      [](Words& w) { w.other.store(0, release); },
      [](Words&) { W::is_running(Thread{0}); },
  };
  for (std::size_t i = 0; i < fences.size(); ++i) {
    EXPECT_EQ(kind_of(explore_dekker<Release, Acquire>(1, fences[i])), "none") << "fence " << i;
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_EQ(kind_of(explore_dekker<Release, Acquire>(1, others[i])), "claim") << "other " << i;
  }
}

TEST(Explorer, a_thread_that_waits_for_a_delayed_store_gets_it) {
  const auto exchange_flags = [](Words& w) {
    w.a.store(1, release);
    W::await(w.b, acquire, [](std::uint32_t b) { return b == 1; });
    W::require(w.data == 1, "the data is there");
  };
  const auto answer = [](Words& w) {
    W::await(w.a, acquire, [](std::uint32_t a) { return a == 1; });
    w.data = 1;
    w.b.store(1, release);
    W::await(w.b, acquire, [](std::uint32_t b) { return b == 1; });  // by its own delayed store
  };
  const Exploration all = explore_two<Words>(
      exchange_flags, answer, [](Words&) {}, with_delayed_stores(1));
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
}

TEST(Explorer, a_delayed_release_store_publishes_what_came_before_it_and_nothing_after) {
  const auto before = [](Words& w) {
    w.data = 1;
    w.a.store(1, release);
    w.b.load(relaxed);
  };
  const auto after = [](Words& w) {
    w.a.store(1, release);
    w.b.load(relaxed);
    w.data = 1;
  };
  const auto consume = [](Words& w) {
    if (w.a.load(acquire) == 1) W::require(w.data == 1, "the data is there");
  };
  const auto look_early = [](Words& w) {
    if (w.a.load(acquire) == 1) W::require(w.data >= 0, "any");
  };
  EXPECT_EQ(kind_of(explore_two<Words>(
                before, consume, [](Words&) {}, with_delayed_stores(1))),
            "none");
  EXPECT_EQ(kind_of(explore_two<Words>(
                after, look_early, [](Words&) {}, with_delayed_stores(1))),
            "race");
}

TEST(Explorer, an_object_ends_with_the_stores_that_its_thread_has_delayed) {
  const auto end = [](Words& w) {
    w.mortal_word->store(1, relaxed);
    w.mortal_word.reset();
    w.mortal_word.emplace(5);
    W::require(w.mortal_word->load(relaxed) == 5, "a new object holds nothing of the old one");
    w.a.store(1, release);
  };
  const auto use = [](Words& w) {
    W::await(w.a, acquire, [](std::uint32_t a) { return a == 1; });
    W::require(w.mortal_word->load(relaxed) == 5, "a new object holds nothing of the old one");
  };
  const auto use_early = [](Words& w) { w.mortal_word->load(relaxed); };
  const ExploreOptions options = with_delayed_stores(1);
  const Exploration all = explore_two<Words>(
      end, use, [](Words&) {}, options);
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
  EXPECT_NE(kind_of(explore_two<Words>(
                end, use_early, [](Words&) {}, options)),
            "none");
}

struct SharedDeadline {
  Deadline deadline = W::deadline_in(1);
  Atomic<W, std::uint32_t> passed{0};
  Atomic<W, std::uint32_t> word{0};
  bool seen = false, first_late = false, second_late = false;  // each written by one thread, read at the end
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

TEST(Explorer, a_spare_node_that_is_kept_is_found) {
  const auto keep = [](Words&) { W::take_spare<Node>(); };
  const auto give_back = [](Words&) { W::give_spare(W::take_spare<Node>()); };
  EXPECT_EQ(kind_of(explore_two<Words>(keep, give_back)), "leak");
  EXPECT_EQ(kind_of(explore_two<Words>(give_back, give_back)), "none");
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
  const auto give_back = [](NodeOf& shared) { W::give_spare(shared.node.load(relaxed)); };
  const auto touch_late = [](NodeOf& shared) {
    W::await(shared.given_back, acquire, [](std::uint32_t given_back) { return given_back == 1; });
    shared.node.load(acquire)->flag.store(1, release);
  };
  EXPECT_EQ(kind_of(explore_two<NodeOf>(lend, touch_late)), "dead_object");
  EXPECT_EQ(kind_of(explore_two<NodeOf>(lend_and_take_again, touch_late, give_back)), "race");
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

// Steps back when the other word is taken, and waits until it is not.
void take_both(Atomic<W, std::uint32_t>& mine, Atomic<W, std::uint32_t>& other) {
  const auto is_free = [](std::uint32_t word) { return word == 0; };
  for (;;) {
    W::await_exchange(mine, 1u, acquire, is_free);
    if (other.exchange(1, acquire) == 0) break;
    mine.store(0, release);
    W::await(other, acquire, is_free);
  }
  other.store(0, release);
  mine.store(0, release);
}

TEST(Explorer, two_threads_that_step_back_from_each_other_for_ever_starve) {
  const auto first = [](Words& w) { take_both(w.a, w.b); };
  const auto second = [](Words& w) { take_both(w.b, w.a); };
  const auto in_order = [](Words& w) { take_both(w.a, w.b); };
  const ScenarioFactory make = [=] { return std::make_unique<TwoThreads<Words>>(first, second, [](Words&) {}); };
  Explorer explorer;
  const Exploration found = explorer.explore(make, {});
  EXPECT_TRUE(found.exhausted) << "no schedule within the bound shows it";
  ASSERT_EQ(kind_of(found), "starvation");
  EXPECT_TRUE(is_schedule(found.defect->schedule)) << found.defect->schedule;
  const Exploration again = explorer.replay(make, {}, found.defect->schedule);
  ASSERT_EQ(kind_of(again), "starvation");
  EXPECT_EQ(again.defect->ladder, found.defect->ladder);
  const Exploration clean = explore_two<Words>(in_order, in_order);
  EXPECT_EQ(kind_of(clean), "none");
  EXPECT_GT(clean.fair_schedules, 3u);
}

TEST(Explorer, in_a_fair_schedule_time_passes) {
  const auto wait = [](Words& w) {
    W::spin_for(
        w.a, relaxed, [](std::uint32_t a) { return a == 1; }, SpinLimit{1});
    W::prepare_park();
    const Deadline deadline = W::deadline_in(1);
    while (W::park_until(deadline)) W::prepare_park();
  };
  const Exploration all = explore_two<Words>(wait, [](Words&) {});
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_GT(all.fair_schedules, 3u);
}

TEST(Explorer, random_priorities_reach_what_needs_more_preemptions_than_the_bound) {
  static constexpr std::uint32_t kRounds = 6;
  const auto write = [](Words& w) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      w.a.store(round, release);
      w.b.store(round, release);
    }
  };
  const auto read = [](Words& w) {
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      W::await(w.a, acquire, [round](std::uint32_t a) { return a >= round; });
      if (w.b.load(acquire) < round) w.data = w.data + 1;
    }
  };
  const auto finish = [](Words& w) { W::require(w.data < static_cast<int>(kRounds), "not before every store"); };
  const ScenarioFactory make = [=] { return std::make_unique<TwoThreads<Words>>(write, read, finish); };
  Explorer explorer;
  const Exploration bounded = explorer.explore(make, {});
  EXPECT_EQ(kind_of(bounded), "none");
  EXPECT_TRUE(bounded.exhausted && !bounded.complete);
  const Exploration found = explorer.sample(make, {}, 1, 100);
  ASSERT_EQ(kind_of(found), "claim");
  const Exploration again = explorer.sample(make, {}, 1, 100);
  ASSERT_EQ(kind_of(again), "claim");
  EXPECT_EQ(again.defect->schedule, found.defect->schedule);
  EXPECT_EQ(kind_of(explorer.replay(make, {}, found.defect->schedule)), "claim");
  const auto store_once = [](Words& w) { w.a.store(1, release); };
  EXPECT_TRUE(explore_two<Words>(store_once, store_once).complete);
}

// Thread 0 raises both flags one after the other and lowers them, thread 1 does the same with flags of its own.
class ChecksFlags : public Scenario {
 public:
  ChecksFlags(bool may_overlap, bool checks) : may_overlap_(may_overlap), checks_(checks) {}
  int threads() const override { return 2; }
  void run(int thread) override {
    Words& mine = words_[thread];
    mine.a.store(1, release);
    if (!may_overlap_) mine.a.store(0, release);
    mine.b.store(1, release);
    mine.a.store(0, release);
  }
  void check() const override {
    for (const Words& words : words_) {
      if (checks_) W::require(words.a.load(relaxed) == 0 || words.b.load(relaxed) == 0, "one flag at a time");
    }
  }

 private:
  const bool may_overlap_, checks_;
  Words words_[2];
};

TEST(Explorer, a_scenario_is_checked_between_any_two_steps_and_that_is_no_step) {
  Explorer explorer;
  const auto explore = [&](bool may_overlap, bool checks) {
    return explorer.explore([=] { return std::make_unique<ChecksFlags>(may_overlap, checks); }, with_delayed_stores(1));
  };
  EXPECT_EQ(kind_of(explore(true, true)), "claim");
  const Exploration checked = explore(false, true);
  EXPECT_EQ(kind_of(checked), "none");
  EXPECT_EQ(checked.steps, explore(false, false).steps);
}

TEST(Explorer, a_pair_is_observed_where_an_acquire_reads_what_another_thread_released) {
  const auto publish = [](Words& w) {
    w.data = 1;
    w.b.store(1, relaxed);
    w.a.store(1, release);
  };
  const auto consume = [](Words& w) {
    w.b.load(acquire);
    w.a.load(relaxed);
    w.a.load(acquire);
  };
  const ScenarioFactory make = [=] { return std::make_unique<TwoThreads<Words>>(publish, consume, [](Words&) {}); };
  Explorer explorer;
  explorer.explore(make, {});
  const auto pairs = explorer.pairs().all();
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].second.line - pairs[0].first.line, 5) << pairs[0].first.line << ' ' << pairs[0].second.line;
}

std::set<std::string> witnesses_of(const Exploration& all) {
  EXPECT_EQ(kind_of(all), "none");
  EXPECT_TRUE(all.exhausted);
  return {all.witnesses.begin(), all.witnesses.end()};
}

constexpr const char* kSpinEnds[] = {"satisfied", "budget spent", "time is up", "owner slept", "must yield"};

void spin_and_tell(Words& w, SpinLimit limit) {
  const Spin end = W::spin_for(
      w.a, acquire, [](std::uint32_t a) { return a == 1; }, limit);
  W::witness(kSpinEnds[static_cast<int>(end)]);
}

TEST(Explorer, a_spin_ends_for_every_reason_that_its_limits_name_and_for_no_other) {
  const auto set = [](Words& w) { w.a.store(1, release); };
  const auto all_limits = [](Words& w) { spin_and_tell(w, {.polls = 3, .owner = Thread{1}, .optimistic = true}); };
  const auto budget = [](Words& w) { spin_and_tell(w, {.polls = 3}); };
  const auto owner = [](Words& w) { spin_and_tell(w, {.owner = Thread{1}}); };
  const auto none = [](Words& w) { spin_and_tell(w, {}); };
  using Set = std::set<std::string>;
  EXPECT_EQ(witnesses_of(explore_two<Words>(all_limits, set)),
            (Set{kSpinEnds[0], kSpinEnds[1], kSpinEnds[3], kSpinEnds[4]}));
  EXPECT_EQ(witnesses_of(explore_two<Words>(budget, set)), (Set{kSpinEnds[0], kSpinEnds[1]}));
  EXPECT_EQ(witnesses_of(explore_two<Words>(owner, set)), (Set{kSpinEnds[0], kSpinEnds[3]}));
  EXPECT_EQ(witnesses_of(explore_two<Words>(none, set)), (Set{kSpinEnds[0]}));
}

TEST(Explorer, who_sleeps_has_no_core_and_of_others_both_answers_come) {
  const auto sleep = [](Words&) {
    W::prepare_park();
    W::park_until(W::deadline_in(1));
  };
  const auto look = [](Words&) {
    const bool running = W::is_running(Thread{0});
    const bool asleep = Explorer::current().asleep(0);  // no step since
    W::require(!running || !asleep, "who sleeps has no core");
    W::witness(asleep ? "asleep" : running ? "running" : "awake without a core");
  };
  EXPECT_EQ(witnesses_of(explore_two<Words>(sleep, look)).size(), 3u);
}

TEST(Explorer, coins_and_wishes_to_yield_fall_every_way) {
  const auto flip = [](Words&) {
    constexpr const char* kSides[] = {"0", "1", "2"};
    W::witness(kSides[W::coin(3)]);
    W::witness(W::should_yield() ? "yields" : "goes on");
  };
  EXPECT_EQ(witnesses_of(explore_two<Words>(flip, [](Words&) {})).size(), 5u);
  const auto wait_for_it = [](Words&) {
    while (!W::should_yield()) {}
  };
  EXPECT_EQ(kind_of(explore_two<Words>(wait_for_it, [](Words&) {})), "no_progress");
}

struct SharedCounter {
  Atomic<W, std::uint32_t> count{0};
};
struct SharedFlag {
  Atomic<W, std::uint32_t> raised{0};
};

TEST(Explorer, there_is_one_shared_object_of_a_type_whoever_asks_first) {
  const auto count = [](Words&) {
    W::shared<SharedCounter>().count.fetch_add(1, relaxed);
    W::shared<SharedFlag>().raised.store(1, relaxed);
  };
  const auto count_later = [](Words&) {
    W::witness(W::shared<SharedFlag>().raised.load(relaxed) == 0 ? "before" : "after");
    W::shared<SharedCounter>().count.fetch_add(1, relaxed);
  };
  const auto finish = [](Words&) {
    W::require(W::shared<SharedCounter>().count.load(relaxed) == 2, "both counted on one object");
  };
  EXPECT_EQ(witnesses_of(explore_two<Words>(count, count_later, finish)).size(), 2u);
}

TEST(Explorer, time_may_pass_between_any_two_steps) {
  const auto ask_after_store = [](SharedDeadline& shared) {
    shared.word.store(1, release);
    shared.first_late = W::expired(shared.deadline);
  };
  const auto ask_after_load = [](SharedDeadline& shared) {
    shared.seen = shared.word.load(acquire) == 1;
    shared.second_late = W::expired(shared.deadline);
  };
  const auto finish = [](SharedDeadline& shared) {
    if (shared.seen && shared.first_late && !shared.second_late) W::witness("it passed after the second's question");
    if (shared.seen && !shared.first_late && shared.second_late) W::witness("it passed after the first's question");
  };
  EXPECT_EQ(witnesses_of(explore_two<SharedDeadline>(ask_after_store, ask_after_load, finish)).size(), 2u);
}

// Every choice of the world at once; an outcome is what two threads were told.
class AsksTheWorld : public Scenario {
 public:
  int threads() const override { return 2; }
  void run(int thread) override {
    std::string& told = told_[thread];
    if (thread == 0) {
      told += W::expired(deadline_) ? 'e' : '-';
      const Spin end = W::spin_for(
          word_, acquire, [](std::uint32_t w) { return w == 1; },
          SpinLimit{.polls = 2, .owner = Thread{1}, .optimistic = true});
      told += static_cast<char>('0' + static_cast<int>(end));
      told += W::is_running(Thread{1}) ? 'r' : '-';
      told += W::unpark(Thread{1}) ? 'u' : '-';
    } else {
      W::prepare_park();
      told += static_cast<char>('0' + W::coin(2));
      word_.store(1, release);
      told += W::park_until(deadline_) ? 'w' : 'l';
      told += W::should_yield() ? 'y' : '-';
      told += W::expired(deadline_) ? 'e' : '-';
    }
  }
  void finish() override { W::witness((told_[0] + ' ' + told_[1]).c_str()); }

 private:
  Deadline deadline_ = W::deadline_in(1);
  Atomic<W, std::uint32_t> word_{0};
  std::string told_[2];
};

TEST(Explorer, pruning_keeps_every_answer_of_the_world_under_every_bound) {
  for (const int delayed_stores : {0, 1}) {
    for (const int bound : {0, 1, 2, 9}) {
      ExploreOptions options = with_delayed_stores(delayed_stores);
      options.preemption_bound = bound;
      options.fair_schedules = 0;
      const auto explore = [&] { return Explorer().explore([] { return std::make_unique<AsksTheWorld>(); }, options); };
      const Exploration pruned = explore();
      options.cache = false;
      EXPECT_EQ(witnesses_of(pruned), witnesses_of(explore())) << delayed_stores << ' ' << bound;
    }
  }
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

// Random programs of loads, stores and read-modify-writes over two words. An outcome is what all of them read, and
// what the words hold at the end.
struct Operation {
  enum Kind : std::uint8_t { kLoad, kStore, kSeqCstStore, kFetchAdd } kind;
  int word;
  std::uint32_t value;
};
using Program = std::vector<std::vector<Operation>>;  // a list of operations a thread

Program random_program(std::mt19937& random, int threads, int length) {
  const auto below = [&random](std::uint32_t n) { return random() % n; };
  Program program(static_cast<std::size_t>(threads));
  std::uint32_t value = 0;
  for (auto& operations : program) {
    for (int i = 0; i < length; ++i) {
      constexpr Operation::Kind kKinds[] = {Operation::kLoad,  Operation::kLoad,        Operation::kStore,
                                            Operation::kStore, Operation::kSeqCstStore, Operation::kFetchAdd};
      operations.push_back({kKinds[below(6)], static_cast<int>(below(2)), value += 10});
    }
  }
  return program;
}

class RunsProgram : public Scenario {
 public:
  explicit RunsProgram(const Program& program) : program_(program) {}
  int threads() const override { return static_cast<int>(program_.size()); }
  void run(int thread) override {
    std::size_t at = static_cast<std::size_t>(thread) * 8;
    for (const Operation& operation : program_[static_cast<std::size_t>(thread)]) {
      Atomic<W, std::uint32_t>& word = words_[operation.word];
      switch (operation.kind) {
        case Operation::kLoad:
          seen_[at++] = word.load(acquire);
          break;
        case Operation::kStore:
          word.store(operation.value, release);
          break;
        case Operation::kSeqCstStore:
          word.store(operation.value, seq_cst);
          break;
        case Operation::kFetchAdd:
          seen_[at++] = word.fetch_add(operation.value, acq_rel);
          break;
      }
    }
  }
  void finish() override {
    std::string outcome;
    for (const std::uint32_t seen : seen_) outcome += std::to_string(seen) + ' ';
    outcome += std::to_string(words_[0].load(relaxed)) + ' ' + std::to_string(words_[1].load(relaxed));
    W::witness(outcome.c_str());
  }

 private:
  const Program& program_;
  Atomic<W, std::uint32_t> words_[2];
  std::array<std::uint32_t, 24> seen_{};
};

std::set<std::string> outcomes(const Program& program, ExploreOptions options) {
  options.fair_schedules = 0;
  Explorer explorer;
  const Exploration all = explorer.explore([&] { return std::make_unique<RunsProgram>(program); }, options);
  EXPECT_TRUE(all.exhausted);
  return {all.witnesses.begin(), all.witnesses.end()};
}

// x86-TSO as an abstract machine: every reachable outcome, without clocks and without pruning.
class AbstractMachine {
 public:
  explicit AbstractMachine(const Program& program) : program_(program) {}
  std::set<std::string> outcomes() {
    go_on({.next = std::vector<std::size_t>(program_.size()), .buffers = Buffers(program_.size())});
    return outcomes_;
  }

 private:
  using Buffers = std::vector<std::vector<std::pair<int, std::uint32_t>>>;
  struct State {
    std::vector<std::size_t> next;
    Buffers buffers;
    std::array<std::uint32_t, 2> words{};
    std::array<std::uint32_t, 24> seen{};
    std::vector<std::size_t> loads = {0, 8, 16};
    auto operator<=>(const State&) const = default;
  };
  static void drain(State& state, std::size_t thread) {
    const auto [word, value] = state.buffers[thread].front();
    state.words[static_cast<std::size_t>(word)] = value;
    state.buffers[thread].erase(state.buffers[thread].begin());
  }
  void go_on(const State& state) {
    if (!known_.insert(state).second) return;
    bool ended = true;
    for (std::size_t thread = 0; thread < program_.size(); ++thread) {
      if (!state.buffers[thread].empty()) {
        ended = false;
        State drained = state;
        drain(drained, thread);
        go_on(drained);
      }
      if (state.next[thread] < program_[thread].size()) {
        ended = false;
        step(state, thread);
      }
    }
    if (!ended) return;
    std::string outcome;
    for (const std::uint32_t seen : state.seen) outcome += std::to_string(seen) + ' ';
    outcomes_.insert(outcome + std::to_string(state.words[0]) + ' ' + std::to_string(state.words[1]));
  }
  void step(State state, std::size_t thread) {
    const Operation& operation = program_[thread][state.next[thread]++];
    std::uint32_t& word = state.words[static_cast<std::size_t>(operation.word)];
    switch (operation.kind) {
      case Operation::kLoad: {
        std::uint32_t value = word;
        for (const auto& [own, delayed] : state.buffers[thread]) value = own == operation.word ? delayed : value;
        state.seen[state.loads[thread]++] = value;
        break;
      }
      case Operation::kStore:
        state.buffers[thread].emplace_back(operation.word, operation.value);
        break;
      case Operation::kSeqCstStore:
        while (!state.buffers[thread].empty()) drain(state, thread);
        word = operation.value;
        break;
      case Operation::kFetchAdd:
        while (!state.buffers[thread].empty()) drain(state, thread);
        state.seen[state.loads[thread]++] = word;
        word += operation.value;
        break;
    }
    go_on(state);
  }
  const Program& program_;
  std::set<State> known_;
  std::set<std::string> outcomes_;
};

TEST(Explorer, delayed_stores_without_bounds_are_x86_tso) {
  std::mt19937 random(1);
  ExploreOptions options = with_delayed_stores(9);
  options.preemption_bound = 99;
  std::size_t beyond_sc = 0;
  for (int i = 0; i < 25; ++i) {
    const Program program = i % 3 == 0 ? random_program(random, 3, 3) : random_program(random, 2, 5);
    const std::set<std::string> all = outcomes(program, options);
    EXPECT_EQ(all, AbstractMachine(program).outcomes()) << "program " << i;
    options.delayed_stores = 0;
    beyond_sc += outcomes(program, options).size() < all.size() ? 1 : 0;
    options.delayed_stores = 9;
  }
  EXPECT_GT(beyond_sc, 0u);
}

TEST(Explorer, pruning_keeps_every_outcome_of_random_programs_under_every_bound) {
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const Program program = i % 2 == 0 ? random_program(random, 3, 2) : random_program(random, 2, 3);
    for (const int delayed_stores : {0, 1, 2}) {
      for (const int bound : {0, 1, 2}) {
        ExploreOptions options = with_delayed_stores(delayed_stores);
        options.preemption_bound = bound;
        const std::set<std::string> pruned = outcomes(program, options);
        options.cache = false;
        EXPECT_EQ(pruned, outcomes(program, options))
            << "program " << i << ", " << delayed_stores << " delayed stores, bound " << bound;
      }
    }
  }
}

class Pruning : public testing::TestWithParam<int> {};

// One policy of each family; of their cells those that can be run whole without the pruning.
TEST_P(Pruning, changes_the_work_and_not_the_verdict) {
  using OfEachFamily =
      PolicyList<Eventual<W>, Mcs<W>, Qspinlock<W>, Mutex<W>, Rwlock312<W>, Qrwlock<W>, RwsemTransfer<W>>;
  int compared = 0;
  for (const Cell& cell : cells_of<W>(OfEachFamily{}, CellSizes{{2, 1}, {3, 1}, 2})) {
    ExploreOptions options;
    options.delayed_stores = GetParam();
    options.fair_schedules = 0;
    options.preemption_bound = 2 - GetParam();
    options.max_schedules = 20'000;
    Explorer explorer;
    const Exploration pruned = explorer.explore(cell.make, options);
    options.cache = false;
    const Exploration whole = explorer.explore(cell.make, options);
    EXPECT_EQ(kind_of(pruned), kind_of(whole)) << cell.policy << ' ' << cell.scenario;
    if (!whole.exhausted) continue;
    ++compared;
    EXPECT_TRUE(pruned.exhausted) << cell.policy << ' ' << cell.scenario;
    EXPECT_LE(pruned.schedules, whole.schedules);
    EXPECT_EQ(std::set(pruned.witnesses.begin(), pruned.witnesses.end()),
              std::set(whole.witnesses.begin(), whole.witnesses.end()))
        << cell.policy << ' ' << cell.scenario;
  }
  EXPECT_GT(compared, 100);
}

INSTANTIATE_TEST_SUITE_P(Explorer, Pruning, testing::Values(0, 1),
                         [](const auto& pass) { return pass.param == 0 ? "SC" : "TSO"; });

}  // namespace
}  // namespace convoy
