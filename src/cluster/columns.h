// Columns: the chunks of a snapshot while they are written.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/resource_table.h"
#include "cluster/shared_chunk.h"
#include "gang/cluster/snapshot.h"

namespace gang::cluster {

/// All columns of all node slots. Owned by NodeTable. Sums saturate at the int64 limits.
/// Always: every change gives its slot and chunk a generation of its own. Knows no names, no pods.
class Columns {
 public:
  /// Appends a chunk of empty slots.
  void add_chunk();
  [[nodiscard]] std::uint32_t slot_count() const {
    return static_cast<std::uint32_t>(usage_.size()) * kChunkSize;
  }

  /// Adds a pod to a slot. False when a sum saturated: subtracting will not give it back.
  bool add(NodeIndex node, const Footprint& footprint);
  void subtract(NodeIndex node, const Footprint& footprint);
  /// Sets the sums of a slot to 0 and leaves its ports, to add all pods again with add_amounts().
  void clear_amounts(NodeIndex node);
  bool add_amounts(NodeIndex node, const Footprint& footprint);

  /// Sets facts; `allocatable` is indexed by resource and may be shorter than the columns.
  void set_facts(NodeIndex node, std::shared_ptr<const NodeInfo> info,
                 const std::vector<std::int64_t>& allocatable);

  [[nodiscard]] const NodeInfo* info(NodeIndex node) const;
  [[nodiscard]] std::int64_t allocatable(NodeIndex node, ResourceId resource) const;
  [[nodiscard]] std::int64_t requested(NodeIndex node, ResourceId resource) const;
  [[nodiscard]] api::NonZeroRequests nonzero(NodeIndex node) const;
  [[nodiscard]] std::uint32_t resource_count(NodeIndex node) const;
  [[nodiscard]] const UsageChunk& usage(NodeIndex node) const;

  /// Moves the counter on without a change of a slot.
  Generation advance() { return ++generation_; }
  [[nodiscard]] Generation generation() const { return generation_; }
  /// Fills generation, usage, facts and chunk_generation.
  void share(Snapshot::Parts& parts);

 private:
  UsageChunk& touch(NodeIndex node);

  std::vector<SharedChunk<UsageChunk>> usage_;
  std::vector<SharedChunk<FactsChunk>> facts_;
  std::vector<Generation> chunk_generation_;
  Generation generation_ = 0;
};

}  // namespace gang::cluster
