// control_test.cc — Goal: the control pages say what is, change what may change, and refuse the rest in words.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "common/lock_report.h"
#include "tests/server/test_server.h"

namespace convoy {
namespace {

Answer put(const TestServer& server, const std::string& name, const std::string& value) {
  Client client(server.port());
  return client.ask("PUT /config/" + name + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(value.size()) +
                    "\r\n\r\n" + value);
}

TEST(Control, locks_are_a_lock_report) {
  const TestServer server;
  server.get("/a");
  const auto report = parse_lock_report(server.get("/locks").body);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->server.name, "convoy-server");
  EXPECT_EQ(report->transactions, 1u);
  EXPECT_EQ(report->config.at("page-lock"), "bounded");
  EXPECT_EQ(report->config.at("workers"), "16");
  EXPECT_EQ(report->classes.at("page").policy, "bounded");
}

TEST(Control, status_in_apaches_words) {
  const TestServer server;
  server.get("/hot.bin");
  server.get("/none");
  server.get("/config");
  const std::string status = server.get("/server-status?auto").body;
  EXPECT_NE(status.find("\nServerVersion: Convoy/0.1.0 (Unix)\n"), std::string::npos) << status;
  EXPECT_NE(status.find("\nTotal Accesses: 2\n"), std::string::npos) << status;
  EXPECT_NE(status.find("\nTotal kBytes: 12\n"), std::string::npos) << status;
  // Whoever answers is busy; a worker of an earlier request may just be falling asleep.
  const auto number = [&status](const std::string& key) {
    return std::stoi(status.substr(status.find(key) + key.size()));
  };
  EXPECT_GE(number("\nBusyWorkers: "), 1);
  EXPECT_EQ(number("\nBusyWorkers: ") + number("\nIdleWorkers: "), 16);
  EXPECT_EQ(status.find("nan"), std::string::npos);
  EXPECT_EQ(status.find("inf"), std::string::npos);
  EXPECT_EQ(server.get("/server-status").field("content-type"), "text/html; charset=utf-8");
}

TEST(Control, live_change) {
  const TestServer server;
  const Answer answer = put(server, "page-lock-unfairness", "1000\n");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const auto state = nlohmann::json::parse(answer.body);
  EXPECT_EQ(state["name"], "page-lock-unfairness");
  EXPECT_EQ(state["from"], "5");
  EXPECT_EQ(state["to"], "1000");
  EXPECT_LE(state["asked_s"].get<double>(), state["drained_s"].get<double>());
  EXPECT_LE(state["drained_s"].get<double>(), state["done_s"].get<double>());
  const auto shown = nlohmann::json::parse(server.get("/config/unfairness").body);
  EXPECT_EQ(shown["value"], "1000") << "also by its alias";
  const auto all = nlohmann::json::parse(server.get("/config").body);
  EXPECT_EQ(all["page-lock-unfairness"]["value"], "1000");
  EXPECT_EQ(all["workers"]["live"], false);
  EXPECT_EQ(server.accesses(), 0u) << "control pages are not counted";
}

TEST(Control, the_page_policy_changes_while_it_serves) {
  const TestServer server;
  EXPECT_EQ(server.get("/hot.bin").status, 200);
  for (const std::string policy : {"ticket", "handoff", "ttas", "barging", "bounded"}) {
    const Answer answer = put(server, "page-lock", policy);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const auto mark = nlohmann::json::parse(answer.body);
    EXPECT_EQ(mark["to"], policy);
    EXPECT_LE(mark["asked_s"].get<double>(), mark["drained_s"].get<double>());
    EXPECT_LE(mark["drained_s"].get<double>(), mark["done_s"].get<double>());
    const auto report = parse_lock_report(server.get("/locks").body);
    EXPECT_EQ(report->classes.at("page").policy, policy);
    EXPECT_EQ(report->config.at("page-lock"), policy);
    EXPECT_EQ(server.get("/hot.bin").status, 200) << policy;
  }
  EXPECT_EQ(put(server, "page-lock", "bounded").status, 200) << "the one it has";
  EXPECT_EQ(put(server, "page-lock", "std-mutex").status, 400);
  EXPECT_EQ(put(server, "mapping-lock", "ticket").status, 409);
}

// Two connections that ask at once, again and again, while others are served.
TEST(Control, swaps_asked_for_at_once_all_end) {
  const TestServer server;
  std::vector<std::jthread> threads;
  for (const std::string policy : {"ticket", "handoff"}) {
    threads.emplace_back([&server, policy] {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(put(server, "page-lock", i % 2 == 0 ? policy : "bounded").status, 200);
    });
  }
  for (int user = 0; user < 4; ++user) {
    threads.emplace_back([&server] {
      Client client(server.port());
      for (int i = 0; i < 500; ++i) EXPECT_EQ(client.get("/hot.bin").body.size(), 12288u);
    });
  }
}

// A request that stays in its region for a while: it waits for a file to settle that is written all the time.
TEST(Control, a_swap_that_is_given_up_changes_nothing) {
  const TestServer server("swap-timeout=1ms");
  server.folder().write("busy", "");
  std::atomic<bool> over{false};
  std::jthread writer([&] {
    for (int i = 0; !over; ++i) {
      server.folder().write("busy", std::string(static_cast<std::size_t>(i % 100), 'x'));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  std::jthread reader([&] {
    while (!over) server.get("/busy");
  });
  Answer answer;
  for (int i = 0; i < 1000 && answer.status != 503; ++i)
    answer = put(server, "page-lock", i % 2 == 0 ? "mcs" : "ticket");
  const std::string value = nlohmann::json::parse(server.get("/config/page-lock").body)["value"];
  over = true;
  EXPECT_EQ(answer.status, 503);
  const std::string said = "page-lock stays " + value + ": after swap-timeout, 1ms, still inside a request: worker ";
  EXPECT_NE(answer.body.find(said), std::string::npos) << answer.body;
  EXPECT_EQ(parse_lock_report(server.get("/locks").body)->classes.at("page").policy, value);
}

TEST(Control, changes_that_are_refused) {
  const TestServer server;
  const Answer unknown = put(server, "page-lock-unfairnes", "1");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_NE(unknown.body.find("page-lock-unfairness"), std::string::npos) << unknown.body;
  EXPECT_EQ(server.get("/config/none").status, 404);
  EXPECT_EQ(put(server, "workers", "5").status, 409);
  EXPECT_EQ(put(server, "mapping-lock-waiting-bit", "1").status, 409) << "it decides what the word of a lock means";
  for (const std::string value : {"1001", "-1", "", "1e3", "0x10", " 1", "\xF0\x9F\x9A\x9A"}) {
    const Answer bad = put(server, "page-lock-unfairness", value);
    EXPECT_EQ(bad.status, 400) << value;
    EXPECT_NE(bad.body.find("page-lock-unfairness"), std::string::npos) << bad.body;
  }
  EXPECT_LT(put(server, "page-lock-unfairness", std::string(4096, '9')).body.size(), 1000u);
  Client client(server.port());
  const Answer post = client.ask("POST /config/workers HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n5");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(post.field("allow"), "GET, HEAD, PUT");
  EXPECT_EQ(client.ask("PUT /locks HTTP/1.1\r\nHost: a\r\n\r\n").status, 405);
  EXPECT_EQ(nlohmann::json::parse(client.get("/config/page-lock-unfairness").body)["value"], "5") << "nothing changed";
}

// A knob that the policy does not have waits for one that has it; where the policy stays, it would wait for ever.
TEST(Control, knobs_that_the_policy_does_not_have) {
  const TestServer server("page-lock=handoff");
  const Answer waits = put(server, "page-lock-unfairness", "7");
  ASSERT_EQ(waits.status, 200) << waits.body;
  const auto mark = nlohmann::json::parse(waits.body);
  EXPECT_EQ(mark["to"], "7");
  EXPECT_EQ(mark["note"], "no effect yet: page-lock handoff has no knob unfairness; policies that have it: bounded");
  EXPECT_EQ(put(server, "page-lock", "bounded").status, 200);
  EXPECT_EQ(parse_lock_report(server.get("/locks").body)->classes.at("page").knobs.at("unfairness"), 7u);
  EXPECT_FALSE(nlohmann::json::parse(put(server, "page-lock-unfairness", "8").body).contains("note"));
  const Answer never = put(server, "mapping-lock-spin", "7");
  EXPECT_EQ(never.status, 409);
  EXPECT_NE(never.body.find("mapping-lock-spin: '7' has no effect: mapping-lock std-shared-mutex has no knob spin"),
            std::string::npos)
      << never.body;
}

TEST(Control, body_in_chunks_and_after_continue) {
  const TestServer server;
  Client client(server.port());
  client.send(
      "PUT /config/page-lock-unfairness HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(client.read().status, 100);
  EXPECT_EQ(client.ask("1\r\n7\r\n0\r\n\r\n").status, 200);
  EXPECT_EQ(nlohmann::json::parse(client.get("/config/unfairness").body)["value"], "7");
}

}  // namespace
}  // namespace convoy
