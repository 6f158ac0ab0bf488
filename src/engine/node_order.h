// NodeOrder: the nodes of one kind of members in the order in which they are met.
//
// Sorted, or taken from an index, only as far as somebody looks: a gang that fits seldom meets more
// than a few of thousands. The first ones may be put in order by what a member would get there.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/node_index.h"
#include "engine/node_key.h"

namespace gang::engine {

/// What a member would get on a node, most important first. A value.
struct MemberRating {
  std::int32_t preference = 0;  ///< of the alternatives that it takes; more first
  std::int32_t waits = 0;       ///< devices that drivers have to make ready yet; less first
  std::int32_t size = 0;        ///< how much of whole devices it takes, per mille; less first
  std::int32_t amount = 0;      ///< how large these devices are; less first
  std::int32_t spread = 0;      ///< how far its devices are from each other; less first
};

/// See the head of the file.
class NodeOrder {
 public:
  NodeOrder() = default;
  /// Those that the walk meets.
  explicit NodeOrder(const NodeIndex::Walk& walk) : walk_(walk) {}

  void add(std::uint32_t rank, const NodeRating& rating);
  /// Sorts the first `ratings.size()` nodes anew; those with devices in use stay before others.
  /// REQUIRES: at() was asked for all of them.
  void rate(const std::vector<MemberRating>& ratings);

  /// Whether there are more than `position` nodes.
  [[nodiscard]] bool has(std::size_t position);
  /// REQUIRES: has(position).
  [[nodiscard]] std::uint32_t at(std::size_t position);
  /// Null where nodes are not rated. REQUIRES: at(position) was asked since the last change.
  [[nodiscard]] const MemberRating* rating(std::size_t position) const {
    return position < ratings_.size() ? &ratings_[position] : nullptr;
  }
  /// The one node that there is left.
  [[nodiscard]] static NodeOrder of_one(std::uint32_t rank);

 private:
  std::optional<NodeIndex::Walk> walk_;  ///< of the nodes that follow
  std::vector<NodeKey> nodes_;
  std::size_t sorted_ = 0;             ///< of them, from the first
  std::vector<MemberRating> ratings_;  ///< of the first ones
};

}  // namespace gang::engine
