#include "cluster/flat_index.h"

#include <gtest/gtest.h>

#include <set>

namespace gang::cluster {
namespace {

TEST(FlatIndex, FindsWhatWasInsertedAndNothingElse) {
  FlatIndex index;
  EXPECT_EQ(index.find(7, [](std::uint32_t) { return true; }), FlatIndex::kNone);
  index.insert(7, 1);
  index.insert(7, 2);
  EXPECT_EQ(index.find(7, [](std::uint32_t id) { return id == 2; }), 2u);
  EXPECT_EQ(index.find(8, [](std::uint32_t) { return true; }), FlatIndex::kNone);
}

TEST(FlatIndex, ErasingKeepsCollidingNeighboursInReach) {
  // Few hashes, many ids: long runs that wrap around the end; every third id leaves and returns.
  FlatIndex index;
  std::set<std::uint32_t> present;
  const auto hash = [](std::uint32_t id) { return id % 5 * 0x3fffffff; };
  for (std::uint32_t round = 0; round < 3000; ++round) {
    const std::uint32_t id = round * 7919 % 200;
    if (present.insert(id).second) {
      index.insert(hash(id), id);
    } else {
      index.erase(hash(id), id);
      present.erase(id);
    }
    for (std::uint32_t probe = 0; probe < 200; probe += 13) {
      const bool found = index.find(hash(probe), [&](std::uint32_t candidate) {
        return candidate == probe;
      }) == probe;
      ASSERT_EQ(found, present.contains(probe)) << "round " << round << " id " << probe;
    }
  }
}

}  // namespace
}  // namespace gang::cluster
