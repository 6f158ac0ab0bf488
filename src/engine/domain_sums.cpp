#include "engine/domain_sums.h"

#include <algorithm>

namespace gang::engine {

void DomainSums::build(const cluster::Snapshot& snapshot, const CapacityTable& table,
                       const cluster::TopologyLevel& level) {
  level_id_ = level.id;
  build_ = table.build_number();
  request_count_ = table.rules().pod_class->requests.size();
  rows_.assign(table.size(), {});
  row_free_.assign(table.size() * request_count_, 0);
  row_total_.assign(table.size() * request_count_, 0);
  fits_.assign(level.domains.size(), {});
  free_.assign(level.domains.size() * request_count_, 0);
  totals_.assign(request_count_, 0);
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) put(snapshot, table, level, rank);
  generation_ = snapshot.generation();
}

void DomainSums::refresh(const cluster::Snapshot& snapshot, const CapacityTable& table,
                         const cluster::TopologyLevel& level,
                         std::span<const std::uint32_t> ranks) {
  fits_.resize(level.domains.size());
  free_.resize(level.domains.size() * request_count_, 0);
  for (const std::uint32_t rank : ranks) {
    add(rank, -1);
    put(snapshot, table, level, rank);
  }
  generation_ = snapshot.generation();
}

/// REQUIRES: the row of the rank is in no sum.
void DomainSums::put(const cluster::Snapshot& snapshot, const CapacityTable& table,
                     const cluster::TopologyLevel& level, std::uint32_t rank) {
  const cluster::NodeIndex node = snapshot.by_name()[rank];
  const NodeEntry& entry = table.entry(rank);
  const bool is_closed = (entry.reasons & table.rules().facts_lines) != 0;
  rows_[rank] = {.domain = level.domain_of(node),
                 .fits = {.now = entry.capacity, .on_fleet = table.fleet_capacity(rank)}};
  const NodeUse use(snapshot, node, nullptr);
  const auto& requests = table.rules().pod_class->requests;
  for (std::size_t i = 0; i < request_count_; ++i) {
    const std::int64_t total = is_closed ? 0 : use.allocatable(requests[i].resource);
    const std::int64_t used = is_closed ? 0 : use.requested(requests[i].resource);
    row_total_[rank * request_count_ + i] = total;
    row_free_[rank * request_count_ + i] = std::max<std::int64_t>(0, total - used);
  }
  add(rank, 1);
}

void DomainSums::add(std::uint32_t rank, std::int64_t sign) {
  const Row& row = rows_[rank];
  const std::size_t at = rank * request_count_;
  for (std::size_t i = 0; i < request_count_; ++i) totals_[i] += sign * row_total_[at + i];
  if (row.domain == cluster::TopologyLevel::kNoDomain) return;
  fits_[row.domain].now += sign * row.fits.now;
  fits_[row.domain].on_fleet += sign * row.fits.on_fleet;
  for (std::size_t i = 0; i < request_count_; ++i) {
    free_[row.domain * request_count_ + i] += sign * row_free_[at + i];
  }
}

}  // namespace gang::engine
