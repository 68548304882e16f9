// compare_test.cc — Comparisons of made-up runs, whose figures are chosen so that the right verdict is known.
// SPDX-License-Identifier: MIT
#include "loadgen/compare.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "loadgen/compare_input.h"
#include "loadgen/table.h"

namespace convoy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kNotFinite = "[^a-z](nan|inf)";

// A run of 2 s with `tps` transactions per second.
Run run_of(const std::string& label, std::uint64_t users, double tps, std::uint64_t repeat = 1) {
  Run run;
  run.label = label;
  run.workload = "http";
  run.target = "/hot.bin";
  run.connection = "keep-alive";
  run.users = users;
  run.repeat = repeat;
  run.duration_s = 2.001;
  run.transactions = static_cast<std::uint64_t>(tps * 2);
  run.transactions_per_second = tps;
  run.bytes = run.transactions * 12288;
  run.acquisitions_per_transaction = 3 + static_cast<double>(repeat) / 10;
  run.latency_us.p99 = 1e6 * static_cast<double>(users) / (tps + 1);
  run.per_user.jain = 0.98;
  return run;
}

ResultFile file_of(std::vector<Run> runs) {
  ResultFile file;
  file.tool = {"0.1.0", "abc"};
  file.host = {"Linux 6.1", "CPU", 2, false};
  file.server = ServerInfo{"convoy-server", "0.1.0",
                           std::map<std::string, std::string>{{"threading", "apache"},
                                                              {"workers", "256"},
                                                              {"folio-order", "2"},
                                                              {"access", "mmap"},
                                                              {"page-lock-unfairness", "5"},
                                                              {"http", "127.0.0.1:1"}}};
  file.runs = std::move(runs);
  return file;
}

// One label: `repeats` runs at each of `users`, spread by 1 % around `tps`.
ResultFile spread_file(const std::string& label, const std::vector<std::uint64_t>& users, double tps,
                       std::uint64_t repeats) {
  std::vector<Run> runs;
  for (const auto level : users)
    for (std::uint64_t i = 1; i <= repeats; ++i)
      runs.push_back(run_of(label, level, tps * (1 + 0.01 * static_cast<double>(i) / static_cast<double>(repeats)), i));
  return file_of(std::move(runs));
}

void expect_80_columns(const std::string& text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    EXPECT_LE(columns_of(text.substr(begin, end - begin)), 80u) << text.substr(begin, end - begin);
    begin = end + 1;
  }
}

TEST(Compare, report_of_two_labels) {
  const std::vector<std::uint64_t> users{1, 50, 100, 200, 250};
  auto slow = spread_file("plu-0", users, 23840, 5);
  for (auto& run : slow.runs)
    if (run.users == 1) *run.transactions_per_second *= 3.1 + 0.05 * static_cast<double>(run.repeat % 2);
  const auto comparison = compare_results({spread_file("plu-1000", users, 74210, 5), slow}).value();
  const auto text = comparison_text(comparison);
  expect_80_columns(text);
  EXPECT_EQ(text.substr(0, text.find("\n\n")),
            "GET /hot.bin, 12288 bytes, keep-alive; 3 pages, 3.1 to 3.5 page-lock\n"
            "  acquisitions per request\n"
            "apache pattern, 256 workers, folio order 2, access mmap; real threads, 2 cores\n"
            "5 runs of 2 s a cell, one label after the other (not interleaved: use sweep)");
  EXPECT_THAT(text,
              HasSubstr("Concurrent Users: 250\nTransactions Per Second > Higher Is Better\nplu-1000 ... 74655 |==="));
  EXPECT_THAT(text, HasSubstr("\nplu-0 ...... 23983 |===="));
  EXPECT_THAT(text, HasSubstr("Ratio to plu-1000, Hodges-Lehmann [95 % interval]\nusers"));
  EXPECT_THAT(text, HasSubstr("0.32[.32-.32]*"));
  EXPECT_THAT(text, HasSubstr("p99 ms"));
  EXPECT_THAT(text, HasSubstr("Failed requests: 0.\n* differs   ~ cannot be told apart"));
  const auto& levels = comparison.groups[0].levels;
  ASSERT_EQ(levels.size(), 5u);
  EXPECT_EQ(levels[0].cells[1]->verdict, Verdict::kSame);
  for (std::size_t i = 1; i < levels.size(); ++i) {
    EXPECT_EQ(levels[i].cells[0]->verdict, Verdict::kNone);
    EXPECT_EQ(levels[i].cells[1]->verdict, Verdict::kDiffers);
    EXPECT_NEAR(levels[i].cells[1]->p.value(), 2.0 / 252, 1e-12);
  }
}

TEST(Compare, overlapping_groups_cannot_be_told_apart) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 1001, 5);
  const auto comparison = compare_results({a, b}).value();
  EXPECT_EQ(comparison.groups[0].levels[0].cells[1]->verdict, Verdict::kSame);
  EXPECT_THAT(comparison_text(comparison), HasSubstr("1.00[1.00-1.01]~"));
}

// Row C1.
TEST(Compare, equal_repeats_keep_their_values_and_have_no_spread) {
  for (const std::uint64_t repeats : {3, 5}) {
    std::vector<convoy::Run> runs;
    for (std::uint64_t i = 1; i <= repeats; ++i)
      for (const char* label : {"a", "b"}) runs.push_back(run_of(label, 1, 5, i));
    const auto comparison = compare_results({file_of(runs)}).value();
    const auto& cell = *comparison.groups[0].levels[0].cells[1];
    EXPECT_EQ(cell.values, std::vector<double>(repeats, 5.0));
    EXPECT_EQ(cell.summary.std_dev, 0.0);
    EXPECT_EQ(cell.verdict, repeats < 5 ? Verdict::kTooFew : Verdict::kSame);
    for (const auto& format : CompareOptions::format_names())
      EXPECT_THAT(comparison_in(comparison, format), Not(testing::ContainsRegex(std::string(kNotFinite)))) << format;
    EXPECT_THAT(comparison_text(comparison), HasSubstr(repeats < 5 ? "\nb     1.00\n" : "1.00[1.00-1.00]~"));
  }
}

TEST(Compare, single_run_claims_nothing) {
  const auto comparison = compare_results({file_of({run_of("a", 50, 1000), run_of("b", 50, 10)})}).value();
  const auto text = comparison_text(comparison);
  EXPECT_THAT(text, HasSubstr("Ratio to a (single run: no ranking)\nusers   50\nb     0.01\n"));
  EXPECT_THAT(text, HasSubstr("Single run: no ranking. A verdict needs 5 runs a side in a cell."));
  EXPECT_THAT(text, Not(HasSubstr("* differs")));
  EXPECT_EQ(comparison.groups[0].levels[0].cells[1]->p, std::nullopt);
  EXPECT_TRUE(Json::parse(comparison_json(comparison))["groups"][0]["levels"][0]["cells"][1]["std_dev"].is_null());
}

TEST(Compare, under_five_runs_ranges_only) {
  const auto text =
      comparison_text(compare_results({spread_file("a", {50}, 1000, 4), spread_file("b", {50}, 500, 4)}).value());
  EXPECT_THAT(text, HasSubstr("Ratio to a, Hodges-Lehmann [range] (too few runs: no verdict)\n"));
  EXPECT_THAT(text, HasSubstr("0.50[.50-.50]\n"));
  EXPECT_THAT(text, HasSubstr("A verdict needs 5 runs a side\n  in a cell."));
}

// Seven comparisons at .05 need a p of .0071, and 5 against 5 gives .0079 at best.
TEST(Compare, many_labels_need_six_runs_a_side) {
  for (const std::uint64_t repeats : {5, 6}) {
    std::vector<ResultFile> files;
    for (int i = 0; i < 8; ++i) files.push_back(spread_file(fmt::format("l{}", i), {50}, 1000 + 100 * i, repeats));
    const auto comparison = compare_results(files).value();
    EXPECT_EQ(comparison.groups[0].levels[0].cells[7]->verdict, repeats == 5 ? Verdict::kTooFew : Verdict::kDiffers);
    EXPECT_EQ(comparison.groups[0].runs_needed, 6u);
  }
}

// Row C3: nine kernels, five user levels, one run a cell.
TEST(Compare, published_table) {
  const auto files = read_results({"configs/published/apache-siege-2020.csv"});
  ASSERT_TRUE(files) << files.error().message;
  const auto comparison = compare_results(*files).value();
  const auto text = comparison_text(comparison);
  expect_80_columns(text);
  EXPECT_EQ(comparison.groups[0].labels.size(), 9u);
  EXPECT_THAT(text, HasSubstr("Concurrent Users: 250"));
  EXPECT_THAT(text, HasSubstr("plu-0 ...... 20182 |================\n"));
  EXPECT_THAT(text, HasSubstr("(single run: no ranking)"));
  EXPECT_THAT(comparison.groups[0].notes,
              ElementsAre("v5.9-git is retrograde after 50 users: 28241 there, 20283 at 250.",
                          "plu-0 is retrograde after 50 users: 26645 there, 20182 at 250.",
                          "Gap at >= 50 users: v5.9-git, plu-0 below all others, at 0.42 to 0.73 of the next."));
  for (const auto& level : comparison.groups[0].levels)
    for (const auto& cell : level.cells) EXPECT_NE(cell->verdict, Verdict::kDiffers);
}

TEST(Compare, what_differs_besides_the_policy_is_said_first) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 500, 5);
  (*b.server->config)["workers"] = "64";
  (*b.server->config)["page-lock-unfairness"] = "0";
  (*b.server->config)["http"] = "127.0.0.1:2";
  for (auto& run : b.runs) run.warmup_s = 1;
  for (auto& run : b.runs) run.duration_s = 2.03;
  const auto comparison = compare_results({a, b}).value();
  EXPECT_THAT(comparison.not_alike, ElementsAre("warm-up: 0 s (a); 1 s (b)", "workers: 256 (a); 64 (b)"));
  EXPECT_THAT(comparison_text(comparison), testing::StartsWith("not like for like:\n  warm-up: 0 s (a); 1 s (b)\n"));
}

TEST(Compare, bimodal_cell_is_printed_with_both_values) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 1000, 5);
  for (auto& run : b.runs) {
    const bool stood = run.repeat > 3;
    run.convoy.stood_share = stood ? 0.9 : 0.1;
    run.transactions_per_second = stood ? 300 : 1000;
  }
  const auto text = comparison_text(compare_results({a, b}).value());
  EXPECT_THAT(text, HasSubstr("b is bimodal: 1000 in 3 runs without a convoy, 300 in 2 runs with one.\n"));
}

TEST(Compare, interleaved_runs_of_a_sweep) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 500, 5);
  a.sweep = b.sweep = SweepInfo{"page-lock", true, "b"};
  const auto text = comparison_text(compare_results({a, b}).value());
  EXPECT_THAT(text, HasSubstr("5 runs of 2 s a cell, interleaved\n"));
  EXPECT_THAT(text, HasSubstr("Ratio to b,"));
  EXPECT_THAT(comparison_text(compare_results({a, b}, "tps", "a").value()), HasSubstr("Ratio to a,"));
}

TEST(Compare, cases_are_groups_of_their_own) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 500, 5);
  auto a2 = a, b2 = b;
  for (auto* file : {&a2, &b2})
    for (auto& run : file->runs) run.case_label = "read";
  const auto comparison = compare_results({a, b, a2, b2}).value();
  ASSERT_EQ(comparison.groups.size(), 2u);
  EXPECT_THAT(comparison_text(comparison), HasSubstr("GET /hot.bin (case read), 12288 bytes"));
}

TEST(Compare, runs_without_a_label_go_by_what_differs) {
  auto a = spread_file("", {50}, 1000, 1), b = a, c = a;
  const std::map<std::string, std::string> bounded{{"page", "bounded"}, {"mapping", "rwsem"}};
  for (auto& run : a.runs) run.policy = bounded;
  for (auto& run : a.runs) run.knobs = Counts{{"page-lock-unfairness", 0}};
  for (auto& run : b.runs) run.policy = bounded;
  for (auto& run : b.runs) run.knobs = Counts{{"page-lock-unfairness", 1000}};
  for (auto& run : c.runs) run.policy = std::map<std::string, std::string>{{"page", "barging"}, {"mapping", "rwsem"}};
  EXPECT_THAT(compare_results({a, b, c}).value().groups[0].labels,
              ElementsAre("bounded unfairness=0", "bounded unfairness=1000", "barging"));
  EXPECT_THAT(compare_results({a, b}).value().groups[0].labels, ElementsAre("unfairness=0", "unfairness=1000"));
}

TEST(Compare, metrics_and_baseline) {
  const auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 500, 5);
  const auto comparison = compare_results({a, b}, "p99", "b").value();
  EXPECT_EQ(comparison.groups[0].baseline, 1u);
  EXPECT_NEAR(comparison.groups[0].levels[0].cells[0]->ratio->estimate, 0.5, 0.01);
  EXPECT_THAT(comparison_text(comparison), HasSubstr("Latency p99, Milliseconds > Lower Is Better"));
  EXPECT_THAT(compare_results({a, b}, "tps", "c").error().message,
              HasSubstr("baseline: 'c' is no label of these runs; one of a, b"));
  EXPECT_THAT(compare_results({a, b}, "cpu").error().message, HasSubstr("nothing is comparable"));
  EXPECT_THAT(compare_results({a}).error().message, HasSubstr("labels: a"));
  EXPECT_THAT(compare_results({}).error().message, HasSubstr("labels: none"));
}

TEST(Compare, zero_throughput_has_no_ratio_and_no_nan) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 0, 5);
  for (auto& run : b.runs) run.errors = {{"timeout", 3}};
  const auto comparison = compare_results({a, b}).value();
  const auto text = comparison_text(comparison);
  EXPECT_THAT(text, HasSubstr("Failed requests: b 15 (timeout 15)."));
  EXPECT_THAT(text, HasSubstr("\nb ...... 0 |\n"));
  EXPECT_THAT(text, HasSubstr("\nb     -*\n"));  // a difference, but no ratio to 0
  for (const auto& format : CompareOptions::format_names())
    EXPECT_THAT(comparison_in(comparison, format), Not(testing::ContainsRegex(std::string(kNotFinite)))) << format;
}

TEST(Compare, generator_bound_runs_are_named) {
  auto a = spread_file("a", {50}, 1000, 5), b = spread_file("b", {50}, 500, 5);
  a.runs[0].generator_bound = true;
  EXPECT_THAT(comparison_text(compare_results({a, b}).value()), HasSubstr("Generator-bound: in 1 of 10 runs"));
}

TEST(Compare, csv_has_a_row_a_cell) {
  const auto csv = comparison_csv(
      compare_results({spread_file("a", {1, 50}, 1000, 5), spread_file("b,c", {1, 50}, 500, 5)}).value());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_THAT(csv, HasSubstr("\nhttp,/hot.bin,,50,\"b,c\",a,tps,5,"));
}

TEST(CompareTable, long_and_odd_names_keep_to_the_width) {
  auto a = spread_file(std::string(100, 'a'), {1, 50}, 1000, 5), b = spread_file("b\n\x1b[31m", {1, 50}, 500, 5);
  const auto text = comparison_text(compare_results({a, b}).value());
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_EQ(columns_of("\xc3\xa9\xe2\x82\xac"), 2u);
  EXPECT_EQ(fitted("abcdefghij", 6), "ab..ij");
  EXPECT_EQ(wrapped("a b", 2), "a b\n");
  EXPECT_EQ(wrapped("a " + std::string(78, 'b') + " c", 2), "a " + std::string(78, 'b') + "\n  c\n");
}

TEST(CompareTable, wide_table_is_split_into_even_parts) {
  TextTable table(1);
  table.add({"users", "1", "2", "3", "4", "5"});
  table.add({"plu-0", std::string(15, 'x'), std::string(15, 'x'), std::string(15, 'x'), std::string(15, 'x'), "y"});
  const auto lines = table.lines();
  ASSERT_EQ(lines.size(), 2u);  // the last column is narrow: all fit
  table.add({"plu-1", "", "", "", "", std::string(15, 'z')});
  ASSERT_EQ(table.lines().size(), 7u);
  for (const auto& line : table.lines()) EXPECT_LE(line.size(), 80u);
}

}  // namespace
}  // namespace convoy
