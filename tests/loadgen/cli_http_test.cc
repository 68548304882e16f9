// cli_http_test.cc — `convoy-loadgen http` as a program: exit codes, what goes to stdout and stderr, signals.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/result_schema.h"
#include "tests/loadgen/fake_server.h"
#include "tests/loadgen/program.h"

namespace convoy {
namespace {

using testing::FakeRequest;
using testing::FakeServer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::loadgen;
using ::testing::Not;
using testing::Program;
using testing::well_behaved;

ResultFile result_of(const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  auto result = from_json(json);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : ResultFile{};
}

// Row O3.
TEST(CliHttp, bad_numbers) {
  for (const auto& value : {std::string("-1"), std::string("0"), std::string("4294967296"), std::string("1e3"),
                            std::string("0x10"), std::string(""), std::string(4096, '7'),
                            std::string("\xf0\x9f\x98\x80"), std::string("1,,2"), std::string("5 ")}) {
    const auto end = loadgen({"http", "http://127.0.0.1:1/", "--users", value});
    EXPECT_EQ(end.code, 2) << value;
    EXPECT_THAT(end.err, HasSubstr("--users")) << value;
    EXPECT_THAT(end.out, IsEmpty());
    EXPECT_LT(end.seconds, 10);
    EXPECT_LT(end.err.size(), 1000U);
  }
}

TEST(CliHttp, usage_errors) {
  const std::string url = "http://127.0.0.1:1/";
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{"http"}, "no server is named"},
      {{"http", url, "t1M"}, "t1M"},
      {{"http", url, "extra", "more"}, "extra"},
      {{"http", url, "--duration", "0s"}, "duration"},
      {{"http", url, "-t", "10x"}, "duration"},
      {{"http", url, "--requests", "0"}, "requests"},
      {{"http", url, "--connection", "maybe"}, "connection"},
      {{"http", url, "--at", "1s:a"}, "--at"},
      {{"http", url, "--at", "10s:a=b", "-t", "10s"}, "not inside the window"},
      {{"http", url, "-H", "no header"}, "header"},
      {{"http", url, "--cpus", "a"}, "cpus"},
      {{"http", url, "--url-file", "/nowhere/urls"}, "url-file"},
      {{"http", url, "--json", "-", "--csv", "-"}, "stdout"},
      {{"http", url, "--bogus"}, "bogus"},
      {{"http", "https://127.0.0.1/"}, "TLS"},
      {{"http", url, "-x"}, "-x"},
      {{"bogus"}, "bogus"},
      {{}, ""},
  };
  for (const auto& [words, text] : wrong) {
    const auto end = loadgen(words);
    EXPECT_EQ(end.code, 2) << ::testing::PrintToString(words);
    EXPECT_THAT(end.err, HasSubstr(text)) << ::testing::PrintToString(words);
    EXPECT_THAT(end.out, IsEmpty());
  }
}

// Row L2.
TEST(CliHttp, closed_port) {
  FakeServer server(well_behaved());
  const auto url = server.url();
  server.stop();
  const auto end = loadgen({"http", url, "-t", "5s", "-q"});
  EXPECT_EQ(end.code, 3);
  EXPECT_LT(end.seconds, 2);
  EXPECT_THAT(end.out, IsEmpty());
  EXPECT_THAT(end.err, HasSubstr("Connection refused"));
  EXPECT_EQ(std::count(end.err.begin(), end.err.end(), '\n'), 1) << end.err;
}

// Row O2.
TEST(CliHttp, stdout_is_json_alone) {
  FakeServer server(well_behaved());
  const auto end =
      loadgen({"http", server.url("/x"), "-n", "100", "-c", "1,3", "--repeat", "2", "--label", "l", "--json", "-"});
  EXPECT_EQ(end.code, 0) << end.err;
  const auto result = result_of(end.out);
  ASSERT_EQ(result.runs.size(), 4U);
  EXPECT_EQ(result.runs[1].users, 3U);
  EXPECT_EQ(result.runs[2].repeat, 2U);
  EXPECT_EQ(result.runs[3].label, "l");
  EXPECT_EQ(server.requests(), 400U);
  EXPECT_THAT(end.err, HasSubstr("transactions/s"));
}

TEST(CliHttp, stdout_is_csv_alone) {
  FakeServer server(well_behaved());
  const auto end = loadgen({"http", server.url("/x"), "-n", "10", "--csv", "-", "-q"});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_EQ(std::count(end.out.begin(), end.out.end(), '\n'), 2);
  EXPECT_THAT(end.err, IsEmpty());
}

TEST(CliHttp, summary_and_table) {
  FakeServer server(well_behaved());
  const auto path = ::testing::TempDir() + "cli_http_" + std::to_string(::getpid()) + ".json";
  const auto end = loadgen({"http", server.url("/x"), "-n", "100", "-c", "2", "--json", path});
  EXPECT_EQ(end.code, 0) << end.err;
  EXPECT_THAT(end.out, HasSubstr("Transactions:                       100 hits\n"));
  EXPECT_THAT(end.out, HasSubstr("transactions/s     p50 ms"));
  EXPECT_TRUE(read_result_file(path));
  std::filesystem::remove(path);
}

TEST(CliHttp, an_unwritable_file) {
  FakeServer server(well_behaved());
  const auto end = loadgen({"http", server.url("/x"), "-n", "10", "--json", "/nowhere/x.json"});
  EXPECT_EQ(end.code, 2);  // before the run
  EXPECT_THAT(end.err, HasSubstr("--json: /nowhere/x.json: cannot be written: No such file or directory"));
  EXPECT_EQ(server.requests(), 0U);
  const auto full = loadgen({"http", server.url("/x"), "-n", "10", "--json", "/dev/full"});
  EXPECT_EQ(full.code, 3);
  EXPECT_THAT(full.err, HasSubstr("/dev/full: cannot be written: No space left on device"));
}

TEST(CliHttp, failures_set_the_exit_code) {
  FakeServer server([](const FakeRequest& request) {
    testing::send_text(request.fd, testing::answer_text(404, "no"));
    return true;
  });
  const auto end = loadgen({"http", server.url("/x"), "-n", "10", "--json", "-", "-q"});
  EXPECT_EQ(end.code, 1);
  const auto result = result_of(end.out);
  EXPECT_EQ(result.runs.at(0).errors.at("http_4xx"), 10U);
  EXPECT_FALSE(result.runs.at(0).latency_us.p50);
}

// Row L5.
TEST(CliHttp, a_server_that_goes_away) {
  FakeServer server(well_behaved());
  Program program({(testing::build_folder() / "convoy-loadgen").string(), "http", server.url(), "-t", "2s", "--warmup",
                   "0", "--json", "-", "-q"});
  while (server.requests() < 1000) std::this_thread::yield();
  server.stop();
  const auto end = program.wait();
  EXPECT_EQ(end.code, 1);
  EXPECT_LT(end.seconds, 3.5);
  const auto result = result_of(end.out);
  EXPECT_GT(result.runs.at(0).errors.at("connect_refused"), 0U);
  EXPECT_DOUBLE_EQ(result.runs.at(0).duration_s, 2.0);
}

// Row L12.
TEST(CliHttp, unserved_users_are_named) {
  FakeServer server([](const FakeRequest& request) {
    if (request.connection <= 10) testing::send_text(request.fd, testing::answer_text(200, "x"));
    return true;
  });
  const auto end = loadgen({"http", server.url(), "-c", "100", "-t", "1500ms", "--warmup", "0", "--json", "-"});
  EXPECT_THAT(end.err, HasSubstr("only 10 of 100 users were served"));
  const auto run = result_of(end.out).runs.at(0);
  EXPECT_EQ(run.connections.requested, 100U);
  EXPECT_EQ(run.connections.opened, 100U);
  EXPECT_EQ(run.connections.served, 10U);
  EXPECT_EQ(run.per_user.min, 0);
  EXPECT_LE(run.per_user.jain.value(), 0.1 + 1e-9);
}

// Row O1: a signal at any time leaves a valid result.
TEST(CliHttp, signals) {
  FakeServer server(well_behaved());
  const auto program = (testing::build_folder() / "convoy-loadgen").string();
  for (const int signal : {SIGINT, SIGTERM}) {
    const auto before = server.requests();
    Program run({program, "http", server.url(), "-t", "60s", "--warmup", "0", "--json", "-", "-q"});
    while (server.requests() < before + 200) std::this_thread::yield();
    run.signal(signal);
    const auto end = run.wait();
    EXPECT_EQ(end.code, 128 + signal);
    EXPECT_LT(end.seconds, 20);
    const auto one = result_of(end.out).runs.at(0);
    EXPECT_GT(one.transactions, 0U);
    EXPECT_LT(one.duration_s, 20);
  }
}

TEST(CliHttp, a_signal_at_the_start) {
  FakeServer server(well_behaved());
  Program run({(testing::build_folder() / "convoy-loadgen").string(), "http", server.url(), "-t", "60s", "--warmup",
               "60s", "--json", "-"});
  ASSERT_TRUE(run.wait_for_error_text("warm-up"));
  run.signal(SIGINT);
  const auto end = run.wait();
  EXPECT_EQ(end.code, 130);
  EXPECT_THAT(end.out, Not(HasSubstr("nan")));
  const auto result = result_of(end.out);
  for (const auto& one : result.runs) EXPECT_FALSE(one.transactions_per_second);
}

TEST(CliHttp, more_users_than_files) {
  FakeServer server(well_behaved());
  const auto end =
      Program({"/bin/sh", "-c", "ulimit -Sn 256; ulimit -Hn 256; exec \"$0\" http " + server.url() + " -c 2000 -n 10",
               (testing::build_folder() / "convoy-loadgen").string()})
          .wait();
  EXPECT_EQ(end.code, 3);
  EXPECT_THAT(end.err, HasSubstr("2000 users need"));
  EXPECT_EQ(server.requests(), 0U);
}

TEST(CliHttp, help_and_version) {
  const auto help = loadgen({"http", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("--users"));
  EXPECT_THAT(help.err, IsEmpty());
  EXPECT_EQ(loadgen({"--version"}).code, 0);
}

}  // namespace
}  // namespace convoy
