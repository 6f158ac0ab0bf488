#include "cluster/node_table.h"

#include <algorithm>
#include <utility>

#include "cluster/known_objects.h"
#include "gang/base/check.h"

namespace gang::cluster {

std::uint32_t NodeTable::hash(const std::string& name) {
  return HashFold().add(name).value();
}

std::uint32_t NodeTable::find(const std::string& name) const {
  return index_.find(hash(name), [&](std::uint32_t id) { return entries_[id].name == name; });
}

std::optional<NodeIndex> NodeTable::index_of(const std::string& name) const {
  const std::uint32_t id = find(name);
  return id == FlatIndex::kNone ? std::nullopt : std::optional(NodeIndex{id});
}

bool NodeTable::has_name(NodeIndex node) const {
  return node.value < slot_count() && (exists(node) || entries_[node.value].pod_count > 0);
}

NodeIndex NodeTable::intern(const std::string& name) {
  std::uint32_t id = find(name);
  if (id != FlatIndex::kNone) return NodeIndex{id};
  if (unused_.empty()) {
    id = slot_count();
    entries_.emplace_back();
    if (id == columns_.slot_count()) columns_.add_chunk();
  } else {
    id = unused_.back();
    unused_.pop_back();
  }
  entries_[id].name = name;
  index_.insert(hash(name), id);
  return NodeIndex{id};
}

void NodeTable::drop_if_unnamed(NodeIndex node) {
  if (has_name(node)) return;
  Entry& entry = entries_[node.value];
  index_.erase(hash(entry.name), node.value);
  const bool name_changed = entry.name_changed;
  entry = Entry{};
  entry.name_changed = name_changed;
  unused_.push_back(node.value);
}

NodeIndex NodeTable::book(const std::string& node_name, const Footprint& footprint) {
  const NodeIndex node = intern(node_name);
  add(node, footprint);
  return node;
}

void NodeTable::book(NodeIndex node, const Footprint& footprint) {
  CHECK(has_name(node));
  add(node, footprint);
}

void NodeTable::add(NodeIndex node, const Footprint& footprint) {
  Entry& entry = entries_[node.value];
  ++entry.pod_count;
  if (!columns_.add(node, footprint)) entry.saturated = true;
}

bool NodeTable::unbook(NodeIndex node, const Footprint& footprint) {
  Entry& entry = entries_[node.value];
  CHECK(entry.pod_count > 0);
  --entry.pod_count;
  columns_.subtract(node, footprint);
  const bool exact = !entry.saturated;
  drop_if_unnamed(node);
  return exact;
}

void NodeTable::recount_begin(NodeIndex node) {
  columns_.clear_amounts(node);
  entries_[node.value].saturated = false;
}

void NodeTable::recount_add(NodeIndex node, const Footprint& footprint) {
  if (!columns_.add_amounts(node, footprint)) entries_[node.value].saturated = true;
}

std::vector<std::int64_t> NodeTable::allocatable_of(const api::Node& node) {
  std::vector<std::int64_t> result;
  const std::vector<std::string>& bad = node.unreadable_resources;
  for (const auto& [name, quantity] : node.allocatable.entries()) {
    if (!api::is_accounted(name) || std::find(bad.begin(), bad.end(), name) != bad.end()) continue;
    const ResourceId id = resources_.intern(name);
    if (resources_.is_overflow(id)) continue;
    if (result.size() <= id.value) result.resize(id.value + std::size_t{1}, 0);
    result[id.value] = api::whole(name, quantity);
  }
  return result;
}

bool NodeTable::same_facts(NodeIndex node, const NodeInfo& info,
                           const std::vector<std::int64_t>& allocatable) const {
  const NodeInfo* known = columns_.info(node);
  if (known == nullptr || known->uid != info.uid || known->labels != info.labels ||
      known->taints != info.taints || known->unschedulable != info.unschedulable ||
      known->optional_node_operations != info.optional_node_operations ||
      known->unreadable != info.unreadable) {
    return false;
  }
  const std::size_t count =
      std::max<std::size_t>(columns_.resource_count(node), allocatable.size());
  for (std::size_t r = 0; r < count; ++r) {
    const std::int64_t wanted = r < allocatable.size() ? allocatable[r] : 0;
    const ResourceId resource{static_cast<std::uint16_t>(r)};
    if (columns_.allocatable(node, resource) != wanted) return false;
  }
  return true;
}

bool NodeTable::upsert(const api::Node& node, ListNumber list) {
  const NodeIndex index = intern(node.meta.key.name);
  Entry& entry = entries_[index.value];
  const NodeInfo* known = columns_.info(index);
  entry.list = list;
  if (known != nullptr && known->uid == node.meta.uid &&
      !is_news(entry.version, node.meta.resource_version)) {
    return false;
  }
  entry.version = node.meta.resource_version.text;
  entry.own_problem = node.meta.unreadable;

  NodeInfo info;
  info.name = node.meta.key.name;
  info.uid = node.meta.uid;
  info.labels = node.meta.labels;
  info.taints = node.taints;
  info.unschedulable = node.unschedulable;
  info.optional_node_operations = node.optional_node_operations;
  info.unreadable = entry.own_problem.empty() ? entry.pod_problem : entry.own_problem;
  const std::vector<std::int64_t> allocatable = allocatable_of(node);
  if (same_facts(index, info, allocatable)) return false;
  if (known == nullptr) {
    ++node_count_;
    mark_name_changed(index);
  }
  columns_.set_facts(index, std::make_shared<const NodeInfo>(std::move(info)), allocatable);
  return true;
}

bool NodeTable::set_unreadable_pod(NodeIndex node, const std::string& text) {
  Entry& entry = entries_[node.value];
  entry.pod_problem = text;
  const NodeInfo* known = columns_.info(node);
  const std::string& wanted = entry.own_problem.empty() ? text : entry.own_problem;
  if (known == nullptr || known->unreadable == wanted) return false;
  NodeInfo info = *known;
  info.unreadable = wanted;
  std::vector<std::int64_t> allocatable;
  for (std::uint32_t r = 0; r < columns_.resource_count(node); ++r) {
    allocatable.push_back(columns_.allocatable(node, ResourceId{static_cast<std::uint16_t>(r)}));
  }
  columns_.set_facts(node, std::make_shared<const NodeInfo>(std::move(info)), allocatable);
  return true;
}

bool NodeTable::remove(const api::ObjectMeta& meta) {
  const std::uint32_t id = find(meta.key.name);
  if (id == FlatIndex::kNone) return false;
  const NodeInfo* known = columns_.info(NodeIndex{id});
  if (known == nullptr || known->uid != meta.uid) return false;
  remove(NodeIndex{id});
  return true;
}

void NodeTable::remove(NodeIndex node) {
  Entry& entry = entries_[node.value];
  entry.version.clear();
  entry.own_problem.clear();
  columns_.set_facts(node, nullptr, {});
  --node_count_;
  mark_name_changed(node);
  drop_if_unnamed(node);
}

bool NodeTable::sweep(ListNumber list) {
  bool changed = false;
  for (std::uint32_t id = 0; id < slot_count(); ++id) {
    if (!exists(NodeIndex{id}) || entries_[id].list == list) continue;
    remove(NodeIndex{id});
    changed = true;
  }
  return changed;
}

void NodeTable::mark_name_changed(NodeIndex node) {
  if (std::exchange(entries_[node.value].name_changed, true)) return;
  names_changed_.push_back(node);
}

/// Costs one pass over the nodes and a sort of what came: what left or came is taken out of the
/// order, what is there is merged in again.
void NodeTable::refresh_by_name() {
  if (names_changed_.empty()) return;
  const auto before = [this](NodeIndex a, NodeIndex b) { return name(a) < name(b); };
  std::vector<NodeIndex> nodes = *by_name_;
  std::erase_if(nodes, [this](NodeIndex n) { return entries_[n.value].name_changed; });
  const auto kept = static_cast<std::ptrdiff_t>(nodes.size());
  for (const NodeIndex node : names_changed_) {
    entries_[node.value].name_changed = false;
    if (exists(node)) nodes.push_back(node);
  }
  std::sort(nodes.begin() + kept, nodes.end(), before);
  std::inplace_merge(nodes.begin(), nodes.begin() + kept, nodes.end(), before);
  names_changed_.clear();
  by_name_ = std::make_shared<const std::vector<NodeIndex>>(std::move(nodes));
  by_name_generation_ = columns_.generation();
}

std::shared_ptr<const Snapshot> NodeTable::snapshot(TermTable& terms, TopologyTable& topology,
                                                    const SharedParts& shared) {
  const bool new_names = latest_ == nullptr || &latest_->resources() != resources_.names().get();
  const bool has_news = new_names || terms.has_news() || topology.has_news() ||
                        latest_->devices() != shared.devices || latest_->mix() != shared.mix;
  if (has_news) columns_.advance();
  if (!new_names && latest_->generation() == columns_.generation()) return latest_;
  refresh_by_name();
  Snapshot::Parts parts;
  columns_.share(parts);
  parts.by_name = by_name_;
  parts.by_name_generation = by_name_generation_;
  parts.resources = resources_.names();
  parts.terms = terms.publish();
  parts.devices = shared.devices;
  parts.mix = shared.mix;
  parts.topology = topology.publish(columns_, *by_name_);
  latest_ = std::make_shared<const Snapshot>(std::move(parts));
  return latest_;
}

}  // namespace gang::cluster
