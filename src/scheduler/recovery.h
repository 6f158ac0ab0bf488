// Recovery: what the objects alone say about a gang, and whether its members may be deleted.
//
// The table of chapter 6 of the commit protocol for rounds without intent. It is asked after every
// change, not only at start: a crash and a failed round leave the same objects behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/gang.h"
#include "gang/engine/plan.h"

namespace gang::scheduler {

enum class Standing {
  kNothingBound,   ///< nothing happened yet, or a new life of a group: queue
  kFinished,       ///< recorded and whole
  kDegraded,       ///< recorded, fewer bound than the minimum: forward only
  kRecordMissing,  ///< whole, not recorded: write the record
  kHalfBound,      ///< every bound member carries one stamp of ours: repair, then roll back
  kUnknownOrigin,  ///< bound without or with mixed stamps: repair, never delete
};

/// The verdict of the table. Value.
struct Recovery {
  Standing standing = Standing::kNothingBound;
  std::string stamp;         ///< kHalfBound: the one stamp; kRecordMissing: the one stamp or ""
  std::int32_t minimum = 1;  ///< the minimum by which the round is judged
};

/// The bound members that carry a stamp of another process than `epoch`. O(members).
[[nodiscard]] std::vector<engine::Assignment> bound_before(const cluster::Gang& gang,
                                                           const std::string& epoch);

/// Whether every member names our schedulerName, so that the group is ours to judge. O(members).
[[nodiscard]] bool is_ours(const cluster::Gang& gang, const std::string& scheduler_name);

/// `minimum` is the effective minimum; a round that was stamped is judged by its own, so that a
/// minCount that moved meanwhile neither undoes nor completes it. REQUIRES: a PodGroup gang.
[[nodiscard]] Recovery recover(const cluster::Gang& gang, bool is_recorded, std::int32_t minimum);

/// Empty when every bound member may be deleted to undo the round of `stamp`, else the reason that
/// forbids it (commit protocol 5.6, rules 3 to 5), for people. O(members).
[[nodiscard]] std::string rollback_obstacle(const cluster::Gang& gang, const std::string& stamp,
                                            const std::string& scheduler_name);

}  // namespace gang::scheduler
