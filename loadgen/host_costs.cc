// host_costs.cc — What lines, sleeping and waking cost on this host, each measured again and again.
// SPDX-License-Identifier: MIT
#include "loadgen/host_costs.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>

#include "loadgen/clock.h"
#include "loadgen/cpu_list.h"
#include "loadgen/random.h"
#include "locks/world_real.h"

namespace convoy {
namespace {

constexpr int kRounds = 101;
constexpr std::size_t kLineBytes = 64;

// In a thread of its own, pinned to `cpu`. Where pinning fails the thread runs where it may.
template <class F>
std::thread on_cpu(int cpu, F body) {
  return std::thread([cpu, body] {
    (void)pin_to_cpus({cpu});
    body();
  });
}

// `once(n)` does the thing n times; a value for each round of n.
template <class F>
Costs per_operation(int cpu, int n, F once) {
  Costs costs;
  on_cpu(cpu, [&] {
    once(n);  // into the caches, and the processor out of its idle state
    for (int round = 0; round < kRounds; ++round) {
      const auto begin = now_ns();
      once(n);
      costs.push_back(static_cast<double>(now_ns() - begin) / n);
    }
  }).join();
  return costs;
}

struct alignas(kLineBytes) Node {
  Node* next;
};

// Every node once, in an order that no prefetcher guesses (Sattolo).
void link_at_random(Node* nodes, std::uint32_t count) {
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t i = 0; i < count; ++i) order[i] = i;
  Random random(1);
  for (std::uint32_t i = count - 1; i > 0; --i) std::swap(order[i], order[random.below(i)]);
  for (std::uint32_t i = 0; i < count; ++i) nodes[order[i]].next = &nodes[order[(i + 1) % count]];
}

void walk(Node*& at, int steps) {
  for (int i = 0; i < steps; ++i) at = *const_cast<Node* volatile*>(&at->next);
}

struct alignas(kLineBytes) Word {
  std::atomic<std::uint32_t> value{0};
};

void pauses(int n) {
  for (int i = 0; i < n; ++i) RealThreads::pause();
}

// What sleeper and waker tell each other; a futex each way. The clock is the same on every processor.
struct Wake {
  static constexpr std::uint32_t kAsleep = 0, kWoken = 1, kOver = 2;
  Word word;     // what the sleeper sleeps on
  Word ready;    // how many sleeps have begun
  Word resumed;  // how many have ended
  std::int64_t ran_ns = 0;

  void sleep() {
    for (std::uint32_t turn = 1;; ++turn) {
      word.value.store(kAsleep);
      ready.value.store(turn);
      while (word.value.load() == kAsleep) RealThreads::futex_wait(word.value, kAsleep, kNever);
      ran_ns = now_ns();
      if (word.value.load() == kOver) return;
      resumed.value.store(turn);
    }
  }
  // Returns how many threads the call woke.
  long wake(std::uint32_t what) {
    word.value.store(what);
    return syscall(SYS_futex, &word.value, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
};

void spin_until(const Word& word, std::uint32_t value) {
  while (word.value.load() != value) RealThreads::pause();
}

}  // namespace

Costs load_costs(int cpu) {
  constexpr std::uint32_t kNodes = 64;
  const std::unique_ptr<Node[]> nodes(new Node[kNodes]);
  link_at_random(nodes.get(), kNodes);
  Node* at = nodes.get();
  return per_operation(cpu, 1'000'000, [&at](int n) { walk(at, n); });
}

Costs store_costs(int cpu) {
  alignas(kLineBytes) volatile std::uint64_t word = 0;
  return per_operation(cpu, 2'000'000, [&word](int n) {
    for (int i = 0; i < n; ++i) word = static_cast<std::uint64_t>(i);
  });
}

Costs atomic_costs(int cpu) {
  Word word;
  return per_operation(cpu, 500'000, [&word](int n) {
    for (int i = 0; i < n; ++i) word.value.fetch_add(1, std::memory_order_relaxed);
  });
}

Costs pause_costs(int cpu) { return per_operation(cpu, 100'000, pauses); }

Costs syscall_costs(int cpu) {
  return per_operation(cpu, 50'000, [](int n) {
    for (int i = 0; i < n; ++i) syscall(SYS_getppid);
  });
}

Costs memory_costs(int cpu) {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  madvise(memory, kBytes, MADV_HUGEPAGE);
  auto* const nodes = static_cast<Node*>(memory);
  link_at_random(nodes, kBytes / sizeof(Node));
  Node* at = nodes;
  auto costs = per_operation(cpu, 100'000, [&at](int n) { walk(at, n); });
  munmap(memory, kBytes);
  return costs;
}

Costs transfer_costs(int one, int other) {
  // Many short rounds: the few in which a thread loses its processor do not move the median.
  constexpr int kTrips = 250;
  constexpr int kShortRounds = 1'000;
  Costs costs;
  Word word{2};
  const auto play = [&word](std::uint32_t mine, std::uint32_t theirs) {
    for (int i = 0; i < kTrips; ++i) {
      std::uint32_t expected = mine;
      while (!word.value.compare_exchange_strong(expected, theirs)) expected = mine;
    }
  };
  auto second = on_cpu(other, [&] {
    word.value.store(0);  // it is there
    for (int round = 0; round < kShortRounds; ++round) play(1, 0);
  });
  on_cpu(one, [&] {
    spin_until(word, 0);
    for (int round = 0; round < kShortRounds; ++round) {
      const auto begin = now_ns();
      play(0, 1);
      costs.push_back(static_cast<double>(now_ns() - begin) / (2.0 * kTrips));
    }
  }).join();
  second.join();
  return costs;
}

Costs slowdowns(int one, int other) {
  const Costs alone = pause_costs(one);
  std::atomic<bool> over{false};
  auto beside = on_cpu(other, [&over] {
    while (!over.load(std::memory_order_relaxed)) RealThreads::pause();
  });
  Costs ratios = pause_costs(one);
  over = true;
  beside.join();
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= alone[i];
  return ratios;
}

WakeCosts wake_costs(int waker, int sleeper, std::int64_t idle_ns, int events) {
  WakeCosts costs;
  Wake wake;
  auto sleeping = on_cpu(sleeper, [&wake] { wake.sleep(); });
  on_cpu(waker, [&] {
    for (std::uint32_t turn = 1; turn <= static_cast<std::uint32_t>(events); ++turn) {
      spin_until(wake.ready, turn);
      const auto idle_until = now_ns() + idle_ns;
      while (now_ns() < idle_until) RealThreads::pause();
      const auto begin = now_ns();
      const bool slept = wake.wake(Wake::kWoken) == 1;
      const auto end = now_ns();
      spin_until(wake.resumed, turn);
      if (!slept) continue;
      costs.call.push_back(static_cast<double>(end - begin));
      costs.latency.push_back(static_cast<double>(wake.ran_ns - begin));
    }
    spin_until(wake.ready, static_cast<std::uint32_t>(events) + 1);
    wake.wake(Wake::kOver);
  }).join();
  sleeping.join();
  return costs;
}

SwitchCosts switch_costs(int cpu) {
  constexpr int kTurns = 2'000;
  std::array<Word, 2> words;
  std::array<std::int64_t, 2> calling_ns{};
  SwitchCosts costs;
  const auto play = [&words, &calling_ns](std::size_t mine) {
    const sched_param batch{};
    (void)sched_setscheduler(0, SCHED_BATCH, &batch);
    calling_ns[mine] = 0;
    Word& me = words[mine];
    Word& other = words[1 - mine];
    for (int i = 0; i < kTurns; ++i) {
      while (me.value.exchange(0) == 0) RealThreads::futex_wait(me.value, 0, kNever);
      other.value.store(1);
      const auto begin = now_ns();
      RealThreads::futex_wake(other.value, 1);
      calling_ns[mine] += now_ns() - begin;
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    words[0].value.store(0);
    words[1].value.store(0);
    auto first = on_cpu(cpu, [&] { play(0); });
    auto second = on_cpu(cpu, [&] { play(1); });
    const auto begin = now_ns();
    words[0].value.store(1);
    RealThreads::futex_wake(words[0].value, 1);
    first.join();
    second.join();
    costs.turn.push_back(static_cast<double>(now_ns() - begin) / (2.0 * kTurns));
    costs.call.push_back(static_cast<double>(calling_ns[0] + calling_ns[1]) / (2.0 * kTurns));
  }
  return costs;
}

Costs slice_costs(int cpu) {
  constexpr std::int64_t kLength = 600 * kNanosPerMilli;
  // A thread that does not see the clock for so long was off the processor.
  constexpr std::int64_t kAway = 300'000;
  Costs costs;
  std::atomic<bool> over{false};
  auto rival = on_cpu(cpu, [&over] {
    while (!over.load(std::memory_order_relaxed)) RealThreads::pause();
  });
  on_cpu(cpu, [&] {
    const auto end = now_ns() + kLength;
    std::int64_t since = 0;
    for (auto last = now_ns(), now = last; now < end; last = now) {
      now = now_ns();
      if (now - last < kAway) continue;
      if (since != 0) costs.push_back(static_cast<double>(last - since));
      since = now;
    }
    over = true;
  }).join();
  rival.join();
  return costs;
}

SchedulerInfo scheduler_info(const std::string& release) {
  int major = 0, minor = 0;
  const auto digit = release.find_first_of("0123456789");
  if (digit != std::string::npos) std::sscanf(release.c_str() + digit, "%d.%d", &major, &minor);
  SchedulerInfo info;
  info.eevdf = std::pair(major, minor) >= std::pair(6, 6);
  info.processors = std::max(1u, std::thread::hardware_concurrency());
  return info;
}

double tick_ns() {
  timespec tick{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  return static_cast<double>(tick.tv_sec) * 1e9 + static_cast<double>(tick.tv_nsec);
}

}  // namespace convoy
