#include "gang/cluster/device_pool.h"

#include <algorithm>
#include <span>
#include <utility>

#include "cluster/kept_objects.h"
#include "cluster/part_maker.h"
#include "gang/base/check.h"

namespace gang::cluster {
namespace {

bool uses_compatibility_groups(const api::ResourceSlice& slice) {
  return std::ranges::any_of(slice.devices, [](const api::Device& device) {
    return std::ranges::any_of(device.consumes_counters, [](const auto& consumption) {
      return !consumption.compatibility_groups.empty();
    });
  });
}

/// Whether the slice counts among those of its pool.
bool counts(const api::ResourceSlice& slice, const DeviceFeatures& features) {
  return features.compatibility_groups || !uses_compatibility_groups(slice);
}

/// Whether its devices are offered. One of partitions counts also where these are off.
bool is_readable(const api::ResourceSlice& slice, const DeviceFeatures& features) {
  const bool partitions = slice.per_device_node_selection || !slice.shared_counters.empty();
  return (!partitions || features.partitionable_devices) && counts(slice, features);
}

/// Parts of a pool by name of their slices, asked for in this order.
class PartWalk {
 public:
  explicit PartWalk(const DevicePool* pool) {
    if (pool != nullptr) parts_ = pool->parts();
  }

  /// The part of exactly that slice, or null.
  const PartPtr* of(const SlicePtr& slice) {
    const auto is_earlier = [&slice](const SlicePtr& one) {
      return one != slice && one->meta.key.name < slice->meta.key.name;
    };
    while (at_ < parts_.size() && is_earlier(parts_[at_]->slice)) ++at_;
    const bool is_there = at_ < parts_.size() && parts_[at_]->slice == slice;
    return is_there ? &parts_[at_] : nullptr;
  }

 private:
  std::span<const PartPtr> parts_;
  std::size_t at_ = 0;
};

/// Rules of one of the lists for which the other has none that says the same. Both are by name.
std::vector<RulePtr> rules_beside(const std::vector<RulePtr>& rules,
                                  const std::vector<RulePtr>& others) {
  std::vector<RulePtr> found;
  auto other = others.begin();
  for (const RulePtr& rule : rules) {
    while (other != others.end() && (*other)->meta.key < rule->meta.key) ++other;
    const bool is_same =
        other != others.end() && (*other == rule || differ_in_metadata_only(**other, *rule));
    if (!is_same) found.push_back(rule);
  }
  return found;
}

std::vector<RulePtr> changed_rules(const std::vector<RulePtr>& before,
                                   const std::vector<RulePtr>& now) {
  if (before == now) return {};
  std::vector<RulePtr> changed = rules_beside(before, now);
  const std::vector<RulePtr> added = rules_beside(now, before);
  changed.insert(changed.end(), added.begin(), added.end());
  return changed;
}

/// Most pools have none and share that.
const std::shared_ptr<const PoolCounters>& no_counters() {
  static const auto kNone = std::make_shared<const PoolCounters>();
  return kNone;
}

}  // namespace

DevicePool::DevicePool(const Parts& parts, const DeviceFeatures& features, Names& names)
    : rules_(parts.rules) {
  CHECK(!parts.slices.empty());
  const std::vector<Piece> pieces = newest_of(parts, features);
  std::vector<SlicePtr> declaring;
  for (const Piece& piece : pieces) {
    if (!piece.slice->shared_counters.empty()) declaring.push_back(piece.slice);
  }
  const auto& known = parts.before == nullptr ? no_counters() : parts.before->counters_;
  counters_ = known->slices == declaring ? known : counters_of(std::move(declaring));
  if (!counters_->problem.empty()) refuse(counters_->problem);

  const bool has_moved = !has_same_positions(*known, *counters_);
  std::vector<RulePtr> changed;
  if (parts.before != nullptr) changed = changed_rules(parts.before->rules_, rules_);
  const auto serves = [&](const PoolPart& part) {
    if (part.has_counters && has_moved) return false;
    return std::ranges::none_of(changed, [&](const auto& rule) { return taints(*rule, part); });
  };
  const PartMaker maker{rules_, *counters_, features, names};
  parts_.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    const bool is_kept = piece.part != nullptr && serves(*piece.part);
    parts_.push_back(is_kept ? piece.part : maker.make(piece.slice, state_));
    if (!parts_.back()->problem.empty()) refuse(parts_.back()->problem);
  }
  NameFacts facts = names.settle(*this, parts.before);
  has_unique_names_ = facts.are_unique;
  unseen_ = std::move(facts.unseen);
}

/// By name, and only what of them can be read; says also whether the generation is complete.
std::vector<DevicePool::Piece> DevicePool::newest_of(const Parts& parts,
                                                     const DeviceFeatures& features) {
  std::int64_t newest = parts.slices.front()->pool_generation;
  for (const SlicePtr& slice : parts.slices) newest = std::max(newest, slice->pool_generation);
  std::vector<Piece> pieces;
  for (const SlicePtr& slice : parts.slices) {
    if (slice->pool_generation == newest) pieces.push_back({.slice = slice, .part = nullptr});
  }
  std::ranges::sort(pieces, {}, [](const Piece& piece) -> const std::string& {
    return piece.slice->meta.key.name;
  });
  // Nothing of a pool that was unseen was looked at.
  const bool knows = parts.before != nullptr && parts.before->state_ != PoolState::kUnseen;
  PartWalk walk(knows ? parts.before : nullptr);
  for (Piece& piece : pieces) {
    if (const PartPtr* part = walk.of(piece.slice)) piece.part = *part;
  }
  keep_readable(pieces, features);
  return pieces;
}

void DevicePool::keep_readable(std::vector<Piece>& pieces, const DeviceFeatures& features) {
  const std::int64_t wanted = pieces.front().slice->pool_slice_count;
  for (const Piece& piece : pieces) {
    const api::ResourceSlice& slice = *piece.slice;
    if (!slice.meta.unreadable.empty()) {
      refuse("ResourceSlice " + slice.meta.key.name + ": " + slice.meta.unreadable);
    }
    if (slice.pool_slice_count != wanted) refuse("inconsistent resourceSliceCount");
  }
  const Piece first = pieces.front();
  // What has a part was readable and counted.
  const auto found = std::ranges::count_if(pieces, [&features](const Piece& piece) {
    return piece.part != nullptr || counts(*piece.slice, features);
  });
  std::erase_if(pieces, [&features](const Piece& piece) {
    return piece.part == nullptr && !is_readable(*piece.slice, features);
  });
  if (pieces.empty()) {
    pieces.push_back(first);
    state_ = PoolState::kUnseen;
  }
  if (state_ != PoolState::kReady || found == wanted) return;
  state_ = PoolState::kIncomplete;
  problem_ = std::to_string(found) + " of " + std::to_string(wanted) + " slices are there";
}

/// The first problem is the one that is told.
void DevicePool::refuse(const std::string& problem) {
  if (state_ != PoolState::kReady) return;
  state_ = PoolState::kInvalid;
  problem_ = problem;
}

std::vector<const PoolPart*> parts_beside(const DevicePool& pool, const DevicePool* other) {
  std::vector<const PoolPart*> found;
  PartWalk walk(other);
  for (const PartPtr& part : pool.parts()) {
    if (walk.of(part->slice) == nullptr) found.push_back(part.get());
  }
  return found;
}

Result<bool> is_usable_on(const api::DevicePlace& place, const api::NodeFacts& node) {
  if (!place.node_name.empty()) return place.node_name == node.name;
  if (place.all_nodes) return true;
  if (!place.node_selector) return false;
  for (const api::NodeSelectorTerm& term : place.node_selector->terms) {
    if (std::string problem = api::term_problem(term); !problem.empty()) {
      return fail(Code::kInvalidArgument, std::move(problem));
    }
  }
  return api::matches(*place.node_selector, node);
}

}  // namespace gang::cluster
