// Placement: the nodes that a gang is placed on in one trial: all of them, or those of one domain
// of a topology level. Source: the gang contract, 4.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/draft.h"
#include "engine/table_cache.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// A snapshot and the tables of the gang's classes that know these nodes and no others, so that
/// everything that searches, filters, scores and explains reads them as if they were the cluster.
/// Lives for one trial; single thread. The tables of a domain are copies: what is placed on them
/// leaves those of the cluster as they are.
class Placement {
 public:
  /// `domain`: null for all nodes. `classes` are those of the snapshot, with nothing placed. All
  /// outlive it.
  Placement(const cluster::Snapshot& snapshot, const std::shared_ptr<const cluster::Domain>& domain,
            const std::vector<DraftClass>& classes, const TableCache& tables);
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  [[nodiscard]] const cluster::Snapshot& snapshot() const { return part_ ? *part_ : whole_; }
  [[nodiscard]] const std::vector<DraftClass>& classes() const { return classes_; }

 private:
  const cluster::Snapshot& whole_;
  std::optional<cluster::Snapshot> part_;
  std::vector<CapacityTable> tables_;  ///< of a domain, by class
  std::vector<DraftClass> classes_;
};

}  // namespace gang::engine
