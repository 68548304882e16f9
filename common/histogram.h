// histogram.h — Latencies from 1 ns to 1 h in buckets of three significant digits.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <vector>

namespace convoy {

// The layout is that of Gil Tene's HDR histograms: every power of two is cut into 1024 equal buckets, so a bucket is at
// most 1/1024 of its value wide, and values below 2048 ns have a bucket each. Minimum, maximum and sum are kept
// exactly, and whatever a bucket would answer is clamped to them: no quantile leaves [min, max]. A value above 1 h
// counts as 1 h and is counted apart; one below 0 counts as 0. Recording takes a few instructions and allocates
// nothing. Not thread-safe: one histogram a thread, merged at the end.
class Histogram {
 public:
  static constexpr std::uint64_t kHighest_ns = 3'600'000'000'000;

  struct Bucket {
    std::uint64_t low_ns;  // the lowest and the highest value that may have been recorded here, both included
    std::uint64_t high_ns;
    std::uint64_t count;
  };

  Histogram() : counts_(kBuckets) {}

  void record(std::chrono::nanoseconds latency) {
    record_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0)));
  }

  void record_ns(std::uint64_t value) {
    if (value > kHighest_ns) {
      value = kHighest_ns;
      ++saturated_;
    }
    ++counts_[index_of(value)];
    ++count_;
    sum_ns_ += value;
    min_ns_ = std::min(min_ns_, value);
    max_ns_ = std::max(max_ns_, value);
  }

  // Adds what `other` has recorded; the result is what one histogram would hold that had seen both.
  void merge(const Histogram& other);
  void clear();

  std::uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::uint64_t saturated() const { return saturated_; }  // values above 1 h

  // Exact; 0 when nothing is recorded.
  std::uint64_t min_ns() const { return empty() ? 0 : min_ns_; }
  std::uint64_t max_ns() const { return max_ns_; }
  double mean_ns() const;

  // Returns the value below or at which the share `quantile` (0 to 1) of all values lies, as the upper end of its
  // bucket, within [min, max] and never falling as the quantile rises. 0 when nothing is recorded.
  std::uint64_t value_at(double quantile) const;

  // Returns the buckets that are not empty, in order, their ends clamped to [min, max]; the counts add up to count().
  // `per_octave` (a power of two up to 1024) merges neighbours: 128 keeps a width of at most 1/128 of the value.
  std::vector<Bucket> buckets(unsigned per_octave = kHalf) const;

 private:
  static constexpr unsigned kHalfBits = 10;  // 1024 buckets an octave: three significant digits
  static constexpr unsigned kHalf = 1u << kHalfBits;
  static constexpr unsigned kHighestShift = 31;  // 3.6e12 ns has 42 bits; 11 of them tell the bucket
  static constexpr unsigned kBuckets = (kHighestShift + 2) * kHalf;

  // Values share a bucket when their leading 11 bits and their length agree.
  static unsigned index_of(std::uint64_t value) {
    const unsigned bits = static_cast<unsigned>(std::bit_width(value));
    const unsigned shift = bits > kHalfBits + 1 ? bits - (kHalfBits + 1) : 0;
    return shift * kHalf + static_cast<unsigned>(value >> shift);
  }
  static std::uint64_t low_of(unsigned index);
  static std::uint64_t high_of(unsigned index);

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t saturated_ = 0;
  std::uint64_t sum_ns_ = 0;  // 2^64 ns of summed latency are 584 years
  std::uint64_t min_ns_ = ~std::uint64_t{0};
  std::uint64_t max_ns_ = 0;
};

}  // namespace convoy
