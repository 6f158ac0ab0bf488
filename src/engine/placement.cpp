#include "engine/placement.h"

namespace gang::engine {

Placement::Placement(const cluster::Snapshot& snapshot,
                     const std::shared_ptr<const cluster::Domain>& domain,
                     const std::vector<DraftClass>& classes, const TableCache& tables)
    : whole_(snapshot), classes_(classes) {
  if (domain == nullptr) return;
  part_.emplace(snapshot.within(domain));
  std::vector<std::uint32_t> ranks;
  ranks.reserve(domain->nodes.size());
  for (const cluster::NodeIndex node : domain->nodes) ranks.push_back(tables.rank_of(node));
  tables_.reserve(classes.size());
  for (DraftClass& demand : classes_) {
    tables_.emplace_back(*demand.table, ranks);
    demand.table = &tables_.back();
  }
}

}  // namespace gang::engine
