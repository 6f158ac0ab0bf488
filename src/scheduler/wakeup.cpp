#include "scheduler/wakeup.h"

#include <algorithm>
#include <string_view>

namespace gang::scheduler {
namespace {

/// FNV-1a over the fields that are told to it, each with its length.
class Hash {
 public:
  void add(std::int64_t number) {
    for (int shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<std::uint8_t>(number >> shift));
    }
  }
  void add(std::string_view text) {
    add(static_cast<std::int64_t>(text.size()));
    for (const char c : text) add_byte(static_cast<std::uint8_t>(c));
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(std::uint8_t byte) {
    value_ ^= byte;
    value_ *= 1099511628211ULL;
  }
  std::uint64_t value_ = 14695981039346656037ULL;
};

void add_group(Hash& hash, const api::PodGroup& group) {
  hash.add(group.meta.unreadable);
  hash.add(static_cast<std::int64_t>(group.spec.policy));
  hash.add(group.spec.min_count);
  hash.add(group.spec.priority);
  hash.add(group.spec.priority_class_name);
  hash.add(group.spec.preemption_policy);
  hash.add(group.spec.parent_name);
  hash.add(group.claims.size());
  for (const std::string& key : group.spec.topology_keys) hash.add(key);
}

void add_member(Hash& hash, const cluster::Gang& gang, const cluster::Member& member) {
  hash.add(member.uid.text);
  hash.add(static_cast<std::int64_t>(member.state));
  hash.add(member.priority);
  hash.add(member.priority_class_name);
  hash.add(member.preemption_policy);
  hash.add(member.scheduler_name);
  if (member.class_index < 0) return;
  const auto& pod_class = gang.classes[static_cast<std::size_t>(member.class_index)];
  hash.add(static_cast<std::int64_t>(pod_class->id.value));
}

void add_claim(Hash& hash, const cluster::GangClaim& claim) {
  hash.add(claim.key.text());
  hash.add(claim.problem);
  if (claim.claim) hash.add(claim.claim->meta.uid.text);
  if (!claim.allocation) return;
  // What nobody uses may be given back.
  hash.add(claim.claim && claim.claim->reserved_for.empty() ? 1 : 0);
  for (const api::DeviceResult& result : claim.allocation->results) {
    hash.add(result.driver);
    hash.add(result.pool);
    hash.add(result.device);
  }
}

}  // namespace

bool WakeUp::may_help(const engine::Demand& demand) const {
  return nodes_ || (devices_ && may_take_devices(demand));
}

bool may_take_devices(const engine::Demand& demand) {
  return std::ranges::any_of(demand.classes, [](const engine::ClassDemand& one) {
    return one.asks_devices() || one.holds_devices || !one.pod_class->container_asks.empty();
  });
}

bool is_decided_by_devices(const engine::Demand& demand) {
  return may_take_devices(demand) &&
         std::ranges::none_of(demand.classes, &engine::ClassDemand::holds_devices);
}

bool nodes_may_help(engine::Verdict verdict) {
  switch (verdict) {
    case engine::Verdict::kImpossibleNow:
    case engine::Verdict::kImpossibleOnFleet:
    case engine::Verdict::kSearchLimitReached:
      return true;
    case engine::Verdict::kWaitingForPods:
    case engine::Verdict::kWaitingForGroup:
    case engine::Verdict::kRuleNotBuilt:
    case engine::Verdict::kInvalid:
    case engine::Verdict::kBinding:
      return false;
  }
  return false;
}

std::uint64_t fingerprint(const cluster::Gang& gang) {
  Hash hash;
  hash.add(gang.uid.text);
  hash.add(gang.parent_missing ? 1 : 0);
  hash.add(gang.counts.done);
  if (gang.group) add_group(hash, *gang.group);
  for (const cluster::Member& member : gang.members) add_member(hash, gang, member);
  for (const cluster::GangClaim& claim : gang.claims) add_claim(hash, claim);
  return hash.value();
}

}  // namespace gang::scheduler
