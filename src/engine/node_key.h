// NodeKey: the place of a node in the order in which members with devices meet nodes.
#pragma once

#include <compare>
#include <cstdint>

namespace gang::engine {

/// What the order of a node looks at, most important first. A value.
struct NodeRating {
  std::int32_t capacity = 0;  ///< more first; 0 where it does not matter
  bool all_wait = false;      ///< nodes with free devices that need nobody to make them ready first
  bool is_unused = false;     ///< nodes with devices in use first
  std::int32_t free = 0;      ///< devices that nobody holds; fewer first
  std::int32_t score = 0;     ///< more first
};

/// A rating in 16 bytes that compare as a whole: smaller comes first. Total: equal ratings go by
/// rank. A value.
class NodeKey {
 public:
  NodeKey() = default;
  NodeKey(std::uint32_t rank, const NodeRating& rating);

  [[nodiscard]] std::uint32_t rank() const { return static_cast<std::uint32_t>(score_); }
  /// Inverted: more room is less.
  [[nodiscard]] std::uint32_t capacity_place() const;
  [[nodiscard]] bool is_unused() const;
  [[nodiscard]] std::int32_t free() const;
  /// Not after any key with that many free devices that equals this one in all that counts more.
  [[nodiscard]] NodeKey first_with(std::int64_t free) const;

  friend auto operator<=>(const NodeKey&, const NodeKey&) = default;

 private:
  std::uint64_t devices_ = 0;  ///< all but the score
  std::uint64_t score_ = 0;    ///< and rank
};

}  // namespace gang::engine
