// MaxTree: the leftmost largest of many keys, under single changes.
//
// Idea: levels of maxima of kFan neighbours, so that a level's group is one cache line.
// Complexity: set() and leftmost_max() O(kFan x log_kFan n). Ties: the smaller position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gang::engine {

/// See the head of the file. Owned by a CapacityTable; single thread. A key of kNone takes no part.
class MaxTree {
 public:
  static constexpr std::int32_t kNone = -1;
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  /// Makes room for `count` keys, all kNone.
  void reset(std::uint32_t count);
  /// Sets many keys without the upper levels; finish with rebuild().
  void set_leaf(std::uint32_t position, std::int32_t key) { levels_[0][position] = key; }
  void rebuild();

  /// REQUIRES: key >= 0 or kNone.
  void set(std::uint32_t position, std::int32_t key);
  [[nodiscard]] std::int32_t key(std::uint32_t position) const { return levels_[0][position]; }
  /// kNowhere when every key is kNone.
  [[nodiscard]] std::uint32_t leftmost_max() const;

 private:
  static constexpr std::size_t kFan = 16;

  std::vector<std::vector<std::int32_t>> levels_;  ///< [0] keys; each padded to kFan with kNone
};

}  // namespace gang::engine
