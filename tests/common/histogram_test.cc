// histogram_test.cc — What a histogram answers against the sorted samples themselves.
// SPDX-License-Identifier: MIT
#include "common/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace convoy {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr double kQuantiles[] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1};

// Row M8: every quantile and the mean lie between minimum and maximum and rise; the buckets hold every value.
void expect_consistent(const Histogram& histogram) {
  std::uint64_t before = histogram.min_ns();
  for (const double q : kQuantiles) {
    EXPECT_GE(histogram.value_at(q), before) << q;
    before = histogram.value_at(q);
  }
  EXPECT_LE(before, histogram.max_ns());
  EXPECT_GE(histogram.mean_ns(), static_cast<double>(histogram.min_ns()));
  EXPECT_LE(histogram.mean_ns(), static_cast<double>(histogram.max_ns()));
  for (const unsigned per_octave : {1024u, 128u, 1u}) {
    std::uint64_t sum = 0, end = 0;
    for (const auto& bucket : histogram.buckets(per_octave)) {
      EXPECT_LE(bucket.low_ns, bucket.high_ns);
      EXPECT_GE(bucket.low_ns, std::max(end, histogram.min_ns()));
      EXPECT_LE(bucket.high_ns, histogram.max_ns());
      end = bucket.high_ns;
      sum += bucket.count;
    }
    EXPECT_EQ(sum, histogram.count());
  }
}

TEST(Histogram, empty) {
  Histogram histogram;
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.min_ns(), 0u);
  EXPECT_EQ(histogram.max_ns(), 0u);
  EXPECT_EQ(histogram.mean_ns(), 0);
  EXPECT_EQ(histogram.value_at(0.5), 0u);
  EXPECT_TRUE(histogram.buckets().empty());
}

// Row M4: one sample of 575 ms is every percentile; nothing is ever above a maximum of 596 ms.
TEST(Histogram, no_quantile_is_above_the_maximum) {
  Histogram one;
  one.record(milliseconds(575));
  for (const double q : kQuantiles) EXPECT_EQ(one.value_at(q), 575'000'000u);
  EXPECT_EQ(one.mean_ns(), 575e6);
  expect_consistent(one);

  Histogram fifty;
  for (int i = 0; i < 50; ++i) fifty.record(milliseconds(596 - i % 7));
  for (const double q : kQuantiles) EXPECT_LE(fifty.value_at(q), 596'000'000u);
  EXPECT_EQ(fifty.value_at(1), 596'000'000u);
  EXPECT_EQ(fifty.max_ns(), 596'000'000u);
  expect_consistent(fifty);
}

TEST(Histogram, three_significant_digits_from_1_us_to_1_h) {
  Histogram histogram;
  std::vector<std::uint64_t> values;
  for (double value = 1000; value < 3.6e12; value *= 1.01) {
    values.push_back(static_cast<std::uint64_t>(value));
    histogram.record_ns(values.back());
  }
  for (const double q : kQuantiles) {
    const auto rank = std::max(1.0, std::ceil(q * static_cast<double>(values.size())));
    const auto exact = static_cast<double>(values[static_cast<std::size_t>(rank) - 1]);
    EXPECT_NEAR(static_cast<double>(histogram.value_at(q)), exact, exact / 1000) << q;
  }
  expect_consistent(histogram);
}

TEST(Histogram, values_outside_of_the_range) {
  Histogram histogram;
  histogram.record(nanoseconds(-5));
  histogram.record(nanoseconds(3));
  histogram.record(std::chrono::hours(2));
  EXPECT_EQ(histogram.count(), 3u);
  EXPECT_EQ(histogram.saturated(), 1u);
  EXPECT_EQ(histogram.min_ns(), 0u);
  EXPECT_EQ(histogram.max_ns(), Histogram::kHighest_ns);
  expect_consistent(histogram);
}

TEST(Histogram, merged_is_as_if_one_had_seen_all) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> latency(12, 2);
  Histogram both, left, right;
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::uint64_t>(latency(random));
    both.record_ns(value);
    (i % 3 == 0 ? left : right).record_ns(value);
  }
  left.merge(right);
  left.merge(Histogram());
  EXPECT_EQ(left.count(), both.count());
  EXPECT_EQ(left.mean_ns(), both.mean_ns());
  for (const double q : kQuantiles) EXPECT_EQ(left.value_at(q), both.value_at(q));
  expect_consistent(left);
  left.clear();
  EXPECT_TRUE(left.empty());
}

// Row M6: a percentile of merged series comes from the merged counts, not from the percentiles.
TEST(Histogram, merged_percentile_is_no_mean_of_percentiles) {
  Histogram a, b;
  for (int i = 0; i < 1000; ++i) a.record(milliseconds(10));
  for (int i = 0; i < 10; ++i) b.record(milliseconds(2000));
  a.merge(b);
  EXPECT_NEAR(static_cast<double>(a.value_at(0.95)), 10e6, 10e3);
}

}  // namespace
}  // namespace convoy
