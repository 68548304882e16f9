// histogram.cc — Quantiles, merging and buckets; recording is in the header.
// SPDX-License-Identifier: MIT
#include "common/histogram.h"

#include <cmath>

namespace convoy {

// Index i stands for shift s = i / 1024 - 1 and leading bits i - 1024 s, but for the first 2048, whose shift is 0.
std::uint64_t Histogram::low_of(unsigned index) {
  const unsigned shift = index < 2 * kHalf ? 0 : index / kHalf - 1;
  return static_cast<std::uint64_t>(index - shift * kHalf) << shift;
}

std::uint64_t Histogram::high_of(unsigned index) { return low_of(index + 1) - 1; }

void Histogram::merge(const Histogram& other) {
  for (unsigned i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  saturated_ += other.saturated_;
  sum_ns_ += other.sum_ns_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

void Histogram::clear() { *this = Histogram(); }

double Histogram::mean_ns() const {
  if (empty()) return 0;
  const double mean = static_cast<double>(sum_ns_) / static_cast<double>(count_);
  // Rounding of a sum above 2^53 must not push the mean past an end.
  return std::clamp(mean, static_cast<double>(min_ns_), static_cast<double>(max_ns_));
}

std::uint64_t Histogram::value_at(double quantile) const {
  if (empty()) return 0;
  if (!(quantile > 0)) return min_ns_;
  const double wanted = std::ceil(std::min(quantile, 1.0) * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (unsigned i = index_of(min_ns_); i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(high_of(i), min_ns_, max_ns_);
  }
  return max_ns_;
}

std::vector<Histogram::Bucket> Histogram::buckets(unsigned per_octave) const {
  std::vector<Bucket> result;
  if (empty()) return result;
  const unsigned width = kHalf / std::clamp(std::bit_floor(per_octave), 1u, kHalf);
  const unsigned last = index_of(max_ns_);
  for (unsigned i = index_of(min_ns_) / width * width; i <= last; i += width) {
    std::uint64_t count = 0;
    for (unsigned j = i; j < i + width; ++j) count += counts_[j];
    if (count > 0) result.push_back({std::max(low_of(i), min_ns_), std::min(high_of(i + width - 1), max_ns_), count});
  }
  return result;
}

}  // namespace convoy
