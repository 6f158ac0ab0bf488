// TopologyTable: the levels of the topology while nodes come, go and get other labels.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster/columns.h"
#include "cluster/shared_chunk.h"
#include "gang/cluster/topology.h"

namespace gang::cluster {

/// Owned by the state. A level is kept while some PodGroup names its key. A node that changes costs
/// the levels and the two domains that it leaves and enters; a key that is new costs one pass over
/// the nodes. Always: what publish() answers equals levels built anew from the labels of all nodes.
class TopologyTable {
 public:
  /// One PodGroup more, or one less, names these keys.
  void use(const std::vector<std::string>& keys);
  void unuse(const std::vector<std::string>& keys);

  /// The node may have other labels, or it came or went.
  void note_node(NodeIndex node, const Columns& columns);
  /// The same for every node.
  void note_nodes(const Columns& columns);

  /// Whether publish() would answer anew.
  [[nodiscard]] bool has_news() const { return has_news_; }
  /// `by_name`: all nodes. Never null.
  [[nodiscard]] std::shared_ptr<const Topology> publish(const Columns& columns,
                                                        const std::vector<NodeIndex>& by_name);

 private:
  /// A level as it is written.
  struct Level {
    std::uint64_t id = 0;
    std::uint32_t users = 0;
    bool is_built = false;
    std::map<std::string, std::uint32_t> domain_of_value;
    std::vector<SharedChunk<Domain>> domains;
    std::vector<std::uint32_t> unused;  ///< domains without nodes
    SharedChunk<std::vector<std::uint32_t>> domain_of_node;
    std::shared_ptr<const TopologyLevel> published;  ///< null: changed since
  };

  static std::uint32_t intern(Level& level, const std::string& value);
  static void leave(Level& level, NodeIndex node, std::uint32_t domain);
  static void put(Level& level, NodeIndex node, std::uint32_t domain, const Columns& columns);
  void note_node(const std::string& key, Level& level, NodeIndex node, const Columns& columns);
  void build(const std::string& key, Level& level, const Columns& columns,
             const std::vector<NodeIndex>& by_name);
  static std::shared_ptr<const TopologyLevel> shared(const std::string& key, Level& level);

  std::map<std::string, Level> levels_;
  std::shared_ptr<const Topology> published_ = std::make_shared<const Topology>();
  bool has_news_ = false;
  std::uint64_t ids_given_ = 0;
};

}  // namespace gang::cluster
