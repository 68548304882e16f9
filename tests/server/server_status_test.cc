// server_status_test.cc — Goal: the page that exporters for Apache read is well formed, however young the server is.
// SPDX-License-Identifier: MIT
#include "server/server_status.h"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace convoy {
namespace {

using testing::ContainsRegex;
using testing::MatchesRegex;
using testing::Not;

ServerNumbers numbers_of(std::uint64_t requests, std::uint64_t bytes, std::vector<bool> idle) {
  ServerNumbers numbers;
  numbers.requests = requests;
  numbers.bytes = bytes;
  numbers.address = "127.0.0.1:8080";
  numbers.workers.idle = std::move(idle);
  return numbers;
}

// Each line but the first is "Key: value", and no value is infinite or no number.
void expect_well_formed(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "127.0.0.1:8080");
  while (std::getline(lines, line)) {
    EXPECT_THAT(line, MatchesRegex("[A-Za-z ]+: .*"));
    EXPECT_THAT(line, Not(ContainsRegex(": -?([Nn][Aa][Nn]|[Ii][Nn][Ff])")));
  }
}

// O6: nothing is divided by 0; as httpd does, the ratios are left out.
TEST(ServerStatus, of_a_server_that_has_just_started) {
  for (const double uptime : {0.0, 0.999}) {
    const std::string text = server_status_text(numbers_of(0, 0, {}), uptime, ProcessCpu{});
    expect_well_formed(text);
    EXPECT_NE(text.find("\nServerUptimeSeconds: 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nTotal Accesses: 0\n"), std::string::npos) << text;
    EXPECT_NE(text.find("\nBusyWorkers: 0\nIdleWorkers: 0\n"), std::string::npos) << text;
    for (const auto key : {"ReqPerSec", "BytesPerSec", "BytesPerReq", "CPULoad"}) {
      EXPECT_EQ(text.find(key), std::string::npos) << text;
    }
  }
  // Requests before the first second is over.
  const std::string early = server_status_text(numbers_of(3, 300, {true}), 0.5, ProcessCpu{});
  EXPECT_NE(early.find("\nBytesPerReq: 100\n"), std::string::npos) << early;
  EXPECT_EQ(early.find("ReqPerSec"), std::string::npos) << early;
}

TEST(ServerStatus, of_a_server_that_runs) {
  ServerNumbers numbers = numbers_of(200, 409600, {true, false, true});
  numbers.connections = 7;
  numbers.accept_errors = 4;
  const std::string text = server_status_text(numbers, 100.5, ProcessCpu{});
  expect_well_formed(text);
  EXPECT_THAT(text, ContainsRegex("\nServerVersion: Convoy/[0-9]+\\.[0-9]+\\.[0-9]+ \\([A-Za-z]+\\)\n"));
  for (const auto line : {"\nTotal Accesses: 200\n", "\nTotal kBytes: 400\n", "\nReqPerSec: 2\n",
                          "\nBytesPerSec: 4096\n", "\nBytesPerReq: 2048\n", "\nBusyWorkers: 1\nIdleWorkers: 2\n",
                          "\nConnsTotal: 7\n", "\nAcceptErrors: 4\n", "\nScoreboard: _W_\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(ServerStatus, of_a_server_that_has_run_for_ever) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  expect_well_formed(server_status_text(numbers_of(kMost, kMost, {true}), 1e12, ProcessCpu{}));
}

}  // namespace
}  // namespace convoy
