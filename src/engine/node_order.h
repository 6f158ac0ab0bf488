// NodeOrder: the nodes of one kind of members in the order in which they are met.
//
// Sorted, or taken from an index, only as far as somebody looks: a gang that fits seldom meets more
// than a few of thousands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/node_index.h"
#include "engine/node_key.h"

namespace gang::engine {

/// See the head of the file.
class NodeOrder {
 public:
  NodeOrder() = default;
  /// Those that the walk meets.
  explicit NodeOrder(const NodeIndex::Walk& walk) : walk_(walk) {}

  void add(std::uint32_t rank, const NodeRating& rating);
  /// Gives the first `ratings.size()` nodes preferences and sizes, and sorts anew.
  void rate(const std::vector<NodeRating>& ratings);

  /// Whether there are more than `position` nodes.
  [[nodiscard]] bool has(std::size_t position);
  /// REQUIRES: has(position).
  [[nodiscard]] std::uint32_t at(std::size_t position);
  /// REQUIRES: at(position) was asked since the last change.
  [[nodiscard]] std::int32_t preference(std::size_t position) const {
    return nodes_[position].preference();
  }
  /// The one node that there is left.
  [[nodiscard]] static NodeOrder of_one(std::uint32_t rank);

 private:
  std::optional<NodeIndex::Walk> walk_;  ///< of the nodes that follow
  std::vector<NodeKey> nodes_;
  std::size_t sorted_ = 0;  ///< of them, from the first
};

}  // namespace gang::engine
