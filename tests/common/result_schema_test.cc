// result_schema_test.cc — A result written is read back the same; every way to spoil one is refused with its JSON path.
// SPDX-License-Identifier: MIT
#include "common/result_schema.h"

#include <gmock/gmock.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "common/lock_report.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Latency sample_latency(std::uint64_t count) {
  Latency latency;
  latency.min = 10;
  latency.mean = 20.5;
  latency.p50 = 20;
  latency.p90 = latency.p99 = latency.p999 = 40;
  latency.max = 41;
  latency.histogram = {{10, 20, count / 2}, {21, 41, count - count / 2}};
  return latency;
}

// 100 transactions, 2 failures, 3 in flight.
Run sample_run() {
  Run run;
  run.label = "plu-0";
  run.workload = "http";
  run.target = "/hot.bin";
  run.connection = "keep-alive";
  run.policy = std::map<std::string, std::string>{{"page", "bounded"}};
  run.knobs = Counts{{"page-lock-unfairness", 0}};
  run.users = 2;
  run.started_at = "2026-01-31T12:00:00Z";
  run.warmup_s = 0.3;
  run.duration_s = 2;
  run.started = 105;
  run.transactions = 100;
  run.in_flight_at_end = 3;
  run.transactions_per_second = 50;
  run.bytes = std::numeric_limits<std::uint64_t>::max();  // the largest number comes back as it was
  run.errors = {{"http_4xx", 1}, {"timeout", 1}};
  run.status = {{"200", 100}, {"404", 1}};
  run.latency_us = sample_latency(100);
  run.failed_latency_us = sample_latency(2);
  run.per_user = {50, 50, 50, 1};
  run.connections = {2, 2, 2};
  run.acquisitions_per_transaction = 3.5;
  run.timeline = {{1, 60, 2}, {2, 40, 0}};
  run.marks = {{"page-lock-unfairness", "5", "0", 1.0, 1.01, 1.02}};
  run.lock_events = std::map<std::string, Counts>{{"page", Counts{{"page_lock_slow", 7}}}};
  run.contention = {{"page", "page_fault_map", 300, 7, 1.5, 1.0, 30.0}};
  run.convoy.stood_share = 0.5;
  run.cpu.context_switches = 9;
  return run;
}

ResultFile sample_file() {
  ResultFile file;
  file.tool = {"0.1.0", "abc"};
  file.command = {"convoy-loadgen", "http", "http://127.0.0.1:8080/hot.bin"};
  file.host = {"Linux 6.1", "CPU, \"fast\"", 2, true};
  file.server = ServerInfo{"convoy-server", "0.1.0", std::map<std::string, std::string>{{"workers", "256"}}};
  file.runs = {sample_run()};
  return file;
}

// Runs the reader over a sample that `spoil` has changed, and returns the error.
template <class F>
std::string error_after(F spoil) {
  Json json = to_json(sample_file());
  spoil(json);
  const auto file = from_json(json);
  return file ? "" : file.error().message;
}

TEST(ResultSchema, written_and_read_back) {
  const auto json = to_json(sample_file());
  const auto file = from_json(json);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(to_json(*file), json);
  EXPECT_EQ(result_text(*file), result_text(sample_file()));
  EXPECT_EQ(Json::parse(result_text(*file)), json);
}

TEST(ResultSchema, keys_stand_in_the_order_of_the_description) {
  const auto json = to_json(sample_file());
  EXPECT_EQ(json.begin().key(), "schema");
  EXPECT_EQ(json["runs"][0].begin().key(), "label");
  EXPECT_TRUE(json["runs"][0]["machine"].is_null());
}

// Row O1: what was never measured, and what is no number, is null; the file stays strict JSON.
TEST(ResultSchema, empty_run_is_null_not_nan) {
  ResultFile file;
  file.runs.emplace_back();
  file.runs[0].per_user.jain = std::numeric_limits<double>::quiet_NaN();
  file.runs[0].acquisitions_per_transaction = std::numeric_limits<double>::infinity();
  const auto text = result_text(file);
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("[nN]a[nN]|[iI]nf")));
  const auto read = from_json(Json::parse(text));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_FALSE(read->runs[0].per_user.jain);
  EXPECT_FALSE(read->runs[0].latency_us.p99);
}

TEST(ResultSchema, wrong_shape) {
  EXPECT_EQ(error_after([](Json& j) { j = Json::array(); }), "the document: '[...]' is not an object");
  EXPECT_EQ(error_after([](Json& j) { j["schema"] = "convoy.result/2"; }),
            "schema: '\"convoy.result/2\"' is not convoy.result/1");
  EXPECT_EQ(error_after([](Json& j) { j.erase("host"); }), "host: is missing");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0].erase("users"); }), "runs[0].users: is missing");
  EXPECT_THAT(error_after([](Json& j) {
                j["variants"] = j["runs"];
                j["variants"][0]["started"] = 104;
              }),
              StartsWith("variants[0].started: "));
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["latency_us"]["p95"] = 1; }),
            "runs[0].latency_us.'p95': no such key is known");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["users"] = -1; }),
            "runs[0].users: '-1' is not a whole number of at least 0");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["users"] = 1.5; }),
            "runs[0].users: '1.5' is not a whole number of at least 0");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["status"]["200"] = "x"; }),
            "runs[0].status.200: '\"x\"' is not a whole number of at least 0");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["label"] = nullptr; }), "runs[0].label: 'null' is not text");
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["timeline"][1]["t_s"] = "x"; }),
            "runs[0].timeline[1].t_s: '\"x\"' is not a number");
}

TEST(ResultSchema, sums_that_do_not_add_up) {
  EXPECT_EQ(error_after([](Json& j) { j["runs"][0]["started"] = 104; }),
            "runs[0].started: 104 is not transactions + failed + in_flight_at_end = 100 + 2 + 3");
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["status"]["200"] = 99; }),
              StartsWith("runs[0].status: 99 answers below 400, but 100 transactions"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["status"].erase("404"); }),
              StartsWith("runs[0].status: 0 answers of 4xx, but errors.http_4xx is 1"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["status"][""] = 1; }), StartsWith("runs[0].status: ''"));
  EXPECT_THAT(error_after([](Json& j) {
                j["runs"][0]["errors"]["lost"] = 1;
                j["runs"][0]["started"] = 106;
              }),
              StartsWith("runs[0].errors: 'lost' is no class of errors"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["timeline"][0]["transactions"] = 59; }),
              StartsWith("runs[0].timeline: 99 transactions"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["timeline"][1]["t_s"] = 1; }), HasSubstr("does not rise"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["transactions_per_second"] = 60; }),
              StartsWith("runs[0].transactions_per_second: 60 is not transactions / duration_s = 50"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["connections"]["served"] = 3; }),
              StartsWith("runs[0].connections.served: 3 is more than requested"));
}

// Row M8.
TEST(ResultSchema, latency_out_of_order) {
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["latency_us"]["p99"] = 42; }),
              StartsWith("runs[0].latency_us.p999"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["latency_us"]["mean"] = 9; }),
              StartsWith("runs[0].latency_us.mean"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["latency_us"]["p50"] = nullptr; }),
              HasSubstr("null exactly when"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["latency_us"]["histogram"][0]["count"] = 1; }),
              StartsWith("runs[0].latency_us.histogram: 51 values, but 100"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["latency_us"]["histogram"][1]["high"] = 50; }),
              HasSubstr("is not within [min, max]"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["per_user"]["min"] = 51; }), HasSubstr("min <= mean <= max"));
  EXPECT_THAT(error_after([](Json& j) { j["runs"][0]["per_user"]["jain"] = 1.1; }), HasSubstr("jain: 1.1"));
}

TEST(ResultSchema, unreadable_files) {
  EXPECT_THAT(read_result_file("/does/not/exist").error().message, HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(read_result_file("CMakeLists.txt").error().message, HasSubstr("CMakeLists.txt: is not JSON"));
}

TEST(ResultCsv, one_row_a_run_under_dotted_names) {
  auto file = sample_file();
  file.runs.push_back(sample_run());
  file.runs[1].label = "a,\"b\"";
  file.runs[1].errors = {{"reset", 2}};
  const auto csv = result_csv({file});
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  const auto header = csv.substr(0, csv.find('\n'));
  for (const char* name : {"label", "latency_us.p99", "per_user.jain", "errors.timeout", "errors.reset", "status.200",
                           "policy.page", "knobs.page-lock-unfairness", "lock_events.page.page_lock_slow",
                           "cpu.server_user_s", "host.cpu", "server.config.workers", "tool.version"})
    EXPECT_THAT("," + header + ",", HasSubstr("," + std::string(name) + ","));
  EXPECT_THAT(csv, HasSubstr("\n\"a,\"\"b\"\"\",http,/hot.bin,real,,"));
  EXPECT_THAT(csv, HasSubstr("\"CPU, \"\"fast\"\"\""));
  // As many fields in each row as in the header: count the commas outside of quotes.
  std::vector<int> commas{0};
  bool quoted = false;
  for (const char c : csv) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++commas.back();
    if (c == '\n') commas.push_back(0);
  }
  EXPECT_EQ(commas[0], commas[1]);
  EXPECT_EQ(commas[0], commas[2]);
}

TEST(LockReport, written_and_read_back) {
  LockReport report;
  report.server.version = "0.1.0 (abc)";
  report.uptime_s = 1.5;
  report.transactions = 7;
  report.config = {{"workers", "256"}};
  report.classes["page"].policy = "bounded";
  report.classes["page"].knobs = {{"unfairness", 5}};
  report.classes["page"].events = {{"page_lock_slow", 3}};
  report.convoy = ConvoySlices{10, 2};
  const auto read = parse_lock_report(lock_report_text(report));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(to_json(*read), to_json(report));
  EXPECT_EQ(parse_lock_report("{").error().message, "the lock report is not JSON");
  EXPECT_EQ(parse_lock_report("{}").error().message, "server: is missing");
}

}  // namespace
}  // namespace convoy
