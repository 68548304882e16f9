// full_cache_test.cc — Answers that have begun and find no page in a full cache.
// SPDX-License-Identifier: MIT
//
// Goal: such an answer waits its turn, and ends whole or in time. Method: one worker, which the test holds up while it
// takes the pages that the answer has just let go; so the moment at which the cache is full does not depend on luck.
// Then many answers over a server whose cache is far too small.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <latch>
#include <memory>
#include <string>
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

// The parts of a server that answer requests, and one client.
class SmallServer {
 public:
  explicit SmallServer(milliseconds send_timeout) : loop_(pages_, limits_of(send_timeout)) {
    folder_.write("asked", std::string(kSize, 'a'));
    folder_.write("other", std::string(kSize, 'o'));
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
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const int small = 16 * 1024;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof small);
    client_ = ends[1];
    loop_.adopt(ends[0]);
  }
  ~SmallServer() {
    if (!go_on_.try_wait()) go_on_.count_down();
    ::close(client_);
    loop_.stop(milliseconds(100));
    thread_.join();
    pool_.reset();
  }

  // Asks for a file whose first window is sent and let go; the others are pinned by the test before the answer can go
  // on, so that it finds the cache full.
  void ask_and_take_the_pages() {
    other_ = docroot_->find("other", memo_).file;
    pin(0, 3 * kWindow);
    const std::string request = "GET /asked HTTP/1.1\r\nHost: a\r\n\r\n";
    ASSERT_EQ(::send(client_, request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    while (pages_.report().pins < 4 * kWindow) std::this_thread::yield();
    pool_->submit(hold_up_);
    held_up_.wait();
    while (pages_.report().pins > 3 * kWindow) receive(milliseconds(20));
    pin(3 * kWindow, 4 * kWindow);
    go_on_.count_down();
  }
  void let_the_pages_go() { pages_.unpin(pinned_); }

  // Receives what comes within the time; false at the end of the stream.
  bool receive(milliseconds wait) {
    pollfd readable{client_, POLLIN, 0};
    if (::poll(&readable, 1, static_cast<int>(wait.count())) == 0) return true;
    char bytes[4096];
    const ssize_t n = ::recv(client_, bytes, sizeof bytes, 0);
    if (n > 0) received_.append(bytes, static_cast<std::size_t>(n));
    return n > 0;
  }
  std::string body() const { return received_.substr(received_.find("\r\n\r\n") + 4); }
  EventLoop& loop() { return loop_; }
  PageSource& pages() { return pages_; }

 private:
  void pin(std::uint64_t begin, std::uint64_t end) {
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

// 20 answers of 16 folios each at a time, over a cache of 64: whoever was told 200 gets all of it.
TEST(FullCache, crowd_in_a_cache_that_is_far_too_small) {
  const TestServer server("capacity=1MiB workers=8");
  const std::string big = TestServer::big_file();
  constexpr int kClients = 20;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&server, &big] {
      for (int whole = 0, tries = 0; whole < 3 && tries < 3000; ++tries) {
        const Answer answer = Client(server.port()).get("/big");
        if (answer.status == 503) {
          std::this_thread::sleep_for(milliseconds(5));
          continue;
        }
        ASSERT_EQ(answer.status, 200);
        ASSERT_TRUE(answer.body == big) << answer.body.size();
        ++whole;
      }
    });
  }
  threads.clear();
  EXPECT_TRUE(server.becomes_idle());
}

}  // namespace
}  // namespace convoy
