#include "cluster/topology_table.h"

#include <algorithm>
#include <utility>

namespace gang::cluster {
namespace {

constexpr std::uint32_t kNoDomain = TopologyLevel::kNoDomain;

std::uint32_t domain_of(const std::vector<std::uint32_t>& domains, NodeIndex node) {
  return node.value < domains.size() ? domains[node.value] : kNoDomain;
}

}  // namespace

void TopologyTable::use(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    Level& level = levels_[key];
    if (level.users++ > 0) continue;
    level.id = ++ids_given_;
    has_news_ = true;
  }
}

void TopologyTable::unuse(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    const auto level = levels_.find(key);
    if (--level->second.users > 0) continue;
    levels_.erase(level);
    has_news_ = true;
  }
}

void TopologyTable::note_node(NodeIndex node, const Columns& columns) {
  for (auto& [key, level] : levels_) note_node(key, level, node, columns);
}

void TopologyTable::note_nodes(const Columns& columns) {
  for (std::uint32_t slot = 0; slot < columns.slot_count(); ++slot) {
    note_node(NodeIndex{slot}, columns);
  }
}

void TopologyTable::note_node(const std::string& key, Level& level, NodeIndex node,
                              const Columns& columns) {
  if (!level.is_built) return;
  const NodeInfo* facts = columns.info(node);
  const std::string* value = facts == nullptr ? nullptr : api::find(facts->labels, key);
  const std::uint32_t before = domain_of(level.domain_of_node.read(), node);
  if (before != kNoDomain && value != nullptr && level.domains[before].read().value == *value) {
    return;
  }
  if (before == kNoDomain && value == nullptr) return;
  if (before != kNoDomain) leave(level, node, before);
  put(level, node, value == nullptr ? kNoDomain : intern(level, *value), columns);
  level.published = nullptr;
  has_news_ = true;
}

std::uint32_t TopologyTable::intern(Level& level, const std::string& value) {
  const auto known = level.domain_of_value.find(value);
  if (known != level.domain_of_value.end()) return known->second;
  if (level.unused.empty()) {
    level.unused.push_back(static_cast<std::uint32_t>(level.domains.size()));
    level.domains.emplace_back();
  }
  const std::uint32_t domain = level.unused.back();
  level.unused.pop_back();
  level.domains[domain].write().value = value;
  level.domain_of_value.emplace(value, domain);
  return domain;
}

void TopologyTable::leave(Level& level, NodeIndex node, std::uint32_t domain) {
  Domain& left = level.domains[domain].write();
  std::erase(left.nodes, node);
  if (!left.nodes.empty()) return;
  level.domain_of_value.erase(left.value);
  level.unused.push_back(domain);
}

void TopologyTable::put(Level& level, NodeIndex node, std::uint32_t domain,
                        const Columns& columns) {
  std::vector<std::uint32_t>& domains = level.domain_of_node.write();
  if (domains.size() <= node.value) domains.resize(columns.slot_count(), kNoDomain);
  domains[node.value] = domain;
  if (domain == kNoDomain) return;
  std::vector<NodeIndex>& nodes = level.domains[domain].write().nodes;
  const auto name = [&columns](NodeIndex at) -> const std::string& {
    return columns.info(at)->name;
  };
  nodes.insert(std::ranges::upper_bound(nodes, name(node), {}, name), node);
}

void TopologyTable::build(const std::string& key, Level& level, const Columns& columns,
                          const std::vector<NodeIndex>& by_name) {
  level.is_built = true;
  for (const NodeIndex node : by_name) note_node(key, level, node, columns);
}

std::shared_ptr<const TopologyLevel> TopologyTable::shared(const std::string& key, Level& level) {
  auto made = std::make_shared<TopologyLevel>();
  made->id = level.id;
  made->key = key;
  made->domains.reserve(level.domains.size());
  for (SharedChunk<Domain>& domain : level.domains) made->domains.push_back(domain.share());
  made->domain_of_node = level.domain_of_node.share();
  return made;
}

std::shared_ptr<const Topology> TopologyTable::publish(const Columns& columns,
                                                       const std::vector<NodeIndex>& by_name) {
  if (!std::exchange(has_news_, false)) return published_;
  auto topology = std::make_shared<Topology>();
  for (auto& [key, level] : levels_) {
    if (!level.is_built) build(key, level, columns, by_name);
    if (level.published == nullptr) level.published = shared(key, level);
    topology->emplace(key, level.published);
  }
  has_news_ = false;
  published_ = std::move(topology);
  return published_;
}

}  // namespace gang::cluster
