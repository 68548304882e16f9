// source_address_test.cc — Goal: connections to this machine do not run out of local ports, or it is said that they do.
// Method: a network of its own with few local ports, which a closed connection holds for a minute.
// SPDX-License-Identifier: MIT
#include "loadgen/source_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <fstream>
#include <set>
#include <string>

#include "tests/loadgen/fake_server.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

using testing::FakeServer;
using ::testing::HasSubstr;
using testing::Program;

std::string peer_of(int fd) {
  sockaddr_in peer{};
  socklen_t size = sizeof peer;
  ::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size);
  char text[INET_ADDRSTRLEN] = "";
  ::inet_ntop(AF_INET, &peer.sin_addr, text, sizeof text);
  return text;
}

bool write_setting(const std::string& name, const std::string& value) {
  std::ofstream file("/proc/sys/net/ipv4/" + name);
  file << value << std::flush;
  return file.good();
}

// Runs `test` in a child process whose loopback network is its own, with `ports` local ports that a closed connection
// holds for a minute. The exit code of the child is that of `test`; 77 when the system allows no such network: the test
// is then skipped, for so few ports can be had in no other way, and the machine's own range is not ours to change.
int in_small_network(int ports, const std::function<int()>& test) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWNET) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) ::_exit(77);
    const int any = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq loopback{};
    std::snprintf(loopback.ifr_name, sizeof loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP;
    if (::ioctl(any, SIOCSIFFLAGS, &loopback) != 0) ::_exit(77);
    if (!write_setting("ip_local_port_range", "40000 " + std::to_string(40000 + ports - 1))) ::_exit(77);
    if (!write_setting("tcp_tw_reuse", "0")) ::_exit(77);
    ::_exit(test());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

TEST(SourceAddress, only_ipv4_loopback_is_spread) {
  const auto spreads = [](const char* host) {
    Url url;
    url.host = host;
    url.port = 80;
    return SourceAddresses(*resolve(url), 0).spread();
  };
  EXPECT_TRUE(spreads("127.0.0.1"));
  EXPECT_TRUE(spreads("127.3.2.1"));
  EXPECT_FALSE(spreads("::1"));
  EXPECT_FALSE(spreads("192.0.2.1"));
  EXPECT_FALSE(spreads("::ffff:127.0.0.1"));
}

TEST(SourceAddress, connections_come_from_254_addresses_in_turn) {
  std::mutex mutex;
  std::multiset<std::string> peers;
  FakeServer server([&](const testing::FakeRequest& request) {
    const std::lock_guard lock(mutex);
    peers.insert(peer_of(request.fd));
    testing::send_text(request.fd, testing::answer_text(200, "x", "Connection: close\r\n"));
    return false;
  });
  const auto end = testing::loadgen({"http", server.url(), "-c", "4", "-n", "508", "--connection", "close"});
  EXPECT_EQ(end.code, 0) << end.err;
  server.stop();  // its threads write to `peers`
  const std::set<std::string> different(peers.begin(), peers.end());
  EXPECT_EQ(different.size(), 254u);
  for (const auto& peer : different) EXPECT_EQ(peers.count(peer), 2u) << peer;
}

// Row L8. 20 ports for 2,000 requests: from one address every hundredth would be answered.
TEST(SourceAddress, few_ports_suffice_for_many_connections) {
  const int code = in_small_network(20, [] {
    FakeServer server(testing::well_behaved());
    const auto end = testing::loadgen({"http", server.url(), "-c", "20", "-n", "2000", "--connection", "close"});
    if (end.code == 0 && server.requests() == 2000) return 0;
    std::fprintf(stderr, "exit %d, %llu requests\n%s", end.code, static_cast<unsigned long long>(server.requests()),
                 end.err.c_str());
    return 1;
  });
  if (code == 77) GTEST_SKIP() << "this system allows no network namespace";  // whose ports are the test's own
  EXPECT_EQ(code, 0);
}

// Row L8. 5 ports are 1,270 pairs: the rest is counted in its own class, and the hint says what helps.
TEST(SourceAddress, exhaustion_is_a_class_of_its_own_with_a_hint) {
  const int code = in_small_network(5, [] {
    FakeServer server(testing::well_behaved());
    const auto end = testing::loadgen(
        {"http", server.url(), "-c", "20", "-n", "1500", "--connection", "close", "--json", "-", "--quiet"});
    const bool counted = end.out.find("\"address_exhausted\": ") != std::string::npos;
    const bool other = end.out.find("\"connect_refused\": ") != std::string::npos ||
                       end.out.find("\"reset\": ") != std::string::npos ||
                       end.out.find("\"timeout\": ") != std::string::npos;
    const bool hint = end.err.find("--connection keep-alive") != std::string::npos &&
                      end.err.find("ip_local_port_range") != std::string::npos;
    if (end.code == 1 && counted && !other && hint) return 0;
    std::fprintf(stderr, "exit %d\n%s%s", end.code, end.out.substr(0, 4000).c_str(), end.err.c_str());
    return 1;
  });
  if (code == 77) GTEST_SKIP() << "this system allows no network namespace";  // whose ports are the test's own
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace convoy
