// compare_command_test.cc — The subcommand: paths in, exit codes and files out.
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "loadgen/compare.h"
#include "loadgen/compare_input.h"
#include "loadgen/validate.h"

namespace convoy {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class CompareCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "convoy_compare_test_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }

  // Writes a valid result of five runs, `tps` apart by 1 each, and returns its path.
  std::string write_result(const std::string& label, std::uint64_t tps) {
    ResultFile file;
    for (std::uint64_t i = 0; i < 5; ++i) {
      convoy::Run run;
      run.label = label;
      run.workload = "http";
      run.target = "/";
      run.users = 50;
      run.duration_s = 1;
      run.started = run.transactions = tps + i;
      run.transactions_per_second = static_cast<double>(tps + i);
      run.status = {{"200", tps + i}};
      auto& latency = run.latency_us;
      latency.min = latency.mean = latency.p50 = latency.p90 = latency.p99 = latency.p999 = latency.max = 1;
      latency.histogram = {{1, 1, tps + i}};
      file.runs.push_back(run);
    }
    return write_file(label + ".json", result_text(file));
  }

  std::string write_file(const std::string& name, const std::string& text) {
    const auto path = (folder / name).string();
    EXPECT_TRUE(write_text_file(path, text));
    return path;
  }

  template <class F>
  int run(F command) {
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int exit_code = command();
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
    return exit_code;
  }

  int compare(CompareOptions options) {
    return run([&] { return run_compare(options); });
  }
  int validate(std::vector<std::string> paths) {
    return run([&] { return run_validate({std::move(paths), false}); });
  }

  fs::path folder;
  std::string out, err;
};

CompareOptions options_of(std::vector<std::string> paths) {
  CompareOptions options;
  options.paths = std::move(paths);
  return options;
}

TEST_F(CompareCommandTest, files_and_folders) {
  const auto a = write_result("a", 1000), b = write_result("b", 500);
  EXPECT_EQ(compare(options_of({a, b})), 0);
  EXPECT_THAT(out, HasSubstr("Ratio to a"));
  EXPECT_THAT(out, HasSubstr("0.50[.50-.50]*"));
  EXPECT_THAT(err, IsEmpty());
  EXPECT_EQ(compare(options_of({folder.string()})), 0);
  EXPECT_THAT(out, HasSubstr("Ratio to a"));
}

TEST_F(CompareCommandTest, fail_below) {
  auto options = options_of({write_result("a", 1000), write_result("b", 500)});
  options.fail_below = 0.4;
  EXPECT_EQ(compare(options), 0);
  options.fail_below = 0.6;
  EXPECT_EQ(compare(options), 1);
  EXPECT_THAT(err, HasSubstr("b at 50 users of /: ratio 0.501 to a is below 0.6"));
  options = options_of({write_result("a", 1000), write_result("c", 998)});
  options.fail_below = 1;
  EXPECT_EQ(compare(options), 0);  // below, but cannot be told apart
}

TEST_F(CompareCommandTest, nothing_comparable_or_readable_is_a_usage_error) {
  const auto a = write_result("a", 1000);
  EXPECT_EQ(compare(options_of({a})), 2);
  EXPECT_THAT(err, HasSubstr("nothing is comparable"));
  EXPECT_EQ(compare(options_of({(folder / "none").string()})), 2);
  EXPECT_THAT(err, HasSubstr("there is no such file or folder"));
  fs::create_directory(folder / "empty");
  EXPECT_EQ(compare(options_of({(folder / "empty").string()})), 2);
  EXPECT_THAT(err, HasSubstr("has no .json file"));
  EXPECT_EQ(compare(options_of({write_file("bad.json", "{")})), 2);
  EXPECT_THAT(err, HasSubstr("bad.json: is not JSON: parse error at line 1, column 2"));
  EXPECT_THAT(out, IsEmpty());
}

TEST_F(CompareCommandTest, published_figures_and_results_are_not_mixed) {
  EXPECT_EQ(compare(options_of({write_file("p.csv", "users,a,b\n1,2,3\n"), write_result("a", 1000)})), 2);
  EXPECT_THAT(err, HasSubstr("a CSV of published figures and results of runs are no cells of one table"));
}

TEST_F(CompareCommandTest, outputs) {
  auto options = options_of({write_result("a", 1000), write_result("b", 500)});
  options.json = "-";
  EXPECT_EQ(compare(options), 0);
  EXPECT_EQ(Json::parse(out)["groups"][0]["levels"][0]["cells"][1]["verdict"], "differs");
  options.json = (folder / "out").string();
  options.csv = (folder / "out.csv").string();
  options.quiet = true;
  EXPECT_EQ(compare(options), 0);
  EXPECT_THAT(out, IsEmpty());
  EXPECT_TRUE(Json::accept(read_text_file(*options.json).value()));
  EXPECT_THAT(read_text_file(*options.csv).value(), HasSubstr("workload,target"));
  options.json = "/dev/full";
  EXPECT_EQ(compare(options), 1);
  EXPECT_THAT(err, HasSubstr("/dev/full: cannot be written: No space left on device"));
}

TEST_F(CompareCommandTest, published_csv_errors_name_the_line) {
  const auto error_of = [](const std::string& text) {
    const auto file = parse_published_csv(text, "t.csv");
    return file ? "" : file.error().message;
  };
  EXPECT_EQ(error_of("# why\r\nusers,a,b\r\n1,2.5,\r\n"), "");
  EXPECT_EQ(error_of("label,a\n"), "t.csv:1: the first line is not users,label,label,...");
  EXPECT_EQ(error_of("users,a,a\n"), "t.csv:1: the label 'a' is empty or given twice");
  EXPECT_EQ(error_of("users,a\n1,2,3\n"), "t.csv:2: 3 fields, but the first line has 2");
  EXPECT_THAT(error_of("users,a\n-1,2\n"), HasSubstr("t.csv:2: users: '-1' is not allowed"));
  EXPECT_THAT(error_of("users,a\n1,nan\n"), HasSubstr("t.csv:2: a: 'nan' is not allowed"));
  EXPECT_EQ(error_of("users,a\n"), "t.csv: holds no figures");
  EXPECT_EQ(error_of(""), "t.csv: holds no figures");
}

TEST_F(CompareCommandTest, validate) {
  const auto good = write_result("a", 1000);
  EXPECT_EQ(validate({good}), 0);
  EXPECT_EQ(out, good + ": valid, 5 runs\n");
  auto json = Json::parse(read_text_file(good).value());
  json["runs"][2]["started"] = 7;
  const auto bad = write_file("bad.json", json.dump());
  EXPECT_EQ(validate({bad, good}), 1);
  EXPECT_EQ(out, good + ": valid, 5 runs\n");
  EXPECT_THAT(err, HasSubstr(bad + ": runs[2].started: 7 is not transactions + failed + in_flight_at_end"));
  EXPECT_EQ(validate({folder.string()}), 1);
  EXPECT_EQ(validate({(folder / "none").string()}), 2);
}

}  // namespace
}  // namespace convoy
