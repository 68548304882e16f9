// http_load_test.cc — The engine against servers that behave and that do not.
// Method: real sockets to small servers in this process; what the result says is held against what the server counted.
// SPDX-License-Identifier: MIT
#include "loadgen/http_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <numeric>

#include "loadgen/clock.h"
#include "loadgen/stop_signal.h"
#include "tests/loadgen/fake_server.h"

namespace convoy {
namespace {

using testing::answer_text;
using testing::FakeRequest;
using testing::FakeServer;
using testing::send_text;
using testing::well_behaved;

constexpr std::int64_t kMs = kNanosPerMilli;

Target target_of(const FakeServer& server, const std::string& path = "/", bool keep_alive = true) {
  auto target = make_target({server.url(path), "", {}, {}, keep_alive});
  EXPECT_TRUE(target);
  target->address = *resolve(target->origin);
  return *target;
}

HttpLoad load_of(const Target& target, std::uint32_t users, std::int64_t duration_ns) {
  HttpLoad load;
  load.target = &target;
  load.users = users;
  load.duration_ns = duration_ns;
  load.timeout_ns = 10 * kNanosPerSecond;
  return load;
}

std::uint64_t failures_of(const Tally& tally, Failure failure) {
  return tally.failures[static_cast<std::size_t>(failure)];
}

// What must hold in every run.
void expect_partition(const HttpOutcome& outcome) {
  const Tally& tally = outcome.tally;
  EXPECT_EQ(tally.started, tally.transactions + tally.failed + tally.in_flight_at_end);
  EXPECT_EQ(tally.failed, std::accumulate(tally.failures.begin(), tally.failures.end(), std::uint64_t{0}));
  EXPECT_EQ(tally.transactions, tally.latency.count());
  EXPECT_EQ(tally.failed, tally.failed_latency.count());
  EXPECT_EQ(tally.transactions, std::accumulate(tally.per_user.begin(), tally.per_user.end(), std::uint64_t{0}));
  std::uint64_t answers = 0, transactions = 0, errors = 0;
  for (const auto count : tally.status) answers += count;
  for (const auto& second : tally.timeline) {
    transactions += second.transactions;
    errors += second.errors;
  }
  EXPECT_EQ(answers,
            tally.transactions + failures_of(tally, Failure::kHttp4xx) + failures_of(tally, Failure::kHttp5xx));
  EXPECT_EQ(transactions, tally.transactions);
  EXPECT_EQ(errors, tally.failed);
}

HttpOutcome run(const HttpLoad& load, const HttpLoadHooks& hooks = {}) {
  auto outcome = run_http_load(load, hooks);
  EXPECT_TRUE(outcome) << outcome.error().message;
  expect_partition(*outcome);
  return std::move(*outcome);
}

TEST(HttpLoad, counts_equal_the_servers) {
  FakeServer server(well_behaved(1000));
  const auto target = target_of(server);
  const auto outcome = run(load_of(target, 8, 300 * kMs));
  EXPECT_GT(outcome.tally.transactions, 100U);
  EXPECT_EQ(outcome.tally.failed, 0U);
  EXPECT_EQ(server.requests(), outcome.tally.started);
  EXPECT_EQ(outcome.tally.bytes, outcome.tally.transactions * 1000);
  EXPECT_EQ(outcome.tally.slow_connects, 0U);
  EXPECT_EQ(outcome.tally.connections_opened, 8U);
  EXPECT_EQ(outcome.window_ns, 300 * kMs);
}

TEST(HttpLoad, exactly_so_many_requests) {
  for (const bool keep_alive : {true, false}) {
    FakeServer server(well_behaved());
    const auto target = target_of(server, "/", keep_alive);
    auto load = load_of(target, 5, 0);
    load.requests = 1000;
    load.threads = 3;
    load.keep_alive = keep_alive;
    const auto outcome = run(load);
    EXPECT_EQ(outcome.tally.started, 1000U);
    EXPECT_EQ(outcome.tally.transactions, 1000U);
    EXPECT_EQ(server.requests(), 1000U);
    EXPECT_EQ(outcome.tally.connections_opened, keep_alive ? 5U : 1000U);
  }
}

TEST(HttpLoad, fewer_requests_than_users) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  auto load = load_of(target, 20, 0);
  load.requests = 3;
  EXPECT_EQ(run(load).tally.transactions, 3U);
  EXPECT_EQ(server.requests(), 3U);
}

TEST(HttpLoad, requests_after_a_warmup_are_exact_too) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  for (const std::uint64_t requests : {2U, 200U}) {
    auto load = load_of(target, 5, 0);
    load.requests = requests;
    load.warmup_ns = 50 * kMs;
    load.threads = 2;
    const auto outcome = run(load);
    EXPECT_EQ(outcome.tally.started, requests);
    EXPECT_EQ(outcome.tally.transactions, requests);
    EXPECT_GT(outcome.tally.answered, requests);
  }
}

TEST(HttpLoad, the_warmup_is_not_in_the_window_and_nothing_is_in_flight_outside_of_the_run) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  auto load = load_of(target, 10, 200 * kMs);
  load.warmup_ns = 200 * kMs;
  load.threads = 2;
  std::uint64_t before = 0, after = 0;
  std::int64_t opened = 0;
  HttpLoadHooks hooks;
  hooks.before_load = [&] { before = server.requests(); };
  hooks.window_open = [&](std::int64_t at) { opened = at; };
  hooks.after_load = [&] { after = server.requests(); };
  const auto start = now_ns();
  const auto outcome = run(load, hooks);
  EXPECT_EQ(before, 0U);
  EXPECT_GE(opened - start, 200 * kMs);
  EXPECT_GT(outcome.tally.answered, outcome.tally.started);
  EXPECT_EQ(after, outcome.tally.answered);
}

TEST(HttpLoad, the_timeline_has_an_entry_for_every_second) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  auto load = load_of(target, 2, 2 * kNanosPerSecond);
  load.warmup_ns = 30 * kMs;
  const auto outcome = run(load);
  ASSERT_EQ(outcome.tally.timeline.size(), 2U);
  EXPECT_GT(outcome.tally.timeline[0].transactions, 0U);
  EXPECT_GT(outcome.tally.timeline[1].transactions, 0U);
}

TEST(HttpLoad, a_second_without_answers_stays_in_the_timeline) {
  FakeServer server([](const FakeRequest& request) {
    if (request.number == 2) std::this_thread::sleep_for(std::chrono::milliseconds(2300));
    send_text(request.fd, answer_text(200, "x"));
    return request.number < 2;
  });
  const auto target = target_of(server);
  auto load = load_of(target, 1, 0);
  load.requests = 2;
  const auto outcome = run(load);
  ASSERT_EQ(outcome.tally.timeline.size(), 3U);
  EXPECT_EQ(outcome.tally.timeline[1].transactions, 0U);
  EXPECT_EQ(outcome.tally.timeline[2].transactions, 1U);
}

TEST(HttpLoad, users_walk_the_list_from_places_of_their_own) {
  FakeServer server(well_behaved());
  const auto target = target_of(server, "/{1..8}");
  auto load = load_of(target, 4, 0);
  load.requests = 4;
  run(load);
  const auto paths = server.paths();
  EXPECT_THAT(paths, ::testing::UnorderedElementsAre("/1", "/3", "/5", "/7"));
  load.users = 1;
  load.requests = 16;
  FakeServer other(well_behaved());
  const auto same = target_of(other, "/{1..8}");
  load.target = &same;
  run(load);
  std::map<std::string, int> counts;
  for (const auto& path : other.paths()) ++counts[path];
  EXPECT_EQ(counts.size(), 8U);
  for (const auto& [path, count] : counts) EXPECT_EQ(count, 2) << path;
}

// Row L10 and its kin: every way of ending a body.
TEST(HttpLoad, chunked_and_unbounded_bodies_are_successes) {
  FakeServer server([](const FakeRequest& request) {
    if (request.connection % 2 == 0) {
      send_text(request.fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
      return true;
    }
    send_text(request.fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    return false;
  });
  const auto target = target_of(server);
  auto load = load_of(target, 2, 0);
  load.requests = 50;
  const auto outcome = run(load);
  EXPECT_EQ(outcome.tally.transactions, 50U);
  EXPECT_EQ(outcome.tally.bytes, 150U);
}

TEST(HttpLoad, an_answer_in_many_pieces) {
  FakeServer server([](const FakeRequest& request) {
    const auto text = answer_text(200, std::string(500, 'x'));
    for (std::size_t i = 0; i < text.size(); i += 37) send_text(request.fd, text.substr(i, 37));
    return true;
  });
  const auto target = target_of(server);
  auto load = load_of(target, 3, 0);
  load.requests = 60;
  EXPECT_EQ(run(load).tally.bytes, 60U * 500U);
}

// One failure class a server; no failure enters latency or transactions (row M9).
TEST(HttpLoad, failures_by_class) {
  struct Kind {
    Failure failure;
    std::string answer;
    bool keep;
  };
  const std::vector<Kind> kinds{
      {Failure::kHttp4xx, answer_text(404, "no"), true},
      {Failure::kHttp5xx, answer_text(503, "no"), true},
      {Failure::kShortBody, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", false},
      {Failure::kShortBody, "HTTP/1.1 200 OK\r\nContent-Le", false},
      {Failure::kBadResponse, "garbage\r\n\r\n", true},
      {Failure::kBadResponse, answer_text(200, "x") + "unasked", true},
      {Failure::kBadResponse, "HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", true},
      {Failure::kReset, "", false},
  };
  for (const auto& kind : kinds) {
    FakeServer server([&](const FakeRequest& request) {
      // Every third request is answered well, by a slow hand: 5 ms, which failures must not make shorter.
      static std::atomic<int> number{0};
      if (++number % 3 != 0) {
        send_text(request.fd, kind.answer);
        return kind.keep;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      send_text(request.fd, answer_text(200, "x", "Connection: close\r\n"));
      return false;
    });
    const auto target = target_of(server);
    auto load = load_of(target, 2, 0);
    load.requests = 12;
    const auto outcome = run(load);
    const Tally& tally = outcome.tally;
    EXPECT_EQ(failures_of(tally, kind.failure), 8U) << kind.answer;
    EXPECT_EQ(tally.transactions, 4U) << kind.answer;
    EXPECT_GE(tally.latency.min_ns(), 5U * 1000 * 1000) << kind.answer;
    EXPECT_EQ(server.requests(), 12U) << kind.answer;
  }
}

// Row H12: a server that closes idle connections at its own whim.
TEST(HttpLoad, a_reused_connection_found_closed_is_no_failure) {
  FakeServer server([](const FakeRequest& request) {
    if (request.number == 2) return false;  // Closed without a byte of answer.
    send_text(request.fd, answer_text(200, "x"));
    return true;
  });
  const auto target = target_of(server);
  auto load = load_of(target, 3, 0);
  load.requests = 30;
  const auto outcome = run(load);
  EXPECT_EQ(outcome.tally.transactions, 30U);
  EXPECT_EQ(outcome.tally.failed, 0U);
  EXPECT_EQ(outcome.tally.reused_closed, 27U);
  EXPECT_EQ(server.requests(), 57U);
}

TEST(HttpLoad, time_outs) {
  FakeServer server([](const FakeRequest& request) {
    if (request.connection > 1) send_text(request.fd, answer_text(200, "x"));
    return true;
  });
  const auto target = target_of(server);
  auto load = load_of(target, 1, 0);
  load.requests = 3;
  load.timeout_ns = 150 * kMs;
  const auto outcome = run(load);
  EXPECT_EQ(failures_of(outcome.tally, Failure::kTimeout), 1U);
  EXPECT_EQ(outcome.tally.transactions, 2U);
  EXPECT_GE(outcome.tally.failed_latency.min_ns(), 150U * 1000 * 1000);
}

// Row L1: answers take longer than the run has left.
TEST(HttpLoad, ends_in_time_and_counts_what_is_in_flight) {
  FakeServer server([](const FakeRequest& request) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    send_text(request.fd, answer_text(200, "x"));
    return true;
  });
  const auto target = target_of(server);
  const auto start = now_ns();
  const auto outcome = run(load_of(target, 3, 400 * kMs));
  EXPECT_LT(now_ns() - start, 1200 * kMs);
  EXPECT_EQ(outcome.tally.in_flight_at_end, 3U);
  EXPECT_EQ(outcome.tally.started, 3U);
  EXPECT_EQ(outcome.tally.latency.count(), 0U);
}

// Row L5: the server goes away in the middle.
TEST(HttpLoad, an_outage_stays_in_the_data) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  HttpLoadHooks hooks;
  std::thread killer;
  hooks.window_open = [&](std::int64_t) {
    killer = std::thread([&] {
      while (server.requests() < 100) std::this_thread::yield();
      server.stop();
    });
  };
  const auto start = now_ns();
  const auto outcome = run(load_of(target, 10, 1500 * kMs), hooks);
  killer.join();
  EXPECT_LT(now_ns() - start, 2800 * kMs);
  EXPECT_EQ(outcome.window_ns, 1500 * kMs);
  EXPECT_GE(failures_of(outcome.tally, Failure::kConnectRefused), 10U);
  EXPECT_GT(outcome.tally.timeline[1].errors, 0U);
  // Backing off: 10 users who retried at once would fail by the hundred thousand.
  EXPECT_LT(outcome.tally.failed, 1000U);
  EXPECT_LT(outcome.tally.busiest_thread, 0.5);
}

// Row L12: a server that serves only some of its clients.
TEST(HttpLoad, unserved_users_show) {
  FakeServer server([](const FakeRequest& request) {
    if (request.connection > 2) return true;  // Taken, never answered.
    send_text(request.fd, answer_text(200, "x"));
    return true;
  });
  const auto target = target_of(server);
  const auto outcome = run(load_of(target, 20, 800 * kMs));
  EXPECT_EQ(outcome.tally.users_connected, 20U);
  EXPECT_EQ(std::count_if(outcome.tally.per_user.begin(), outcome.tally.per_user.end(), [](auto n) { return n > 0; }),
            2);
  EXPECT_EQ(outcome.tally.in_flight_at_end, 20U);
}

// Row S3: a backlog that is too short makes clients send their SYN again after 1 s; that is seen.
TEST(HttpLoad, connections_that_had_to_ask_twice_are_counted) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  auto target = *make_target({"http://127.0.0.1:" + std::to_string(ntohs(address.sin_port)), "", {}, {}, true});
  target.address = *resolve(target.origin);
  // Nothing is accepted while the first SYN come in, everything afterwards.
  std::thread server([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::vector<int> clients;
    while (clients.size() < 20) {
      const int fd = ::accept(listener, nullptr, nullptr);
      if (fd < 0) break;
      clients.push_back(fd);
      send_text(fd, answer_text(200, "x"));
    }
    for (const int fd : clients) ::shutdown(fd, SHUT_WR), ::close(fd);
  });
  auto load = load_of(target, 20, 0);
  load.requests = 20;
  const auto outcome = run(load);
  ::shutdown(listener, SHUT_RDWR);
  server.join();
  ::close(listener);
  EXPECT_GT(outcome.tally.slow_connects, 0U);
  EXPECT_LE(outcome.tally.slow_connects, 20U);
}

TEST(HttpLoad, more_users_than_the_select_limit) {
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  auto load = load_of(target, 1100, 0);
  load.requests = 2200;
  EXPECT_EQ(run(load).tally.transactions, 2200U);
}

TEST(HttpLoad, a_signal_ends_it_with_what_there_is) {
  stop_signal::install();
  FakeServer server(well_behaved());
  const auto target = target_of(server);
  HttpLoadHooks hooks;
  std::thread killer;
  hooks.window_open = [&](std::int64_t) {
    killer = std::thread([&] {
      while (server.requests() < 100) std::this_thread::yield();
      ::kill(::getpid(), SIGTERM);
    });
  };
  const auto outcome = run(load_of(target, 4, 60 * kNanosPerSecond), hooks);
  killer.join();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(stop_signal::received(), SIGTERM);
  EXPECT_GT(outcome.tally.transactions, 0U);
  EXPECT_LT(outcome.window_ns, 30 * kNanosPerSecond);
  // Once more, with the signal there before the start.
  const auto nothing = run(load_of(target, 4, 60 * kNanosPerSecond));
  stop_signal::clear();
  EXPECT_TRUE(nothing.interrupted);
  EXPECT_LT(nothing.window_ns, kNanosPerSecond);
}

}  // namespace
}  // namespace convoy
