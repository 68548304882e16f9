// machine_policies_test.cc — Goal: the policies exclude on the machine, and the run is a function of its input.
// SPDX-License-Identifier: MIT
//
// Method: threads count under the lock, shared ones look; sums and the identities of identities.h; trace hashes.
#include <gtest/gtest.h>

#include <cstdint>

#include "locks/policies.h"
#include "sim/machine_world.h"
#include "tests/identities.h"
#include "tests/machine/small_machine.h"

namespace convoy {
namespace {

using W = MachineWorld;
static_assert(sizeof(Rwsem<W>) == sizeof(Rwsem<RealWorld>), "the layout of a real machine");
static_assert(sizeof(Bounded<W>) == sizeof(Bounded<RealWorld>) && sizeof(Mutex<W>) == sizeof(Mutex<RealWorld>));

struct NoLock {
  explicit NoLock(LockClass<W>&) {}
  void lock() {}
  void unlock() {}
};

template <class Lock>
struct alignas(64) Shared {
  LockClass<W> lock_class{"machine"};
  alignas(64) Lock lock{lock_class};
  alignas(64) W::Plain<std::uint64_t> count{0};
  Acquisitions done;  // of no cost: a test's own
};

template <class Lock>
void operate(Shared<Lock>& shared) {
  if constexpr (SharedLockable<Lock>) {
    if (W::coin(2) == 1) {
      shared.lock.lock_shared();
      const std::uint64_t before = shared.count;
      W::work(20);
      EXPECT_EQ(shared.count, before) << "a writer came while a reader was inside";
      shared.lock.unlock_shared();
      ++shared.done.shared;
      return;
    }
  }
  shared.lock.lock();
  const std::uint64_t before = shared.count;
  W::work(20);
  shared.count = before + 1;
  shared.lock.unlock();
  ++shared.done.exclusive;
}

struct Ran {
  std::uint64_t counted = 0;
  Acquisitions done;
  MachineStats stats;
};

template <class Lock>
Ran contend(const MachineSpec& spec, int threads, int rounds, const MachineOptions& options = {}) {
  Ran ran;
  Machine machine(spec, options);
  machine.run([&] {
    Shared<Lock> shared;
    W::run(threads, 0, [&](int) {
      for (int i = 0; i < rounds; ++i) operate(shared);
    });
    ran.counted = shared.count;
    ran.done = shared.done;
    claim_identities<W>(shared.lock_class, shared.done);
  });
  ran.stats = machine.stats();
  return ran;
}

template <class Lock>
class MachinePolicies : public testing::Test {};
using Policies = testing::Types<Bounded<W>, Barging<W>, Handoff<W>, Eventual<W>, Tas<W>, Ttas<W>, Ticket<W>, Mcs<W>,
                                Qspinlock<W>, Mutex<W>, Mutex312<W>, Rwlock312<W>, Qrwlock2013<W>, Qrwlock<W>, Rwsem<W>,
                                RwsemTransfer<W>, RwsemRestored<W>, Rwsem312<W>>;
TYPED_TEST_SUITE(MachinePolicies, Policies);

void expect_exclusion(const Ran& ran, int threads, int rounds) {
  const auto operations = static_cast<std::uint64_t>(threads * rounds);
  EXPECT_EQ(ran.done.exclusive + ran.done.shared, operations);
  EXPECT_EQ(ran.counted, ran.done.exclusive) << "every count under the lock is kept";
}

TYPED_TEST(MachinePolicies, exclude_with_a_core_each) {
  for (const int threads : {2, 7, 24, 96}) {
    const int rounds = 480 / threads + 5;
    expect_exclusion(contend<TypeParam>(small_machine(2, 24, 2), threads, rounds), threads, rounds);
  }
}

// More threads than cores: preempted holders, spinners that yield or sleep.
TYPED_TEST(MachinePolicies, exclude_on_few_cores) {
  for (const char* mode : {"kernel", "user"}) {
    if (TypeParam::kTraits.needs_core_per_thread && std::string_view(mode) == "kernel") continue;
    MachineSpec spec = small_machine(1, 2, 2);
    spec.mode = mode;
    expect_exclusion(contend<TypeParam>(spec, 12, 40, {.pinned = false}), 12, 40);
  }
}

TYPED_TEST(MachinePolicies, exclude_with_ticket_locks_inside) {
  MachineSpec spec = small_machine(2, 8);
  spec.spin_lock = "ticket";
  expect_exclusion(contend<TypeParam>(spec, 16, 40), 16, 40);
}

// The halves of a ticket lock's word wrap after 65536 turns, and must not carry into each other.
TEST(MachineSpinLocks, tickets_wrap) {
  MachineSpec spec = small_machine(1, 2);
  spec.spin_lock = "ticket";
  Machine machine(spec, {});
  machine.run([] {
    struct alignas(64) {
      W::SpinLock lock;
      std::uint64_t count = 0;
    } shared;
    W::run(2, 0, [&](int) {
      for (int i = 0; i < 35'000; ++i) {
        shared.lock.lock();
        ++shared.count;
        shared.lock.unlock();
      }
    });
    EXPECT_EQ(shared.count, 70'000u);
  });
}

TYPED_TEST(MachinePolicies, run_is_a_function_of_its_seed) {
  const MachineSpec spec = small_machine(2, 4);
  const Ran one = contend<TypeParam>(spec, 8, 60, {.seed = 1});
  const Ran same = contend<TypeParam>(spec, 8, 60, {.seed = 1});
  const Ran other = contend<TypeParam>(spec, 8, 60, {.seed = 2});
  EXPECT_EQ(one.stats.trace_hash, same.stats.trace_hash);
  EXPECT_EQ(one.stats.virtual_time, same.stats.virtual_time);
  EXPECT_NE(one.stats.trace_hash, other.stats.trace_hash);
}

// The control: without a lock counts are lost, so the tests above can fail.
TEST(MachineControl, no_lock_loses_counts) {
  const Ran ran = contend<NoLock>(small_machine(1, 4), 4, 50);
  EXPECT_LT(ran.counted, ran.done.exclusive);
}

// What is between the objects of a run, as another allocator would put there, does not matter.
TEST(MachineDeterminism, places_do_not_matter) {
  const auto run_with_gap = [](std::size_t gap) {
    Machine machine(small_machine(2, 4), {});
    machine.allocate(gap, 64);
    machine.run([&] {
      auto& shared = *new (Machine::current().allocate(sizeof(Shared<Bounded<W>>), 64)) Shared<Bounded<W>>;
      W::run(8, 0, [&](int) {
        for (int i = 0; i < 60; ++i) operate(shared);
      });
    });
    return machine.stats().trace_hash;
  };
  EXPECT_EQ(run_with_gap(64), run_with_gap(4096 * 3 + 64));
}

}  // namespace
}  // namespace convoy
