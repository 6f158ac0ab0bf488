#include "scheduler/recovery.h"

#include <fmt/format.h>
#include <algorithm>

#include "scheduler/stamp.h"

namespace gang::scheduler {
namespace {

using cluster::Gang;
using cluster::Member;
using cluster::MemberState;

/// The stamp that every bound member carries; "" when one has none, or another one.
std::string common_stamp(const Gang& gang) {
  const std::string* common = nullptr;
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound) continue;
    if (common != nullptr && member.stamp != *common) return "";
    common = &member.stamp;
  }
  return common != nullptr ? *common : "";
}

}  // namespace

std::vector<engine::Assignment> bound_before(const Gang& gang, const std::string& epoch) {
  std::vector<engine::Assignment> pods;
  for (const Member& member : gang.members) {
    if (member.state != MemberState::kBound) continue;
    const auto stamp = parse_stamp(member.stamp);
    if (!stamp || stamp->round.starts_with(epoch + "-")) continue;
    pods.push_back({.pod = member.key,
                    .uid = member.uid,
                    .resource_version = member.resource_version,
                    .node = {},
                    .node_name = member.node_name});
  }
  return pods;
}

bool is_ours(const Gang& gang, const std::string& scheduler_name) {
  return std::ranges::all_of(
      gang.members, [&](const Member& member) { return member.scheduler_name == scheduler_name; });
}

Recovery recover(const Gang& gang, bool is_recorded, std::int32_t minimum) {
  const std::int32_t bound = gang.counts.bound;
  Recovery result{.minimum = minimum};
  if (bound == 0) return result;
  if (is_recorded) {
    result.standing = bound < minimum ? Standing::kDegraded : Standing::kFinished;
    return result;
  }
  const std::string stamp = common_stamp(gang);
  const auto parsed = parse_stamp(stamp);
  if (parsed) {
    result.stamp = stamp;
    result.minimum = parsed->minimum;
  }
  if (bound >= std::min(minimum, result.minimum)) {
    result.minimum = std::min(minimum, result.minimum);
    result.standing = Standing::kRecordMissing;
  } else {
    result.standing = parsed ? Standing::kHalfBound : Standing::kUnknownOrigin;
  }
  return result;
}

std::string rollback_obstacle(const Gang& gang, const std::string& stamp,
                              const std::string& scheduler_name) {
  const auto parsed = parse_stamp(stamp);
  if (!parsed) return "the round that bound them is not known";
  if (!parsed->from_nothing()) return "others were bound before the round";
  for (const Member& member : gang.members) {
    if (member.state == MemberState::kAssumed) {
      return fmt::format("the binding of {} is not confirmed", member.key.text());
    }
    if (member.state != MemberState::kBound) continue;
    if (member.stamp != stamp || member.scheduler_name != scheduler_name) {
      return fmt::format("{} was not bound by this round", member.key.text());
    }
    if (!member.has_controller) {
      return fmt::format("{} has no controller that would replace it", member.key.text());
    }
  }
  return "";
}

}  // namespace gang::scheduler
