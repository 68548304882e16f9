// cache_numbers.h — What a page cache counts: one line each, its name and exactly when it rises by one.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "locks/events.h"
#include "locks/world.h"

namespace convoy {

// Each thread counts for itself (W::Counters, which takes any number below kEventCount).
enum class CacheEvent : std::uint32_t {
  kHit,         // a page was pinned at the first look
  kMiss,        // a page was pinned after its folio was filled, by this thread or another
  kFill,        // a folio was read and published
  kFailedFill,  // a folio could not be read
  kReclaim,     // a folio lost its place in the index, or had lost it before, and can be used again
  kUnpin,       // a pin of a page ended
  kCount,
};
static_assert(static_cast<std::size_t>(CacheEvent::kCount) <= kEventCount, "the world's counters have room");

struct CacheNumbers {
  std::uint64_t hits = 0, misses = 0, fills = 0, failed_fills = 0, reclaims = 0;
  std::uint64_t pins = 0;      // now
  std::uint64_t folios = 0;    // that were made; they are used again, never given back
  std::uint64_t capacity = 0;  // folios
};

template <World W>
class CacheCounters {
 public:
  void add(CacheEvent event) { counters_.add(static_cast<std::uint32_t>(event)); }

  // Exact while no thread is inside the cache; else each thread's part may lag. `folios` and `capacity` are left at 0.
  CacheNumbers numbers() const {
    const std::uint64_t unpins = total(CacheEvent::kUnpin);  // before the pins, so that it is not ahead of them
    CacheNumbers numbers;
    numbers.hits = total(CacheEvent::kHit);
    numbers.misses = total(CacheEvent::kMiss);
    numbers.fills = total(CacheEvent::kFill);
    numbers.failed_fills = total(CacheEvent::kFailedFill);
    numbers.reclaims = total(CacheEvent::kReclaim);
    const std::uint64_t pinned = numbers.hits + numbers.misses;
    numbers.pins = pinned > unpins ? pinned - unpins : 0;
    return numbers;
  }

 private:
  std::uint64_t total(CacheEvent event) const { return counters_.total(static_cast<std::uint32_t>(event)); }

  typename W::Counters counters_;
};

}  // namespace convoy
