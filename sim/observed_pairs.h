// observed_pairs.h — Which release in the source was seen to synchronise with which acquire.
// SPDX-License-Identifier: MIT
//
// The places of releases are numbered, so that an object carries a set of them in one word.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace convoy {

// A place in the source, for the ladder.
struct Loc {
  const char* file;
  int line;
  static constexpr Loc here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

class ObservedPairs {
 public:
  // Some of the places of releases that were named to release().
  using Set = std::uint64_t;

  Set release(Loc loc) { return Set{1} << number_of(loc, releases_); }
  void acquire(Loc loc, Set releases) {
    if (releases != 0) seen_[number_of(loc, acquires_)] |= releases;
  }

  std::vector<std::pair<Loc, Loc>> all() const {
    std::vector<std::pair<Loc, Loc>> pairs;
    for (std::size_t a = 0; a < acquires_.count; ++a) {
      for (std::size_t r = 0; r < releases_.count; ++r) {
        if ((seen_[a] >> r & 1) != 0) pairs.emplace_back(releases_.places[r], acquires_.places[a]);
      }
    }
    return pairs;
  }

 private:
  static constexpr std::size_t kMaxPlaces = 64;
  struct Places {
    std::array<Loc, kMaxPlaces> places{};
    std::size_t count = 0;
    std::size_t last = 0;  // most often asked for again
  };

  static std::size_t number_of(Loc loc, Places& known) {
    const auto is_it = [&](std::size_t i) {
      return known.places[i].line == loc.line && known.places[i].file == loc.file;
    };
    if (known.count > 0 && is_it(known.last)) return known.last;
    for (std::size_t i = 0; i < known.count; ++i) {
      if (is_it(i)) return known.last = i;
    }
    if (known.count == kMaxPlaces) {
      std::fprintf(stderr, "explorer: more than %zu places of releases, or of acquires, in one scenario\n", kMaxPlaces);
      std::abort();
    }
    known.places[known.count] = loc;
    return known.last = known.count++;
  }

  Places releases_;
  Places acquires_;
  std::array<Set, kMaxPlaces> seen_{};
};

}  // namespace convoy
