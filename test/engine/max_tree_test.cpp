#include "engine/max_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gang::engine {
namespace {

std::uint32_t scan(const std::vector<std::int32_t>& keys) {
  const auto best = std::ranges::max_element(keys);
  if (best == keys.end() || *best == MaxTree::kNone) return MaxTree::kNowhere;
  return static_cast<std::uint32_t>(best - keys.begin());
}

TEST(MaxTree, IsEmptyWithoutKeys) {
  MaxTree tree;
  EXPECT_EQ(tree.leftmost_max(), MaxTree::kNowhere);
  tree.reset(0);
  EXPECT_EQ(tree.leftmost_max(), MaxTree::kNowhere);
  tree.reset(40);
  EXPECT_EQ(tree.leftmost_max(), MaxTree::kNowhere);
}

TEST(MaxTree, PrefersTheSmallerPositionAmongEquals) {
  MaxTree tree;
  tree.reset(300);
  tree.set(299, 7);
  tree.set(17, 7);
  EXPECT_EQ(tree.leftmost_max(), 17U);
  tree.set(0, 0);
  EXPECT_EQ(tree.leftmost_max(), 17U);
  tree.set(17, 3);
  EXPECT_EQ(tree.leftmost_max(), 299U);
}

TEST(MaxTree, AgreesWithAScanUnderAnyChanges) {
  for (const std::uint32_t size : {1U, 15U, 16U, 17U, 256U, 257U, 5000U}) {
    MaxTree tree;
    tree.reset(size);
    std::vector<std::int32_t> keys(size, MaxTree::kNone);
    std::uint64_t state = size;
    for (int change = 0; change < 2000; ++change) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const auto at = static_cast<std::uint32_t>((state >> 33) % size);
      keys[at] = static_cast<std::int32_t>((state >> 20) % 12) - 1;
      tree.set(at, keys[at]);
      ASSERT_EQ(tree.leftmost_max(), scan(keys)) << "size " << size << " change " << change;
      ASSERT_EQ(tree.key(at), keys[at]);
    }
  }
}

TEST(MaxTree, RebuildsAfterManyLeaves) {
  MaxTree tree;
  tree.reset(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) tree.set_leaf(i, static_cast<std::int32_t>(i % 37));
  tree.rebuild();
  EXPECT_EQ(tree.leftmost_max(), 36U);
}

}  // namespace
}  // namespace gang::engine
