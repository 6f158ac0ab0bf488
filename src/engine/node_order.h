// NodeOrder: the nodes of one kind of members in the order in which they are met.
//
// Sorted only as far as somebody looks: a gang that fits seldom meets more than a few of thousands.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace gang::engine {

/// What the order of a node looks at, most important first. A value.
struct NodeRating {
  std::int32_t capacity = 0;    ///< more first; 0 where it does not matter
  std::int32_t preference = 0;  ///< of the alternatives that it offers; more first
  bool is_unused = false;       ///< nodes with devices in use first
  std::int32_t size = 0;        ///< per mille of its counters that a member takes; less first
  std::int32_t free = 0;        ///< devices that nobody holds; fewer first
  std::int32_t score = 0;       ///< more first
};

/// See the head of the file. Total: equal ratings go by rank.
class NodeOrder {
 public:
  void add(std::uint32_t rank, const NodeRating& rating);
  /// Gives the first `ratings.size()` nodes preferences and sizes, and sorts anew.
  void rate(const std::vector<NodeRating>& ratings);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// REQUIRES: position < size().
  [[nodiscard]] std::uint32_t at(std::size_t position);
  /// REQUIRES: at(position) was asked since the last change.
  [[nodiscard]] std::int32_t preference(std::size_t position) const;
  /// The one node that there is left.
  [[nodiscard]] static NodeOrder of_one(std::uint32_t rank);

 private:
  /// Smaller is better.
  struct Node {
    std::uint64_t devices = 0;
    std::uint64_t score = 0;  ///< and rank
    friend auto operator<=>(const Node&, const Node&) = default;
  };

  std::vector<Node> nodes_;
  std::size_t sorted_ = 0;  ///< of them, from the first
};

}  // namespace gang::engine
