// crowd_test.cc — Goal: a crowd costs little while it is idle, and a rush is not turned away.
// Method: the program itself, for its memory and its backlog; as many clients as descriptors allow, at most 10,000.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/loadgen/program.h"
#include "tests/server/test_server.h"

namespace convoy {
namespace {

using testing::Program;

// Descriptors that this test may use for clients: the hard limit, less what else is open.
std::size_t raise_descriptor_limit(std::size_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  // The server keeps a part of its own limit for files.
  return std::min<std::size_t>(wanted, limit.rlim_cur - 200);
}

class RunningServer {
 public:
  explicit RunningServer(const std::string& docroot)
      : program_({(testing::build_folder() / "convoy-server").string(), "--http", "127.0.0.1:0", "--workers", "8",
                  "--docroot", docroot}) {
    EXPECT_TRUE(program_.wait_for_error_text("docroot="));
    port_ = static_cast<std::uint16_t>(std::stoi(program_.error_text_after("http=127.0.0.1:")));
  }
  std::uint16_t port() const { return port_; }
  pid_t pid() const { return program_.pid(); }

  // Memory of the process that is in use, in bytes.
  std::uint64_t resident() const {
    std::ifstream status("/proc/" + std::to_string(pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
      if (line.rfind("VmRSS:", 0) == 0) return std::strtoull(line.c_str() + 6, nullptr, 10) * 1024;
    }
    ADD_FAILURE() << "no VmRSS";
    return 0;
  }

 private:
  Program program_;
  std::uint16_t port_ = 0;
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kMostBytesEach = 256 * 1024;  // freed memory is kept, and all of it has shadows
#else
constexpr std::uint64_t kMostBytesEach = 8 * 1024;
#endif

// Opens clients that each do `before`, and holds what the server grew by against a bound each.
void expect_small(const std::string& what, const std::vector<std::string>& requests) {
  const TempFolder folder;
  folder.write("a", "A");
  const std::size_t count = raise_descriptor_limit(10'000);
  ASSERT_GE(count, 500u) << "too few descriptors to measure anything: ulimit -Hn";
  const RunningServer server(folder.path());
  const auto talk = [&requests](Client& client) {
    for (const std::string& request : requests) EXPECT_GT(client.ask(request).status, 0);
  };
  // What the first ones cost in threads' heaps is not theirs.
  for (int i = 0; i < 100; ++i) {
    Client client(server.port());
    talk(client);
  }
  const std::uint64_t before = server.resident();
  std::vector<std::unique_ptr<Client>> clients;
  for (std::size_t i = 0; i < count; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    talk(*clients.back());
  }
  const std::uint64_t grown = server.resident() - before;
  ::testing::Test::RecordProperty("bytes_each", std::to_string(grown / count));
  std::printf("%zu idle connections, %s: %llu bytes each\n", count, what.c_str(),
              static_cast<unsigned long long>(grown / count));
  EXPECT_LT(grown / count, kMostBytesEach) << what;
  EXPECT_EQ(clients.back()->get("/a").body, "A") << "and they are served";
}

TEST(Crowd, silent_connections_are_small) { expect_small("silent", {}); }

TEST(Crowd, idle_connections_are_small) {
  expect_small("after a GET", {"GET /a HTTP/1.1\r\nHost: a\r\nUser-Agent: test\r\nAccept: */*\r\n\r\n"});
}

// The longest that the parser takes, and the longest that is answered from memory.
TEST(Crowd, idle_connections_are_small_whatever_came_before) {
  const std::string put = "PUT /config/none HTTP/1.1\r\nHost: a\r\n";
  expect_small("after the longest requests",
               {"GET /" + std::string(8000, 'a') + " HTTP/1.1\r\nHost: a\r\nX: " + std::string(15000, 'x') + "\r\n\r\n",
                put + "Content-Length: 65536\r\n\r\n" + std::string(65536, 'x'),
                put + "Transfer-Encoding: chunked\r\n\r\nffff\r\n" + std::string(65535, 'x') + "\r\n0\r\n\r\n",
                "GET /config HTTP/1.1\r\nHost: a\r\n\r\n"});
}

// S3: the kernel completes the handshakes of a rush while the server does not even run; with the usual backlog of 128
// the others would retry their SYN after 1 s, 3 s, 7 s.
TEST(Crowd, a_rush_stands_in_the_backlog) {
  std::size_t allowed = 0;
  std::ifstream("/proc/sys/net/core/somaxconn") >> allowed;
  ASSERT_GE(allowed, 1024u) << "net.core.somaxconn of this machine is below what Linux has had since 5.4";
  const std::size_t rush = std::min<std::size_t>(2000, raise_descriptor_limit(2000));
  const TempFolder folder;
  folder.write("a", "A");
  const RunningServer server(folder.path());
  EXPECT_EQ(Client(server.port()).get("/a").body, "A");
  ASSERT_EQ(::kill(server.pid(), SIGSTOP), 0);
  const auto start = std::chrono::steady_clock::now();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server.port());
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::vector<int> clients;
  for (std::size_t i = 0; i < std::min(rush, allowed - 24); ++i) {
    clients.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    ::connect(clients.back(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  std::size_t connected = 0;
  for (const int fd : clients) {
    pollfd writable{fd, POLLOUT, 0};
    const auto passed = std::chrono::steady_clock::now() - start;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::milliseconds(950) - passed);
    if (::poll(&writable, 1, std::max(0, static_cast<int>(left.count()))) == 1) ++connected;
  }
  EXPECT_EQ(connected, clients.size()) << "connections that stood before the first SYN would have been sent again";
  ASSERT_EQ(::kill(server.pid(), SIGCONT), 0);
  const std::string request = "GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  std::size_t answered = 0;
  for (const int fd : clients) (void)!::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
  for (const int fd : clients) {
    pollfd readable{fd, POLLIN, 0};
    char answer[512];
    if (::poll(&readable, 1, 20'000) == 1 && ::recv(fd, answer, sizeof answer, 0) > 0) {
      answered += std::string_view(answer, 15) == "HTTP/1.1 200 OK" ? 1 : 0;
    }
    ::close(fd);
  }
  EXPECT_EQ(answered, clients.size());
}

}  // namespace
}  // namespace convoy
