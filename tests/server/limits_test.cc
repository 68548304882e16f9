// limits_test.cc — Goal: no client holds the server longer than its limits allow, and what it leaves behind is cleared.
// Method: real sockets; the limits are settings, here some hundred milliseconds, and are waited for, never guessed.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/server/test_server.h"

namespace convoy {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One kind of slow sender: what it sends at once, then the bytes that it repeats one by one.
struct Dribble {
  std::string name;
  std::string first;
  std::string then;
};

// The limit is for the whole request: a byte every 20 ms does not extend it.
TEST(Limits, a_request_must_arrive_whole_in_time) {
  const TestServer server("idle-timeout=600ms");
  const std::string put = "PUT /config/x HTTP/1.1\r\nHost: a\r\n";
  const std::vector<Dribble> kinds = {
      {"request line", "GET /", "a"},
      {"header line", "GET / HTTP/1.1\r\nHost: a\r\nX: ", "a"},
      {"header lines", "GET / HTTP/1.1\r\nHost: a\r\n", "A: b\r\n"},
      {"body", put + "Content-Length: 60000\r\n\r\n", "x"},
      {"chunks", put + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"},
      {"extension", put + "Transfer-Encoding: chunked\r\n\r\n1;", "x"},
      {"trailer", put + "Transfer-Encoding: chunked\r\n\r\n0\r\nA: ", "x"},
      {"body never sent", put + "Content-Length: 10\r\n\r\n", ""},
      {"nothing", "", ""},
  };
  struct Sender {
    const Dribble& kind;
    std::unique_ptr<Client> client;
    std::size_t sent = 0;
    double closed_after = 0;
  };
  const auto start = Clock::now();
  std::vector<Sender> senders;
  for (const Dribble& kind : kinds) {
    senders.push_back({kind, std::make_unique<Client>(server.port())});
    senders.back().client->send(kind.first);
  }
  std::size_t open = senders.size();
  while (open > 0 && seconds_since(start) < 10) {
    std::this_thread::sleep_for(milliseconds(20));
    for (Sender& sender : senders) {
      if (sender.closed_after > 0) continue;
      if (sender.client->is_closed()) {
        sender.closed_after = seconds_since(start);
        --open;
      } else if (!sender.kind.then.empty()) {
        sender.client->send(sender.kind.then.substr(sender.sent++ % sender.kind.then.size(), 1));
      }
    }
    ASSERT_EQ(server.get("/a").body, "A") << "others are served meanwhile";
  }
  for (const Sender& sender : senders) {
    EXPECT_GE(sender.closed_after, 0.59) << sender.kind.name;
    EXPECT_LT(sender.closed_after, 5) << sender.kind.name;
  }
  EXPECT_TRUE(server.becomes_idle());
}

// Empty lines are no request: whoever sends nothing else is idle.
TEST(Limits, empty_lines_do_not_extend_the_stay) {
  const TestServer server("idle-timeout=400ms");
  Client client(server.port());
  EXPECT_EQ(client.get("/a").body, "A");
  const auto start = Clock::now();
  int lines = 0;
  while (!client.is_closed() && seconds_since(start) < 10) {
    if (lines < 15) client.send("\r\n"), ++lines;
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_LT(seconds_since(start), 5);
  EXPECT_EQ(client.read_to_end(), "");
}

TEST(Limits, a_busy_connection_may_stay_longer_than_the_limit) {
  const TestServer server("idle-timeout=1s");
  Client client(server.port());
  const auto start = Clock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(client.get("/a").body, "A");
    std::this_thread::sleep_for(milliseconds(100));
  }
  EXPECT_GT(seconds_since(start), 2.0);
}

// H12: a request that meets the end of an idle connection is answered whole or not at all, and then not run either.
TEST(Limits, request_at_the_end_of_an_idle_connection) {
  const TestServer server("idle-timeout=500ms");
  constexpr int kTrials = 400;
  const std::string request = "GET /hot.bin HTTP/1.1\r\nHost: a\r\n\r\n";
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kTrials; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    clients.back()->send(request);
  }
  for (auto& client : clients) ASSERT_EQ(client->read().status, 200);
  const auto start = Clock::now();
  // The second requests go out over 100 to 900 ms after the first answers; the close comes at 500 to 625 ms.
  for (int i = 0; i < kTrials; ++i) {
    std::this_thread::sleep_until(start + milliseconds(100 + 2 * i));
    clients[static_cast<std::size_t>(i)]->send(request);
  }
  int whole = 0, closed = 0;
  for (auto& client : clients) {
    const std::string rest = client->read_answer_or_end();
    const bool is_whole = rest.rfind("HTTP/1.1 200 OK\r\n", 0) == 0 && rest.size() > 12288;
    whole += is_whole ? 1 : 0;
    closed += rest.empty() ? 1 : 0;
    EXPECT_TRUE(is_whole || rest.empty()) << "half an answer of " << rest.size() << " bytes";
  }
  EXPECT_GT(whole, 0);
  EXPECT_GT(closed, 0);
  EXPECT_EQ(server.accesses(), static_cast<std::uint64_t>(kTrials + whole)) << "what is not answered is not run";
}

// One that comes after the limit, and before the sweep that would close its connection, is not run either.
TEST(Limits, a_request_after_its_limit_is_not_run) {
  constexpr milliseconds kIdle{1000}, kSweep = kIdle / 4, kLate{120};
  const TestServer server("idle-timeout=1s");
  const auto start = Clock::now();
  constexpr int kClients = 20;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < kClients; ++i) clients.push_back(std::make_unique<Client>(server.port()));
  // Right after a sweep, so that the limits end right after one, too: the next is then a while off.
  std::this_thread::sleep_until(start + 2 * kSweep + milliseconds(10));
  for (auto& client : clients) ASSERT_EQ(client->get("/a").body, "A");
  std::this_thread::sleep_until(Clock::now() + kIdle + kLate);
  for (auto& client : clients) client->send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  for (auto& client : clients) EXPECT_EQ(client->read_answer_or_end(), "");
  EXPECT_EQ(server.accesses(), static_cast<std::uint64_t>(kClients));
}

TEST(Limits, a_client_that_takes_nothing_is_dropped) {
  const TestServer server("send-timeout=500ms");
  Client client(server.port());
  // More than both sockets hold.
  std::string requests;
  for (int i = 0; i < 12; ++i) requests += "GET /big HTTP/1.1\r\nHost: a\r\n\r\n";
  client.send(requests);
  EXPECT_EQ(client.read(true).status, 200);
  EXPECT_TRUE(server.becomes_idle()) << "its pages are unpinned and its descriptor is free";
  const std::size_t got = client.read_to_end().size();
  EXPECT_LT(got, TestServer::big_file().size() * 12);
}

// The limit is for taking nothing: a slow reader gets all of it, however long that takes.
TEST(Limits, a_client_that_takes_little_is_served) {
  const TestServer server("send-timeout=1s idle-timeout=1s");
  Client client(server.port());
  const int small = 64 * 1024;
  ::setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
  constexpr int kAnswers = 6;
  std::string requests;
  for (int i = 0; i < kAnswers; ++i) requests += "GET /big HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n";
  client.send(requests + "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string big = TestServer::big_file();
  const auto start = Clock::now();
  for (int i = 0; i < kAnswers; ++i) {
    std::this_thread::sleep_for(milliseconds(400));
    ASSERT_TRUE(client.read().body == big) << "answer " << i;
  }
  EXPECT_EQ(client.read().body, "A");
  EXPECT_EQ(client.read_to_end(), "");
  EXPECT_GT(seconds_since(start), 2.0);
}

// A client may say that it sends no more and still take its answers.
TEST(Limits, half_closed_clients_are_answered) {
  const TestServer server;
  const std::string big = TestServer::big_file();
  Client client(server.port());
  client.send(
      "GET /big HTTP/1.1\r\nHost: a\r\n\r\nGET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /big HTTP/1.1\r\nHost: a\r\n\r\n");
  client.finish_sending();
  EXPECT_TRUE(client.read().body == big);
  EXPECT_EQ(client.read().body, "A");
  EXPECT_TRUE(client.read().body == big);
  EXPECT_EQ(client.read_to_end(), "");
  for (const std::string half : {"", "GET /a HT", "PUT /config/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"}) {
    Client other(server.port());
    other.send(half);
    other.finish_sending();
    EXPECT_EQ(other.read_to_end(), "") << half;
  }
  EXPECT_TRUE(server.becomes_idle());
  EXPECT_EQ(server.accesses(), 3u);
}

// A reset may come at any time: within a request, a body, an answer, after the last answer.
TEST(Limits, resets_leave_nothing_behind) {
  const TestServer server("workers=4");
  const std::vector<std::function<void(Client&)>> stages = {
      [](Client&) {},
      [](Client& client) { client.send("GET /a HT"); },
      [](Client& client) { client.send("PUT /config/x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe"); },
      [](Client& client) { client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n"); },
      [](Client& client) { client.get("/a"); },
      [](Client& client) {
        for (int i = 0; i < 6; ++i) client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
      },
      [](Client& client) {
        for (int i = 0; i < 6; ++i) client.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
        client.read(true);
      },
      [](Client& client) { client.get("/a", "Connection: close\r\n"); },
      [](Client& client) { client.ask("GET /a\r\n\r\n"); },
  };
  for (int round = 0; round < 20; ++round) {
    for (const auto& stage : stages) {
      Client client(server.port());
      stage(client);
      client.reset();
    }
  }
  EXPECT_TRUE(server.becomes_idle());
  EXPECT_EQ(server.get("/a").body, "A");
}

// A flood of header lines is refused when the limit is reached, not when it ends; the answer arrives.
TEST(Limits, floods_are_refused_early) {
  const TestServer server;
  struct Flood {
    std::string first;
    std::string then;
    int status;
  };
  const std::string put = "PUT /config/x HTTP/1.1\r\nHost: a\r\n";
  const std::vector<Flood> floods = {
      {"GET /", "aaaaaaaaaaaaaaaa", 414},
      {"", "GETGETGETGET", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\n", "A: b\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: ", "aaaaaaaaaaaaaaaa", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\n", "Long-Name: " + std::string(1000, 'x') + "\r\n", 431},
      {put + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", 413},
      {put + "Transfer-Encoding: chunked\r\n\r\n1;", "xxxxxxxxxx", 431},
      {put + "Transfer-Encoding: chunked\r\n\r\n0\r\n", "A: b\r\n", 431},
      {"", "\r\n", 400},
  };
  for (const Flood& flood : floods) {
    Client client(server.port());
    std::string text = flood.first;
    while (text.size() < 256 * 1024) text += flood.then;
    const Answer answer = client.ask(text);
    EXPECT_EQ(answer.status, flood.status) << flood.first << flood.then.substr(0, 20);
    EXPECT_EQ(answer.field("connection"), "close");
  }
  EXPECT_EQ(server.get("/a").body, "A");
}

}  // namespace
}  // namespace convoy
