// stats_test.cc — Statistics against figures worked out by hand: small samples, whose splits can be counted.
// SPDX-License-Identifier: MIT
#include "loadgen/stats.h"

#include <gmock/gmock.h>

#include <cmath>

namespace convoy {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

using Values = std::vector<double>;

TEST(Stats, summary) {
  const auto summary = summarize({4, 1, 3, 2});
  EXPECT_EQ(summary.n, 4u);
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.q1, 1.75);
  EXPECT_EQ(summary.median, 2.5);
  EXPECT_EQ(summary.q3, 3.25);
  EXPECT_EQ(summary.max, 4);
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_NEAR(summary.std_dev.value(), std::sqrt(5.0 / 3.0), 1e-12);
  EXPECT_EQ(median({3, 1, 2}), 2);
}

// Row C1: equal values have a spread of exactly 0; one value has none.
TEST(Stats, equal_values_and_a_single_one) {
  const auto equal = summarize({5, 5, 5});
  EXPECT_EQ(equal.median, 5);
  EXPECT_EQ(equal.std_dev, 0.0);
  const auto third = summarize({0.1, 0.1, 0.1});
  EXPECT_EQ(third.mean, 0.1);
  EXPECT_EQ(third.std_dev, 0.0);
  const auto single = summarize({7});
  EXPECT_EQ(single.q1, 7);
  EXPECT_EQ(single.q3, 7);
  EXPECT_EQ(single.std_dev, std::nullopt);
  EXPECT_EQ(summarize({}).n, 0u);
}

TEST(Stats, jain_index) {
  EXPECT_EQ(jain_index({3, 3, 3}), 1.0);
  EXPECT_EQ(jain_index({6, 0, 0}), 1.0 / 3);
  EXPECT_NEAR(jain_index({1, 2, 3}).value(), 36.0 / 42, 1e-12);
  EXPECT_EQ(jain_index({}), std::nullopt);
  EXPECT_EQ(jain_index({0, 0}), std::nullopt);
  // Row L12: 10 of 100 users are served.
  Values users(100, 0.0);
  std::fill_n(users.begin(), 10, 50.0);
  EXPECT_NEAR(jain_index(users).value(), 0.1, 1e-12);
}

// Without ties the p of complete separation is 2 / C(n + m, n).
TEST(Stats, mann_whitney_without_ties) {
  EXPECT_NEAR(mann_whitney_p({1, 2, 3}, {4, 5, 6}), 2.0 / 20, 1e-12);
  EXPECT_NEAR(mann_whitney_p({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 2.0 / 252, 1e-12);
  EXPECT_NEAR(mann_whitney_p({6, 7, 8, 9, 10}, {1, 2, 3, 4, 5}), 2.0 / 252, 1e-12);
  // U = 1: sums of 6 and 7 and their mirror images, one way each.
  EXPECT_NEAR(mann_whitney_p({1, 2, 4}, {3, 5, 6}), 4.0 / 20, 1e-12);
  // U = 2 of 5 against 5: 1 + 1 + 2 of 252 on each side.
  EXPECT_NEAR(mann_whitney_p({1, 2, 3, 5, 6}, {4, 7, 8, 9, 10}), 2.0 * 4 / 252, 1e-12);
  EXPECT_EQ(mann_whitney_p({1, 4}, {2, 3}), 1.0);
  EXPECT_EQ(mann_whitney_p({}, {1}), 1.0);
}

TEST(Stats, mann_whitney_with_ties_counts_the_splits) {
  EXPECT_EQ(mann_whitney_p({5, 5, 5, 5, 5}, {5, 5, 5, 5, 5}), 1.0);
  // Ranks 1, 2.5 | 2.5, 4. Sums of two of {1, 2.5, 2.5, 4}: 3.5 3.5 5 5 6.5 6.5, mean 5; 3.5 or farther: 4 of 6.
  EXPECT_NEAR(mann_whitney_p({1, 2}, {2, 3}), 4.0 / 6, 1e-12);
  // Ranks 1.5 1.5 3 | 4.5 4.5 6: only the smallest and the largest three of six are that far from the mean.
  EXPECT_NEAR(mann_whitney_p({1, 1, 2}, {3, 3, 4}), 2.0 / 20, 1e-12);
}

TEST(Stats, large_groups_are_close_to_the_exact_value) {
  Values a, b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(i);
    b.push_back(i + 9.5);
  }
  const double exact = mann_whitney_p(a, b);
  a.push_back(24.25);
  b.push_back(34.75);
  EXPECT_NEAR(mann_whitney_p(a, b), exact, exact / 10);
}

TEST(Stats, hodges_lehmann_ratio) {
  // All ratios: 2 1 4 2 8 4, sorted 1 2 2 4 4 8: the median on logarithms is sqrt(2 * 4).
  const auto ratio = hodges_lehmann_ratio({2, 4, 8}, {1, 2}).value();
  EXPECT_NEAR(ratio.estimate, std::sqrt(8.0), 1e-12);
  EXPECT_NEAR(ratio.low, 1, 1e-12);
  EXPECT_NEAR(ratio.high, 8, 1e-12);
  EXPECT_EQ(ratio.interval_low, std::nullopt);  // 1 / C(5, 2) is above 0.025
  EXPECT_FALSE(hodges_lehmann_ratio({0, 1}, {1}));
  EXPECT_FALSE(hodges_lehmann_ratio({}, {1}));
}

// 5 against 5: P(U <= 2) = 4/252 = 0.016, P(U <= 3) = 7/252 = 0.028 > 0.025. So the interval reaches from the third to
// the third last of the 25 ratios. With powers of two they are 2^(i-j), of which -4 has one, -3 two.
TEST(Stats, interval_inverts_the_test) {
  const Values powers{1, 2, 4, 8, 16};
  const auto ratio = hodges_lehmann_ratio(powers, powers).value();
  EXPECT_NEAR(ratio.estimate, 1, 1e-12);
  EXPECT_NEAR(ratio.interval_low.value(), 1.0 / 8, 1e-12);
  EXPECT_NEAR(ratio.interval_high.value(), 8, 1e-12);
  // 4 against 4: P(U <= 0) = 1/70 = 0.014, P(U <= 1) = 2/70 = 0.029: all ratios.
  const auto four = hodges_lehmann_ratio({1, 2, 4, 8}, {1, 2, 4, 8}).value();
  EXPECT_NEAR(four.interval_low.value(), 1.0 / 8, 1e-12);
  // An interval excludes 1 exactly when the test rejects equality.
  const auto apart = hodges_lehmann_ratio({1, 2, 3, 5, 6}, {4, 7, 8, 9, 10}).value();
  EXPECT_LE(mann_whitney_p({1, 2, 3, 5, 6}, {4, 7, 8, 9, 10}), 0.05);
  EXPECT_LT(apart.interval_high.value(), 1);
  const auto closer = hodges_lehmann_ratio({1, 2, 3, 5, 7}, {4, 6, 8, 9, 10}).value();
  EXPECT_GT(mann_whitney_p({1, 2, 3, 5, 7}, {4, 6, 8, 9, 10}), 0.05);
  EXPECT_GT(closer.interval_high.value(), 1);
}

TEST(Stats, equal_groups_have_ratio_one_and_an_interval_of_no_width) {
  const auto ratio = hodges_lehmann_ratio({5, 5, 5, 5, 5}, {5, 5, 5, 5, 5}).value();
  EXPECT_EQ(ratio.estimate, 1);
  EXPECT_EQ(ratio.interval_low, 1.0);
  EXPECT_EQ(ratio.interval_high, 1.0);
}

TEST(Stats, holm) {
  EXPECT_THAT(holm_adjust({0.01, 0.04, 0.03}),
              ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12)));
  EXPECT_THAT(holm_adjust({0.5, 0.9}), ElementsAre(1.0, 1.0));
  EXPECT_TRUE(holm_adjust({}).empty());
}

// 2 / C(2n, n): 4 runs 0.0286, 5 runs 0.0079, 6 runs 0.0022.
TEST(Stats, runs_needed) {
  EXPECT_EQ(runs_needed(1), 4u);
  EXPECT_EQ(runs_needed(2), 5u);
  EXPECT_EQ(runs_needed(6), 5u);
  EXPECT_EQ(runs_needed(7), 6u);
  EXPECT_EQ(runs_needed(23), 6u);
  EXPECT_EQ(runs_needed(24), 7u);
}

}  // namespace
}  // namespace convoy
