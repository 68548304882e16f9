// folio_index_test.cc — Goal: every folio is found under its key and under no other, while the table grows.
// SPDX-License-Identifier: MIT
// Method: one thread; three times as many folios as a segment has buckets, some of the keys close together.
#include "cache/folio_index.h"

#include <gtest/gtest.h>

#include <deque>

#include "locks/ttas.h"
#include "locks/world_real.h"

namespace convoy {
namespace {

using TestFolio = Folio<RealWorld, Ttas<RealWorld>, int>;

TEST(FolioIndex, grows_and_keeps_every_folio) {
  constexpr std::uint64_t kFolios = 13'000;
  LockClass<RealWorld> page{"page"};
  int frame = 0;
  std::deque<TestFolio> folios;
  FolioIndex<RealWorld, TestFolio> index(kFolios);
  const auto key_of = [](std::uint64_t i) { return FolioKey{i / 3, i % 3}; };
  for (std::uint64_t i = 0; i < kFolios; ++i) {
    EXPECT_EQ(index.find(key_of(i)), nullptr);
    folios.emplace_back(page, frame).key = key_of(i);
    index.insert(folios.back());
    // What stood there before is where it was after a split.
    ASSERT_EQ(index.find(key_of(i)), &folios[i]);
    ASSERT_EQ(index.find(key_of(i / 2)), &folios[i / 2]);
  }
  for (std::uint64_t i = 0; i < kFolios; ++i) ASSERT_EQ(index.find(key_of(i)), &folios[i]) << i;
  EXPECT_EQ(index.find({kFolios, 0}), nullptr);
  for (std::uint64_t i = 0; i < kFolios; i += 2) index.remove(folios[i]);
  for (std::uint64_t i = 0; i < kFolios; ++i) {
    ASSERT_EQ(index.find(key_of(i)), i % 2 == 0 ? nullptr : &folios[i]) << i;
  }
}

TEST(FolioIndex, one_folio) {
  LockClass<RealWorld> page{"page"};
  int frame = 0;
  TestFolio folio(page, frame);
  FolioIndex<RealWorld, TestFolio> index(1);
  for (std::uint64_t i = 0; i < 3; ++i) {
    folio.key = FolioKey{i, 7};
    index.insert(folio);
    EXPECT_EQ(index.find({i, 7}), &folio);
    index.remove(folio);
    EXPECT_EQ(index.find({i, 7}), nullptr);
  }
}

}  // namespace
}  // namespace convoy
