// osq_scenarios.h — What the queue of optimistic spinners is asked to do: turns, one at a time, and to be left.
// SPDX-License-Identifier: MIT
//
// Goal: whoever stays gets a turn, alone; whoever leaves, as the first, the last or in between, alone or together with
// a neighbour, takes nobody else along. Method: the explorer ends each spin at each point, and reports a spinner that
// waits for ever, a turn that two have at once (a race), and a node that says something else than it should (a claim).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "locks/osq.h"
#include "locks/world.h"
#include "tests/cell.h"
#include "tests/scenarios.h"

namespace convoy {

// Thread 0 keeps its turn until all have come, so that there is a queue to leave.
template <Host W>
class OsqLeave : public Scenario {
 public:
  explicit OsqLeave(ScenarioSize size) : size_(size) {}
  int threads() const override { return size_.threads; }
  void run(int thread) override {
    if (thread != 0) arrived_.fetch_add(1, relaxed);  // relaxed, as the await: only a moment to wait for
    for (int round = 0; round < size_.rounds; ++round) {
      typename Osq<W>::Spinner spinner(queue_);
      if (!spinner.lock()) {
        Plain<W, int>& left = left_[thread];
        left = left + 1;
        continue;
      }
      turns_ = turns_ + 1;
      if (thread == 0) {
        const auto others = static_cast<std::uint32_t>(size_.threads - 1);
        W::await(arrived_, relaxed, [others](std::uint32_t arrived) { return arrived == others; });
      }
      spinner.unlock();
    }
  }
  void finish() override {
    int left = 0;
    for (const Plain<W, int>& of_thread : left_) left += of_thread;
    W::require(turns_ + left == size_.threads * size_.rounds, "each has had a turn or has left");
    W::require(turns_ >= 1, "somebody has had a turn");
    W::require(!queue_.is_locked(), "the queue is empty at the end");
    if (left == 0) W::witness("nobody left");
    if (left == 1) W::witness("one left");
    if (turns_ == 1) W::witness("all but one left");
  }

 private:
  static constexpr int kMaxThreads = 4;
  ScenarioSize size_;
  Osq<W> queue_;
  Atomic<W, std::uint32_t> arrived_{0};
  Plain<W, int> turns_{0};           // guarded by the turn
  Plain<W, int> left_[kMaxThreads];  // each written by its thread
};

// `rounds` of the cell in which threads come back, and so use their nodes again.
template <Host W>
void add_osq_cells(std::vector<Cell>& cells, int rounds) {
  const auto add = [&](const char* name, ScenarioSize size) {
    std::vector<std::string> witnesses = {"nobody left", "one left"};
    if (size.threads == 3 && size.rounds == 1) witnesses.push_back("all but one left");
    cells.push_back({"osq", name, [size] { return std::make_unique<OsqLeave<W>>(size); }, std::move(witnesses)});
    // Four threads, or three that come back, have some 200,000 schedules and more within three preemptions.
    if (size.threads > 3 || size.rounds > 1) cells.back().max_schedules = 60'000;
  };
  add("leave_3", {3, 1});
  add("leave_4", {4, 1});
  add("leave_and_come_back", {3, rounds});
}

}  // namespace convoy
