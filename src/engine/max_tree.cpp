#include "engine/max_tree.h"

#include <algorithm>
#include <utility>

namespace gang::engine {

namespace {

constexpr std::size_t padded(std::size_t count, std::size_t fan) {
  return (count + fan - 1) / fan * fan;
}

template <std::size_t kCount>
std::int32_t max_of(const std::int32_t* keys) {
  std::int32_t best = keys[0];
  for (std::size_t i = 1; i < kCount; ++i) best = std::max(best, keys[i]);
  return best;
}

}  // namespace

void MaxTree::reset(std::uint32_t count) {
  levels_.clear();
  std::size_t size = std::max<std::size_t>(count, 1);
  do {
    levels_.emplace_back(padded(size, kFan), kNone);
    size = levels_.back().size() / kFan;
  } while (levels_.back().size() > kFan);
}

void MaxTree::rebuild() {
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    const std::vector<std::int32_t>& below = levels_[level - 1];
    for (std::size_t group = 0; group < below.size() / kFan; ++group) {
      levels_[level][group] = max_of<kFan>(&below[group * kFan]);
    }
  }
}

/// A group is read anew only where its largest key has become smaller.
void MaxTree::set(std::uint32_t position, std::int32_t key) {
  std::int32_t before = std::exchange(levels_[0][position], key);
  std::size_t group = position / kFan;
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    std::int32_t& largest = levels_[level][group];
    const std::int32_t was = largest;
    if (key >= was) {
      largest = key;
    } else if (before == was) {
      largest = max_of<kFan>(&levels_[level - 1][group * kFan]);
    }
    if (largest == was) return;
    before = was;
    key = largest;
    group /= kFan;
  }
}

std::uint32_t MaxTree::leftmost_max() const {
  if (levels_.empty()) return kNowhere;
  const std::int32_t best = max_of<kFan>(levels_.back().data());
  if (best == kNone) return kNowhere;
  std::size_t group = 0;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const std::int32_t* keys = &levels_[level][group * kFan];
    std::size_t at = 0;
    while (keys[at] != best) ++at;
    group = group * kFan + at;
  }
  return static_cast<std::uint32_t>(group);
}

}  // namespace gang::engine
