// quiescence_scenarios.h — Policies that are swapped while threads take, hold and wait for the lock.
// SPDX-License-Identifier: MIT
//
// Goal: a swap never meets a thread inside a region, ends, loses nobody who waits, and a swap that is given up changes
// nothing. Method: as scenarios.h; the policy and the storage of the lock are Plain, so a thread inside is also a race.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "locks/any_lock.h"
#include "locks/policies.h"
#include "locks/quiescence.h"
#include "tests/cells.h"

namespace convoy {

// `swappers` threads swap the policy to and fro, each once a round; the others count under the lock. Each does so
// inside a region, as a request would.
template <Host W>
class SwapUnderLoad : public Scenario {
 public:
  using Lock = AnyLock<W, WorldPolicies<W>>;

  struct Plan {
    int swappers;
    int counters;
    int rounds;
    std::uint8_t from, to;  // positions in WorldPolicies
    Deadline (*deadline)();
    int readers = 0;  // of the counters, the last ones only look
  };

  explicit SwapUnderLoad(Plan plan) : plan_(plan) {}
  int threads() const override { return plan_.swappers + plan_.counters; }
  void run(int thread) override {
    const auto me = static_cast<std::uint32_t>(thread);
    for (int round = 0; round < plan_.rounds; ++round) {
      const Region<W> region(quiescence_, me);
      if (thread < plan_.swappers) {
        swap(me);
      } else {
        const bool reads = thread >= threads() - plan_.readers;
        under<W>(lock_, reads ? Mode::kShared : Mode::kExclusive, [&] {
          const int count = count_;
          if (!reads) count_ = count + 1;
        });
      }
    }
  }
  void finish() override {
    W::require(count_ == (plan_.counters - plan_.readers) * plan_.rounds, "every count under the lock is kept");
    W::require(class_.policy() == (swaps_ % 2 == 0 ? plan_.from : plan_.to), "the policy is that of the last swap");
    W::require(plan_.deadline() != kNever || swaps_ == plan_.swappers * plan_.rounds, "every swap was made");
    claim_free<W>(lock_);
    claim_identities<W>(class_, false);
  }

 private:
  void swap(std::uint32_t me) {
    const std::uint64_t slept = sleeps<W>(class_);
    const auto outcome = quiescence_.run(
        me, plan_.deadline(),
        [&] {
          if (plan_.swappers > 1) ended_.fetch_add(1, relaxed);
          if (sleeps<W>(class_) > slept) W::witness("a swap that waited for a sleeper");
          const std::uint8_t next = class_.policy() == plan_.from ? plan_.to : plan_.from;
          lock_.reset(next);
          class_.set_policy(next);
          swaps_ = swaps_ + 1;
        },
        [this] {
          if (plan_.swappers > 1) ended_.fetch_add(1, relaxed);
          W::witness("a swap that was given up");
          for (std::uint32_t member = 0; member < quiescence_.members(); ++member) {
            if (quiescence_.is_inside(member)) W::witness("a member that is still inside");
          }
        });
    if (outcome == Quiescence<W>::Outcome::kDone) W::witness("a swap that was made");
    if (outcome != Quiescence<W>::Outcome::kBusy) return;
    W::witness("a swap that came behind another");
    if (ended_.load(relaxed) == 0) W::witness("a swap that gave up before the other ended");
  }

  Plan plan_;
  LockClass<W> class_{"scenario", plan_.from};
  Lock lock_{class_};
  Quiescence<W> quiescence_{static_cast<std::uint32_t>(threads())};
  Plain<W, int> count_{0};
  Plain<W, int> swaps_{0};
  Atomic<W, std::uint32_t> ended_{0};  // changes, made or given up; where there are several swappers
};

// Cells of the pseudo-policy "quiescence": from each policy to the next, so that every kind of queue is left and
// entered.
template <Host W>
void add_quiescence_cells(std::vector<Cell>& cells, int rounds) {
  const auto add = [&](const std::string& name, typename SwapUnderLoad<W>::Plan plan,
                       std::vector<std::string> witnesses, std::uint64_t max_schedules = kExhaustiveSchedules) {
    cells.push_back({"quiescence", name, [plan] { return std::make_unique<SwapUnderLoad<W>>(plan); },
                     std::move(witnesses), 0, max_schedules});
  };
  const auto forever = [] { return kNever; };
  const auto names = traits_of(WorldPolicies<W>{});
  for (std::uint8_t from = 0; from < names.size(); ++from) {
    const auto to = static_cast<std::uint8_t>((from + 1) % names.size());
    const auto pair = file_name_of(names[from].name) + "_" + file_name_of(names[to].name);
    std::vector<std::string> witnesses = {"a swap that was made"};
    if (!names[from].needs_core_per_thread) witnesses.push_back("a swap that waited for a sleeper");
    const bool shared = name_of(names[from].kind).starts_with("shared");
    add(pair, {1, 2, rounds, from, to, forever, shared ? 1 : 0}, std::move(witnesses),
        std::min(max_schedules_of(names[from].name), max_schedules_of(names[to].name)));
  }
  add("two_swappers", {2, 1, rounds, 0, 4, forever}, {"a swap that was made"});
  const auto soon = [] { return W::deadline_in(20'000); };
  add("given_up", {1, 1, rounds, 0, 4, soon},
      {"a swap that was made", "a swap that was given up", "a member that is still inside"});
  add("two_given_up", {2, 0, rounds, 0, 4, soon},
      {"a swap that was made", "a swap that was given up", "a swap that came behind another",
       "a swap that gave up before the other ended"});
}

}  // namespace convoy
