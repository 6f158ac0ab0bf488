// Topology: which nodes have which value of a label, for each label key that a PodGroup names in
// its topology constraint.
//
// A level is a label key, a domain one of its values: rack, and one rack. The empty value is a
// domain like others; nodes without the label belong to none. Equal values are one domain wherever
// the nodes stand: a rack "r1" in each of two blocks is one rack "r1". Immutable values, shared by
// snapshots; any thread. Source: the gang contract, 4.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gang/cluster/node_info.h"

namespace gang::cluster {

/// Nodes with one value of a label.
struct Domain {
  std::string value;
  std::vector<NodeIndex> nodes;  ///< by name; none: the domain stands for no value now
};

/// The domains of one label key. A node that gets another label leaves the indexes of all domains
/// as they were.
struct TopologyLevel {
  static constexpr std::uint32_t kNoDomain = 0xffffffff;

  std::uint64_t id = 0;  ///< of no other level; indexes of domains mean the same while it stays
  std::string key;
  std::vector<std::shared_ptr<const Domain>> domains;
  std::shared_ptr<const std::vector<std::uint32_t>> domain_of_node;  ///< by NodeIndex

  /// Index into `domains`, or kNoDomain.
  [[nodiscard]] std::uint32_t domain_of(NodeIndex node) const {
    return node.value < domain_of_node->size() ? (*domain_of_node)[node.value] : kNoDomain;
  }
};

/// By label key.
using Topology = std::map<std::string, std::shared_ptr<const TopologyLevel>>;

}  // namespace gang::cluster
