// http_runner_test.cc — Runs as rows of a result.
// SPDX-License-Identifier: MIT
//
// Whose policy, marks, what is null, and what check_result holds against it.
#include "loadgen/http_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <nlohmann/json.hpp>

#include "common/lock_report.h"
#include "loadgen/clock.h"
#include "loadgen/http_result.h"
#include "loadgen/http_summary.h"
#include "tests/loadgen/fake_server.h"

namespace convoy {
namespace {

using testing::answer_text;
using ::testing::ElementsAre;
using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using testing::send_text;
using testing::well_behaved;

constexpr std::int64_t kMs = kNanosPerMilli;

// A server that reports 3 acquisitions and 2 slow ones a request, and takes settings.
class FakeConvoy {
 public:
  std::string url(const std::string& path) const { return server_.url(path); }
  const FakeServer& server() const { return server_; }
  std::string value() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  LockReport report() const {
    LockReport report;
    report.server.version = "1.2.3";
    report.uptime_s = seconds(now_ns());
    report.transactions = 1000 + server_.requests();
    report.cpu = {10 + static_cast<double>(server_.requests()), 5, 7};
    report.config["page-lock"] = "bounded";
    LockClassReport page;
    page.policy = "bounded";
    page.knobs["unfairness"] = 5;
    page.acquisitions = 3 * server_.requests() + 50;
    page.events["page_lock_slow"] = 2 * server_.requests() + 9;
    report.classes["page"] = page;
    report.convoy = ConvoySlices{server_.requests(), server_.requests() / 2};
    return report;
  }

  bool control(const FakeRequest& request) {
    if (request.method == "GET") {
      send_text(request.fd, answer_text(200, lock_report_text(report())));
    } else if (request.path != "/config/page-lock-unfairness") {
      send_text(request.fd, answer_text(404, "page-lock is not allowed; one of page-lock-unfairness\n"));
    } else {
      const std::lock_guard lock(mutex_);
      const Json answer = {{"name", "page-lock-unfairness"},
                           {"from", value_},
                           {"to", request.body},
                           {"asked_s", 100.0},
                           {"drained_s", 100.25},
                           {"done_s", 100.5}};
      value_ = request.body;
      send_text(request.fd, answer_text(200, answer.dump()));
    }
    return false;
  }

  mutable std::mutex mutex_;
  std::string value_ = "5";
  FakeServer server_{well_behaved(), [this](const FakeRequest& request) { return control(request); }};
};

class HttpRunnerTest : public ::testing::Test {
 protected:
  HttpRunReport run(const std::string& url, HttpRunOrder order) {
    target_ = *make_target({url, "", {}, {}, true});
    target_.address = *resolve(target_.origin);
    HttpRunner runner(target_, std::nullopt, progress_);
    EXPECT_TRUE(runner.meet_server());
    server_ = runner.server();
    auto report = runner.run(std::move(order));
    EXPECT_TRUE(report) << report.error().message;
    ResultFile file;
    file.runs.push_back(report->run);
    const auto checked = check_result(file);
    EXPECT_TRUE(checked) << checked.error().message;
    const auto again = from_json(to_json(file));
    EXPECT_TRUE(again) << again.error().message;
    return std::move(*report);
  }

  static HttpRunOrder order(std::uint32_t users, std::int64_t duration_ns, std::uint64_t requests = 0) {
    HttpRunOrder order;
    order.load.users = users;
    order.load.duration_ns = duration_ns;
    order.load.requests = requests;
    order.load.timeout_ns = kNanosPerSecond;
    order.label = "l";
    return order;
  }

  Target target_;
  Progress progress_{true, 1};
  std::optional<ServerInfo> server_;
};

TEST_F(HttpRunnerTest, any_other_server_has_no_policy) {
  FakeServer server(well_behaved());
  const auto report = run(server.url("/x"), order(3, 0, 100));
  EXPECT_FALSE(server_);
  EXPECT_FALSE(report.run.policy);
  EXPECT_FALSE(report.run.knobs);
  EXPECT_FALSE(report.run.lock_events);
  EXPECT_FALSE(report.run.cpu.server_user_s);
  EXPECT_FALSE(report.run.acquisitions_per_transaction);
  EXPECT_EQ(server.requests(), 100U);
  EXPECT_EQ(report.run.target, "/x");
  EXPECT_EQ(report.run.transactions, 100U);
  EXPECT_THAT(report.run.status, ElementsAre(std::make_pair("200", 100U)));
  EXPECT_EQ(report.run.connections.served, 3U);
}

TEST_F(HttpRunnerTest, a_convoy_server_says_whose_policy_it_is) {
  FakeConvoy convoy;
  auto wanted = order(4, 200 * kMs);
  wanted.load.warmup_ns = 100 * kMs;
  const auto report = run(convoy.url("/"), wanted);
  ASSERT_TRUE(server_);
  EXPECT_EQ(server_->version, "1.2.3");
  EXPECT_EQ((*report.run.policy).at("page"), "bounded");
  EXPECT_EQ((*report.run.knobs).at("page-lock-unfairness"), 5U);
  // Differences over warm-up, window and drain, exactly: the server was at rest before and after.
  const auto requests = report.run.server_requests.value();
  EXPECT_GT(requests, report.run.started);
  EXPECT_EQ((*report.run.lock_events).at("page").at("page_lock_slow"), 2 * requests);
  EXPECT_DOUBLE_EQ(report.run.acquisitions_per_transaction.value(), 3.0);
  EXPECT_DOUBLE_EQ(report.run.cpu.server_user_s.value(), static_cast<double>(requests));
  EXPECT_DOUBLE_EQ(report.run.cpu.server_sys_s.value(), 0.0);
  EXPECT_NEAR(report.run.convoy.stood_share.value(), 0.5, 0.01);
}

TEST_F(HttpRunnerTest, marks) {
  FakeConvoy convoy;
  auto wanted = order(2, 400 * kMs);
  wanted.marks = {*parse_mark("200ms:page-lock-unfairness=0"), *parse_mark("100ms:page-lock-unfairness=1000")};
  const auto report = run(convoy.url("/"), wanted);
  EXPECT_FALSE(report.marks_failed);
  ASSERT_EQ(report.run.marks.size(), 2U);
  const Mark& first = report.run.marks[0];
  EXPECT_EQ(first.name, "page-lock-unfairness");
  EXPECT_EQ(first.from, "5");
  EXPECT_EQ(first.to, "1000");
  EXPECT_GE(first.asked_s, 0.1);
  EXPECT_LT(first.asked_s, 0.2);
  EXPECT_NEAR(first.drained_s.value() - first.asked_s, 0.25, 1e-9);
  EXPECT_NEAR(first.done_s.value() - first.asked_s, 0.5, 1e-9);
  EXPECT_EQ(report.run.marks[1].from, "1000");
  EXPECT_EQ(convoy.value(), "0");
}

TEST_F(HttpRunnerTest, a_failed_mark_shows) {
  FakeConvoy convoy;
  auto wanted = order(2, 200 * kMs);
  wanted.marks = {*parse_mark("10ms:page-lock=ticket")};
  const auto report = run(convoy.url("/"), wanted);
  EXPECT_TRUE(report.marks_failed);
  EXPECT_TRUE(report.run.marks.empty());
}

TEST(HttpMarks, an_interrupt_does_not_wait_for_an_answer) {
  FakeServer server(well_behaved(), [](const FakeRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    return false;
  });
  const auto target = *make_target({server.url("/"), "", {}, {}, true});
  const auto address = *resolve(target.origin);
  MarkPlayer marks(target.origin, address, {*parse_mark("0s:page-lock-unfairness=0")});
  const auto start = now_ns();
  marks.start(start);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  marks.finish(true);
  EXPECT_LT(now_ns() - start, 1000 * kMs);
}

TEST(HttpMarks, parse) {
  const auto mark = parse_mark("1500ms:page-lock=std-mutex");
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->at_ns, 1500 * kMs);
  EXPECT_EQ(mark->name, "page-lock");
  EXPECT_EQ(mark->value, "std-mutex");
  EXPECT_EQ(parse_mark("8:a=b=c")->value, "b=c");
  for (const char* text :
       {"", "8s", "8s:", "8s:a", "8s:a=", ":a=b", "x:a=b", "8s:=b", "8s:a/b=c", "-1s:a=b", "8s:a b=c"}) {
    EXPECT_FALSE(parse_mark(text)) << text;
  }
}

// Row O1: a run of no length has nulls, not NaN.
TEST(HttpResult, nothing_measured) {
  Target target;
  target.name = "/";
  HttpLoad load;
  load.target = &target;
  load.users = 3;
  HttpOutcome outcome;
  outcome.tally.per_user = {0, 0, 0};
  ResultFile file;
  file.runs.emplace_back();
  describe_outcome(load, outcome, file.runs[0]);
  EXPECT_TRUE(check_result(file));
  EXPECT_FALSE(file.runs[0].transactions_per_second);
  EXPECT_FALSE(file.runs[0].latency_us.mean);
  EXPECT_FALSE(file.runs[0].per_user.jain);
  const auto text = result_text(file) + siege_summary(file.runs) + level_table(file.runs);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf\n"), std::string::npos);
}

TEST(HttpResult, a_generator_at_its_limit_says_so) {
  Target target;
  HttpLoad load;
  load.target = &target;
  HttpOutcome outcome;
  outcome.tally.busiest_thread = 0.94;
  convoy::Run run;
  describe_outcome(load, outcome, run);
  EXPECT_FALSE(run.generator_bound);
  outcome.tally.busiest_thread = 0.96;
  describe_outcome(load, outcome, run);
  EXPECT_TRUE(run.generator_bound);
}

// 24 s are 24 entries, whatever happened in them.
TEST(HttpResult, timeline) {
  Target target;
  HttpLoad load;
  load.target = &target;
  HttpOutcome outcome;
  outcome.window_ns = 24 * kNanosPerSecond;
  outcome.tally.timeline.resize(24);
  convoy::Run run;
  describe_outcome(load, outcome, run);
  ASSERT_EQ(run.timeline.size(), 24U);
  EXPECT_DOUBLE_EQ(run.timeline.front().t_s, 1.0);
  EXPECT_DOUBLE_EQ(run.timeline.back().t_s, 24.0);
}

TEST(HttpSummary, siege_lines_in_order) {
  convoy::Run run;
  run.users = 2;
  run.duration_s = 2;
  run.transactions = 100;
  run.started = 104;
  run.errors = {{"http_4xx", 1}, {"reset", 3}};
  run.status = {{"200", 100}, {"404", 1}};
  run.bytes = 2 * 1024 * 1024;
  run.latency_us.min = 10000;
  run.latency_us.mean = 20000;
  run.latency_us.max = 50000;
  const auto text = siege_summary({run});
  std::size_t at = 0;
  for (const char* line :
       {"Transactions:                       100 hits\n", "Availability:                     97.12 %\n",
        "Elapsed time:                      2.00 secs\n", "Data transferred:                  2.00 MB\n",
        "Response time:                 0.020000 secs\n", "Transaction rate:                 50.00 trans/sec\n",
        "Throughput:                        1.00 MB/sec\n", "Concurrency:                       1.00\n",
        "Successful transactions:            100\n", "Failed transactions:                  4\n",
        "Longest transaction:           0.050000\n", "Shortest transaction:          0.010000\n"}) {
    const auto found = text.find(line, at);
    ASSERT_NE(found, std::string::npos) << line << text;
    at = found;
  }
}

}  // namespace
}  // namespace convoy
