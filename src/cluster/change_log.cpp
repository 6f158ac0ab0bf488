#include "cluster/change_log.h"

#include <algorithm>

namespace gang::cluster {

Change ChangeLog::finish() {
  // By id, real changes before status changes: the first of each id decides.
  std::sort(gangs_.begin(), gangs_.end());
  Change change;
  change.nodes = nodes_;
  change.devices_gained = devices_gained_;
  change.devices_lost = devices_lost_;
  change.rejections = std::move(rejections_);
  change.device_troubles = std::move(device_troubles_);
  for (const auto& [id, status_only] : gangs_) {
    if (!change.gangs.empty() && change.gangs.back().value == id) continue;
    change.gangs.push_back(GangId{id});
    if (status_only) change.status_only.push_back(GangId{id});
  }
  return change;
}

}  // namespace gang::cluster
