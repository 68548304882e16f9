// full_cache_test.cc — Requests, and answers that have begun, that find no page in a full cache.
// SPDX-License-Identifier: MIT
//
// Goal: they wait their turn, and end whole or in time. Method: one worker, which the test holds up while it takes the
// pages that the answer has just let go; so the moment at which the cache is full does not depend on luck. Then many
// clients of a server whose cache is far too small.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <latch>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "server/docroot.h"
#include "server/event_loop.h"
#include "server/http_service.h"
#include "server/page_source.h"
#include "server/request_handler.h"
#include "tests/server/test_server.h"

namespace convoy {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kWindow = Outgoing::kWindowPages;
constexpr std::size_t kSize = 1 << 20;  // of each file, and of the cache: 256 pages in 64 folios, 4 windows

ConnectionLimits limits_of(milliseconds send) {
  ConnectionLimits limits;
  limits.send = send;
  return limits;
}

// The parts of a server that answer requests, and a client; the test may connect another.
class SmallServer {
 public:
  explicit SmallServer(milliseconds send_timeout) : loop_(pages_, limits_of(send_timeout)) {
    folder_.write("asked", std::string(kSize, 'a'));
    folder_.write("other", std::string(kSize, 'o'));
    folder_.write("small", "small");
    WorkerPool::Options options;
    options.workers = 1;
    options.run = [this](Job& job, std::uint32_t worker) {
      if (&job == &hold_up_) {
        held_up_.count_down();
        go_on_.wait();
      } else {
        service_.run(static_cast<Connection&>(job), worker, *pool_);
      }
    };
    pool_ = std::move(*WorkerPool::start(std::move(options)));
    loop_.set_pool(*pool_);
    thread_ = std::jthread([this] { loop_.run(); });
    client_ = connect();
  }
  ~SmallServer() {
    if (!go_on_.try_wait()) go_on_.count_down();
    ::close(client_);
    loop_.stop(milliseconds(100));
    thread_.join();
    pool_.reset();
  }

  // The client's end of a connection.
  int connect() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const int small = 16 * 1024;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    loop_.adopt(ends[0]);
    return ends[1];
  }

  // Asks for a file whose first window is sent and let go; the others are pinned by the test before the answer can go
  // on, so that it finds the cache full.
  void ask_and_take_the_pages() {
    pin(0, 3 * kWindow);
    ask("asked");
    while (pages_.report().pins < 4 * kWindow) std::this_thread::yield();
    pool_->submit(hold_up_);
    held_up_.wait();
    while (pages_.report().pins > 3 * kWindow) receive(milliseconds(20));
    pin(3 * kWindow, 4 * kWindow);
    go_on_.count_down();
  }
  void take_all_pages() { pin(0, 4 * kWindow); }
  void let_the_pages_go() { pages_.unpin(pinned_); }

  void ask(const std::string& file) { ask(client_, file); }
  void ask(int client, const std::string& file) {
    const std::string request = "GET /" + file + " HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_EQ(::send(client, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
  }

  // Receives what comes within the time; false at the end of the stream.
  bool receive(milliseconds wait) {
    pollfd readable{client_, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(wait.count())) == 0) return true;
    char bytes[4096];
    const ssize_t n = ::recv(client_, bytes, sizeof bytes, 0);
    if (n > 0) received_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  }
  const std::string& received() const { return received_; }
  std::string body() const { return received_.substr(received_.find("\r\n\r\n") + 4); }
  const TempFolder& folder() const { return folder_; }
  EventLoop& loop() { return loop_; }
  PageSource& pages() { return pages_; }

 private:
  void pin(std::uint64_t begin, std::uint64_t end) {
    if (!other_) other_ = docroot_->find("other", memo_).file;
    for (std::uint64_t index = begin; index < end; ++index) ASSERT_TRUE(pages_.map(*other_, index, pinned_)) << index;
  }

  TempFolder folder_;
  LockClasses classes_;
  PageSource pages_{classes_, {.folio_order = 2, .capacity = kSize, .access = Access::kMmap}};
  std::unique_ptr<Docroot> docroot_ = std::move(*Docroot::open(folder_.path()));
  Docroot::Memo memo_;
  std::shared_ptr<const OpenFile> other_;
  std::vector<PinnedPage> pinned_;
  const RequestHandler handler_{*docroot_, {}};
  Quiescence<RealWorld> regions_{1};
  HttpService service_{handler_, regions_};
  EventLoop loop_;
  std::unique_ptr<WorkerPool> pool_;
  std::jthread thread_;
  Job hold_up_;
  std::latch held_up_{1}, go_on_{1};
  int client_ = -1;
  std::string received_;
};

template <class Body>
void in_parallel(int count, Body body) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(body, i);
}

TEST(FullCache, an_answer_that_has_begun_waits_for_pages) {
  SmallServer server(milliseconds(60'000));
  server.ask_and_take_the_pages();
  const auto start = Clock::now();
  while (Clock::now() - start < milliseconds(200)) {
    ASSERT_TRUE(server.receive(milliseconds(20))) << "the connection ended";
  }
  EXPECT_LT(server.body().size(), kSize);
  server.let_the_pages_go();
  while (server.body().size() < kSize && Clock::now() - start < milliseconds(5'000)) {
    ASSERT_TRUE(server.receive(milliseconds(1000))) << server.body().size();
  }
  EXPECT_TRUE(server.body() == std::string(kSize, 'a'));
  EXPECT_LT(Clock::now() - start, milliseconds(3000)) << "called by who lets go, not found by the sweep";
  while (server.pages().report().pins > 0) std::this_thread::yield();
}

TEST(FullCache, the_wait_for_pages_ends_in_time) {
  SmallServer server(milliseconds(1000));
  server.ask_and_take_the_pages();
  const auto start = Clock::now();
  while (server.receive(milliseconds(20))) ASSERT_LT(Clock::now() - start, milliseconds(10'000));
  EXPECT_GT(Clock::now() - start, milliseconds(900));
  EXPECT_LT(server.body().size(), kSize);
  while (server.loop().connections() > 0) std::this_thread::yield();
  server.let_the_pages_go();
  EXPECT_EQ(server.pages().report().pins, 0u);
}

TEST(FullCache, a_server_that_stops_does_not_wait_for_pages) {
  SmallServer server(milliseconds(60'000));
  server.ask_and_take_the_pages();
  ASSERT_TRUE(server.receive(milliseconds(100)));
  server.loop().stop(milliseconds(300));
  const auto start = Clock::now();
  while (server.receive(milliseconds(20))) ASSERT_LT(Clock::now() - start, milliseconds(10'000));
  server.let_the_pages_go();
}

TEST(FullCache, a_request_waits_for_pages) {
  SmallServer server(milliseconds(60'000));
  server.take_all_pages();
  server.ask("asked");
  server.ask("small");  // behind it, on the same connection
  const auto start = Clock::now();
  while (Clock::now() - start < milliseconds(200)) {
    ASSERT_TRUE(server.receive(milliseconds(20))) << "the connection ended";
  }
  EXPECT_EQ(server.received(), "");
  server.let_the_pages_go();
  while (!server.received().ends_with("small") && Clock::now() - start < milliseconds(5'000)) {
    ASSERT_TRUE(server.receive(milliseconds(1000))) << server.received().size();
  }
  EXPECT_TRUE(server.body().starts_with(std::string(kSize, 'a') + "HTTP/1.1 200 ")) << server.body().size();
  EXPECT_LT(Clock::now() - start, milliseconds(3000)) << "called by who lets go, not found by the sweep";
  while (server.pages().report().pins > 0) std::this_thread::yield();
}

TEST(FullCache, a_request_is_refused_in_time) {
  SmallServer server(milliseconds(1000));
  server.take_all_pages();
  server.ask("asked");
  const auto start = Clock::now();
  const auto receive_until = [&server, start](std::string_view last) {
    while (server.received().find(last) == std::string::npos) {
      ASSERT_TRUE(server.receive(milliseconds(20))) << "the connection ended: " << server.received();
      ASSERT_LT(Clock::now() - start, milliseconds(10'000)) << server.received();
    }
  };
  receive_until("capacity");
  EXPECT_GT(Clock::now() - start, milliseconds(900));
  EXPECT_TRUE(server.received().starts_with("HTTP/1.1 503 ")) << server.received();
  EXPECT_NE(server.received().find("\r\nRetry-After: 1\r\n"), std::string::npos) << server.received();
  server.let_the_pages_go();
  server.ask("small");
  receive_until("\r\n\r\nsmall");
  EXPECT_NE(server.received().find("HTTP/1.1 200 "), std::string::npos) << server.received();
}

// The first in line ends for another reason when it is called, and has no pages to let go.
TEST(FullCache, a_turn_that_is_not_needed_is_passed_on) {
  SmallServer server(milliseconds(60'000));
  const auto start = Clock::now();
  server.ask_and_take_the_pages();
  std::filesystem::resize_file(server.folder() / "asked", 0);
  const int second = server.connect();
  server.ask(second, "small");
  pollfd readable{second, POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, 200), 0) << "it waits, behind the first";
  server.let_the_pages_go();
  EXPECT_EQ(::poll(&readable, 1, 5000), 1);
  EXPECT_LT(Clock::now() - start, milliseconds(3000)) << "called by the first, not found by the sweep";
  while (server.receive(milliseconds(20))) ASSERT_LT(Clock::now() - start, milliseconds(10'000));
  EXPECT_LT(server.body().size(), kSize);
  ::close(second);
}

// 20 answers of 16 folios each at a time, over a cache of 64.
TEST(FullCache, crowd_in_a_cache_that_is_far_too_small) {
  const TestServer server("capacity=1MiB workers=8");
  const std::string big = TestServer::big_file();
  in_parallel(20, [&server, &big](int) {
    for (int i = 0; i < 3; ++i) {
      const Answer answer = Client(server.port()).get("/big");
      ASSERT_EQ(answer.status, 200) << answer.head;
      ASSERT_TRUE(answer.body == big) << answer.body.size();
    }
  });
  EXPECT_TRUE(server.becomes_idle());
}

// As many workers as users, and fewer folios than either: each has a folio in hand most of the time, since a user asks
// for ten files at once.
TEST(FullCache, more_users_than_folios) {
  constexpr int kUsers = 100, kFiles = 512, kAtOnce = 10, kRounds = 20;
  const TestServer server("capacity=1MiB workers=100 awake=0");
  const auto content = [](int file) { return std::string(12 * 1024, static_cast<char>('a' + file % 26)); };
  for (int file = 0; file < kFiles; ++file) server.folder().write(fmt::format("{}", file), content(file));
  in_parallel(kUsers, [&](int user) {
    Client client(server.port());
    for (int round = 0; round < kRounds; ++round) {
      const auto file = [user, round](int i) { return (user * 5 + round * kAtOnce + i) % kFiles; };
      std::string requests;
      for (int i = 0; i < kAtOnce; ++i) requests += fmt::format("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", file(i));
      client.send(requests);
      for (int i = 0; i < kAtOnce; ++i) {
        const Answer answer = client.read();
        ASSERT_EQ(answer.status, 200) << answer.head << answer.body;
        ASSERT_TRUE(answer.body == content(file(i))) << file(i);
      }
    }
  });
  EXPECT_TRUE(server.becomes_idle());
}

}  // namespace
}  // namespace convoy
