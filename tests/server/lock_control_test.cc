// lock_control_test.cc — The page policy changes only while nobody is in a request, or says why it did not.
// SPDX-License-Identifier: MIT
#include "server/lock_control.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

namespace convoy {
namespace {

using namespace std::chrono_literals;

class LockControlTest : public testing::Test {
 protected:
  void SetUp() override {
    config_.workers = 4;
    ASSERT_TRUE(locks_.start(config_));
    locks_.own_page_locks([this](std::uint8_t position) { reset_to_ = position; });
  }

  // Makes the calling thread that worker. There is no pool that wants to know when it sleeps.
  void become(std::uint32_t worker) {
    locks_.worker_started(WorkerHooks{nullptr, worker});
    RealWorld::set_park_hooks({});
  }
  // As a worker that asks for it in a request of its own.
  Result<void> swap(std::uint32_t worker, const std::string& policy, Duration patience) {
    become(worker);
    const Region<RealWorld> region(locks_.regions(), worker);
    return locks_.swap_page(policy, worker, patience, [this] { ++at_rest_; });
  }
  std::string policy() const { return locks_.report().at("page").policy; }

  ServerConfig config_;
  LockControl locks_;
  int reset_to_ = -1;
  std::atomic<int> at_rest_{0};
};

TEST_F(LockControlTest, a_swap_resets_the_locks_and_changes_the_class) {
  ASSERT_TRUE(swap(0, "ticket", 1s));
  EXPECT_EQ(policy(), "ticket");
  EXPECT_EQ(reset_to_, *find_policy<PagePolicies<RealWorld>>("ticket"));
  EXPECT_EQ(at_rest_, 1);
  EXPECT_EQ(swap(0, "std-mutex", 1s).error().message, "no policy 'std-mutex' fits this role");
}

// A store whose read hangs until it is told to go on, as a disk may.
struct HangingStore {
  struct File {
    std::uint64_t id = 1;
    std::uint64_t size = 100;
  };
  struct Frame {};

  Frame* frame(std::uint64_t) { return &only_; }
  bool read(const File&, std::uint64_t, Frame&) {
    reading.arrive_and_wait();
    may_end.arrive_and_wait();
    return true;
  }

  std::barrier<> reading{2}, may_end{2};
  Frame only_;
};

// A request that hangs in a fill: the swap is given up, says where it hangs, and changes nothing.
TEST_F(LockControlTest, a_swap_while_a_fill_hangs_is_given_up) {
  LockClasses& classes = locks_.classes();
  HangingStore store;
  using Cache = PageCache<RealWorld, ServerCacheLocks, HangingStore>;
  Cache cache({classes.page, classes.mapping, classes.lru}, store, 0, 1);
  locks_.own_page_locks([&](std::uint8_t position) {
    reset_to_ = position;
    cache.for_each_page_lock([position](ServerCacheLocks::Page& lock) { lock.reset(position); });
  });
  const auto map = [&] { return cache.map({}, 0, [](Cache::CachedFolio&) {}); };
  std::jthread filler([&] {
    become(1);
    const Region<RealWorld> region(locks_.regions(), 1);
    EXPECT_EQ(map(), Fault::kMapped);
  });
  store.reading.arrive_and_wait();
  const auto given_up = swap(0, "ticket", 50ms);
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().message,
            "after swap-timeout, 50ms, still inside a request: worker 1 at page_fill_read (class page)");
  EXPECT_EQ(policy(), "bounded");
  EXPECT_EQ(reset_to_, -1);
  EXPECT_EQ(at_rest_, 0);
  store.may_end.arrive_and_wait();
  filler.join();
  EXPECT_TRUE(swap(0, "ticket", 10s));
  EXPECT_EQ(policy(), "ticket");
  EXPECT_EQ(map(), Fault::kMapped) << "the page is there, under the new policy";
}

// Whose patience ends while another waits for a request is told so then, not once that other is through.
TEST_F(LockControlTest, a_second_swap_is_given_up_at_its_own_time) {
  std::atomic<bool> held{false}, over{false}, asked{false}, first_ended{false};
  std::jthread holder([&] {
    become(1);
    const Region<RealWorld> region(locks_.regions(), 1);
    held = true;
    // Not for ever: a second swap that waits for the first would never come back.
    for (int i = 0; i < 1000 && !over; ++i) std::this_thread::sleep_for(10ms);
  });
  become(2);
  Region<RealWorld> region(locks_.regions(), 2);
  while (!held) std::this_thread::yield();
  std::jthread first([&] {
    become(0);
    const Region<RealWorld> its_region(locks_.regions(), 0);
    asked = true;
    EXPECT_TRUE(locks_.swap_page("ticket", 0, 60s, [] {}));
    first_ended = true;
  });
  // It leaves its region, and stops entries next.
  while (!asked || locks_.regions().is_inside(0)) std::this_thread::yield();
  std::this_thread::sleep_for(50ms);
  const auto second = locks_.swap_page("handoff", 2, 20ms, [] {});
  EXPECT_FALSE(first_ended.load());
  over = true;
  first.join();
  region.go_on();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "another change of a policy did not end within swap-timeout, 20ms");
  EXPECT_EQ(policy(), "ticket");
}

// What the report adds up is what was taken, hand-offs included; they are what a convoy is known by.
TEST_F(LockControlTest, every_acquisition_is_reported_once) {
  ASSERT_TRUE(swap(0, "handoff", 1s));
  LockClass<RealWorld>& page = locks_.classes().page;
  ServerCacheLocks::Page lock(page);
  static constexpr Site kSite{"test"};
  std::uint64_t taken = 0;
  while (page.total(Event::kPageLockHandoff) == 0 && taken < 200) {
    std::jthread second;
    const Guard<RealWorld, ServerCacheLocks::Page> first(lock, kSite);
    second = std::jthread([&] {
      become(1);
      const Guard<RealWorld, ServerCacheLocks::Page> guard(lock, kSite);
    });
    while (page.total(Event::kPageLockSlow) <= taken / 2) std::this_thread::yield();
    std::this_thread::sleep_for(5ms);  // for it to queue; if it does not, the next round may
    taken += 2;
  }
  const LockClassReport report = locks_.report().at("page");
  EXPECT_EQ(report.acquisitions, taken);
  EXPECT_EQ(report.events.at("page_lock_slow"), taken / 2);
  EXPECT_EQ(report.events.at("page_lock_handoff"), 1u);
  locks_.sample_convoy();
  EXPECT_EQ(locks_.convoy().stood, taken == 2 ? 1u : 0u) << "more than half of the slow ones were hand-offs";
  locks_.sample_convoy();
  EXPECT_EQ(locks_.convoy().slices, 2u);
}

// Zeros too; and not what the class counted under an earlier policy.
TEST_F(LockControlTest, the_events_reported_are_those_of_the_policy) {
  ASSERT_TRUE(swap(0, "bounded", 1s));
  ServerCacheLocks::Page lock(locks_.classes().page);
  static constexpr Site kSite{"test"};
  { const Guard<RealWorld, ServerCacheLocks::Page> guard(lock, kSite); }
  const auto events = locks_.report().at("page").events;
  EXPECT_EQ(events.at("page_lock_fast"), 1u);
  EXPECT_EQ(events.at("page_lock_handoff"), 0u);
  EXPECT_FALSE(events.contains("rwsem_wlock"));
  ASSERT_TRUE(swap(0, "ticket", 1s));
  EXPECT_TRUE(locks_.report().at("page").events.empty());
}

TEST_F(LockControlTest, many_swappers_and_requests_at_once) {
  std::vector<std::jthread> threads;
  std::atomic<int> swaps{0};
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&, worker] {
      const std::vector<std::string> policies{"bounded", "ticket", "handoff", "barging"};
      for (int round = 0; round < 500; ++round) {
        if (worker < 2) {
          EXPECT_TRUE(swap(worker, policies[static_cast<std::size_t>(round) % policies.size()], 60s));
          ++swaps;
        } else {
          const Region<RealWorld> region(locks_.regions(), worker);
        }
      }
    });
  }
  threads.clear();
  EXPECT_EQ(swaps, 1000);
  EXPECT_EQ(at_rest_, 1000);
}

}  // namespace
}  // namespace convoy
