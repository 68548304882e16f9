// folio_index.h — From a key to its folio: a hash table that grows one bucket at a time.
// SPDX-License-Identifier: MIT
//
// Linear hashing: when there are more folios than buckets, one more bucket is made and takes its share of one old one,
// so that no insertion ever moves more than a chain. Buckets stand in segments that are made when they are reached: an
// empty cache of any capacity is small. It never shrinks, as the arena of folios does not.
// Origin: Litwin, "Linear Hashing", VLDB 1980; buckets split at load 1.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/folio.h"
#include "locks/world.h"

namespace convoy {

// Guarded by the mapping lock: find() under it in any mode, the others under it exclusively.
template <World W, class CachedFolio>
class FolioIndex {
 public:
  // At most `capacity` folios.
  explicit FolioIndex(std::uint64_t capacity)
      : segment_shift_(bits_of(std::min<std::uint64_t>(capacity, kMaxSegment))),
        max_buckets_(std::uint64_t{1} << bits_of(capacity)),
        buckets_(segment_buckets()),
        level_(segment_buckets()),
        segments_(new std::unique_ptr<Bucket[]>[max_buckets_ >> segment_shift_]) {
    segments_[0] = std::make_unique<Bucket[]>(segment_buckets());
  }
  FolioIndex(const FolioIndex&) = delete;
  FolioIndex& operator=(const FolioIndex&) = delete;

  // Null when there is none.
  CachedFolio* find(const FolioKey& key) {
    for (CachedFolio* folio = bucket(place_of(key)); folio != nullptr; folio = folio->next_in_bucket) {
      if (folio->key == key) return folio;
    }
    return nullptr;
  }

  // Requires: no folio of its key is in the index.
  void insert(CachedFolio& folio) {
    if (size_ >= buckets_ && buckets_ < max_buckets_) split_one();
    push(folio);
    ++size_;
  }

  // Requires: the folio is in the index.
  void remove(CachedFolio& folio) {
    Bucket* link = &bucket(place_of(folio.key));
    while (static_cast<CachedFolio*>(*link) != &folio) link = &static_cast<CachedFolio*>(*link)->next_in_bucket;
    *link = static_cast<CachedFolio*>(folio.next_in_bucket);
    --size_;
  }

 private:
  using Bucket = Plain<W, CachedFolio*>;

  // 32 KiB of buckets, for 64 MiB of folios of 16 KiB.
  static constexpr std::uint64_t kMaxSegment = 4096;

  // The smallest power of two that is at least `n`, as its exponent. Requires: n > 0.
  static unsigned bits_of(std::uint64_t n) { return static_cast<unsigned>(std::bit_width(n - 1)); }
  std::uint64_t segment_buckets() const { return std::uint64_t{1} << segment_shift_; }

  // Buckets level_ and up have split from those level_ below them.
  std::uint64_t place_of(const FolioKey& key) const {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
    const std::uint64_t hash = (key.file * kGolden + key.index) * kGolden >> 32;
    const std::uint64_t place = hash & (2 * level_ - 1);
    return place < buckets_ ? place : place & (level_ - 1);
  }

  Bucket& bucket(std::uint64_t place) { return segments_[place >> segment_shift_][place & (segment_buckets() - 1)]; }

  void push(CachedFolio& folio) {
    Bucket& head = bucket(place_of(folio.key));
    folio.next_in_bucket = static_cast<CachedFolio*>(head);
    head = &folio;
  }

  void split_one() {
    std::unique_ptr<Bucket[]>& segment = segments_[buckets_ >> segment_shift_];
    if (segment == nullptr) segment = std::make_unique<Bucket[]>(segment_buckets());
    Bucket& old = bucket(buckets_ - level_);
    if (++buckets_ == 2 * level_) level_ *= 2;
    CachedFolio* folio = old;
    old = nullptr;
    while (folio != nullptr) {
      CachedFolio* const next = folio->next_in_bucket;
      push(*folio);
      folio = next;
    }
  }

  const unsigned segment_shift_;
  const std::uint64_t max_buckets_;
  std::uint64_t buckets_;
  std::uint64_t level_;  // a power of two; buckets_ lies in level_ to 2 * level_ - 1
  std::uint64_t size_ = 0;
  std::unique_ptr<std::unique_ptr<Bucket[]>[]> segments_;
};

}  // namespace convoy
