// locks_bench.cc — Lock and unlock, uncontended, contended and oversubscribed: our policies side by side with peers.
// SPDX-License-Identifier: MIT
//
// usage: locks_bench [GOOGLE BENCHMARK OPTION...]
//        locks_bench --loop ROW N       runs an uncontended row's loop N times and measures nothing: for callgrind
//
// Rows
//   exclusive/NAME, shared/NAME         one thread, lock + unlock; counter rmw where it can be counted
//   exclusive/bounded_uncounted         bounded without its event counters: the price of counting
//   contended_HOLD/NAME                 2 threads, hold and think 0, 100 or 1000 ns; for 20 ms
//   shared_HOLD/NAME                    the same, both threads shared
//   oversubscribed_N/NAME               8 or 64 threads, hold and think 1000 ns, locks that sleep; for 100 ms
//   alone_1000/NAME                     1 thread, hold and think 1000 ns, for 1 s: is the hold what was asked for?
//
// The rows with threads run for a fixed time and report wall time per operation (contention.h). A thread that only
// sleeps keeps the process from being single-threaded, for which glibc's mutex has a short cut without atomics that no
// server ever takes.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <semaphore>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "locks/none.h"
#include "tests/bench/contention.h"
#include "tests/bench/lock_subjects.h"
#include "tests/counting_world.h"

namespace convoy {
namespace {

using namespace std::chrono_literals;

struct LoopRow {
  std::string name;
  std::function<void(std::uint64_t)> loop;
  std::optional<std::uint64_t> read_modify_writes;
};

// One lock per subject, and so one lock class per policy, for all rows of the program.
template <class S>
S& the_only() {
  static S& subject = *new S;
  return subject;
}

template <class S>
void add_loops(std::vector<LoopRow>& rows) {
  static const auto costs = lock_costs();
  const auto counted = costs.find(S::kName);
  const bool known = counted != costs.end();
  rows.push_back({"exclusive/" + std::string(S::kName), [](std::uint64_t n) { exclusive_loop(the_only<S>(), n); },
                  known ? std::optional(counted->second.exclusive) : std::nullopt});
  if constexpr (SharedSubject<S>) {
    rows.push_back({"shared/" + std::string(S::kName), [](std::uint64_t n) { shared_loop(the_only<S>(), n); },
                    known ? counted->second.shared : std::nullopt});
  }
}

template <class... Ss>
std::vector<LoopRow> loop_rows(SubjectList<Ss...>) {
  std::vector<LoopRow> rows;
  (add_loops<Ss>(rows), ...);
  return rows;
}

std::vector<LoopRow> loop_rows() {
  auto rows = loop_rows(Subjects{});
  for (auto& row : loop_rows(SubjectList<PolicySubject<None>, BoundedUncounted>{})) rows.push_back(std::move(row));
  return rows;
}

void add(const LoopRow& row) {
  benchmark::RegisterBenchmark(row.name.c_str(), [row](benchmark::State& state) {
    constexpr int kBatch = 1000;
    while (state.KeepRunningBatch(kBatch)) row.loop(kBatch);
    if (row.read_modify_writes) state.counters["rmw"] = static_cast<double>(*row.read_modify_writes);
  });
}

template <class S, Mode kMode = Mode::kExclusive>
benchmark::internal::Benchmark* add_load(const std::string& row, const Load& load) {
  const std::string name = row + "/" + std::string(S::kName);
  const auto run = [load](benchmark::State& state) {
    for (auto _ : state) {
      const Round round = contend<kMode>(the_only<S>(), load);
      state.SetIterationTime(round.operation_ns * 1e-9);
      state.counters["hold_ns"] = round.hold_ns;
      state.counters["overlap"] = round.overlap;
      state.counters["jain"] = round.jain;
    }
  };
  return benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Iterations(1);
}

template <class... Ss>
void add_loads(SubjectList<Ss...>) {
  const auto add_both = []<class S>(std::type_identity<S>) {
    for (const std::uint64_t ns : {0, 100, 1000}) {
      add_load<S>("contended_" + std::to_string(ns), Load{2, ns, ns, 20ms});
      if constexpr (SharedSubject<S>) {
        add_load<S, Mode::kShared>("shared_" + std::to_string(ns), Load{2, ns, ns, 20ms});
      }
    }
    if constexpr (!S::kSpins) {
      for (const int threads : {8, 64}) {
        add_load<S>("oversubscribed_" + std::to_string(threads), Load{threads, 1000, 1000, 100ms});
      }
    }
  };
  (add_both(std::type_identity<Ss>{}), ...);
}

int run_loop(std::string_view name, const char* times) {
  for (const LoopRow& row : loop_rows()) {
    if (row.name != name) continue;
    row.loop(std::strtoull(times, nullptr, 10));
    return 0;
  }
  std::fprintf(stderr, "locks_bench: no row '%s'\n", std::string(name).c_str());
  return 2;
}

int main(int argc, char** argv) {
  std::binary_semaphore over(0);
  const std::jthread sleeper([&over] { over.acquire(); });
  int status = 0;
  if (argc == 4 && std::string_view(argv[1]) == "--loop") {
    status = run_loop(argv[2], argv[3]);
  } else {
    // Debian builds it without NDEBUG, and then it looks for deadlocks in every lock().
    absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
    for (const LoopRow& row : loop_rows()) add(row);
    add_loads(Subjects{});
    add_load<PolicySubject<Bounded<RealWorld>>>("alone_1000", Load{1, 1000, 1000, 1s})->Repetitions(3);
    add_load<PthreadMutex>("alone_1000", Load{1, 1000, 1000, 1s})->Repetitions(3);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
      status = 2;
    } else if (benchmark::RunSpecifiedBenchmarks() == 0) {
      std::fprintf(stderr, "locks_bench: the filter selects nothing\n");
      status = 2;
    }
  }
  over.release();
  return status;
}

}  // namespace
}  // namespace convoy

int main(int argc, char** argv) { return convoy::main(argc, argv); }
