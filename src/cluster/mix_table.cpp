#include "cluster/mix_table.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

namespace gang::cluster {
namespace {

/// Adds a request to the wish; false where the sum could not be told by one number.
bool add_request(const api::DeviceRequest& request, DeviceWish& wish) {
  if (!request.exactly) return false;
  const api::DeviceAsk& ask = *request.exactly;
  const bool is_count = ask.mode == api::AllocationMode::kExactCount && ask.count >= 1 &&
                        ask.count <= std::numeric_limits<std::int16_t>::max();
  if (!is_count || ask.admin_access.value_or(false)) return false;
  if (wish.count > 0 && wish.capacity != ask.capacity) return false;
  wish.count += static_cast<std::int32_t>(ask.count);
  wish.capacity = ask.capacity;
  return true;
}

bool asks_for_whole(const api::ClaimSpec& spec) {
  return std::ranges::all_of(spec.requests, [](const api::DeviceRequest& request) {
    return request.exactly && request.exactly->capacity.empty();
  });
}

}  // namespace

DeviceWish wish_of(const Gang& gang, const Member& member) {
  DeviceWish wish;
  for (const std::int32_t index : member.claims) {
    const GangClaim& claim = gang.claims[static_cast<std::size_t>(index)];
    if (claim.allocation != nullptr) continue;
    // Two claims may have parts of one device.
    const bool is_own = claim.claim != nullptr && !claim.of_group && wish.capacity.empty() &&
                        (wish.count == 0 || asks_for_whole(claim.claim->spec));
    const bool is_told =
        is_own && std::ranges::all_of(claim.claim->spec.requests,
                                      [&wish](const auto& one) { return add_request(one, wish); });
    if (!is_told) return {.count = 0, .capacity = {}, .is_plain = false};
  }
  return wish;
}

void MixTable::note(const Gang& gang) {
  for (const Member& member : gang.members) {
    if (member.class_index < 0) continue;
    DeviceWish wish = wish_of(gang, member);
    if (!wish.is_plain) continue;
    note(gang.classes[static_cast<std::size_t>(member.class_index)], std::move(wish));
  }
}

void MixTable::note(const std::shared_ptr<const PodClass>& pod_class, DeviceWish devices) {
  const Key key(pod_class->id, std::move(devices));
  const auto [at, is_new] = entries_.try_emplace(key);
  if (is_new) {
    at->second = {.request = {.pod_class = pod_class, .devices = key.second}, .first_seen = seen_};
  }
  at->second.request.weight += RequestMix::kUnit;
  ++seen_;
  if (entries_.size() > kKeptMax) drop_lightest();
  if (seen_ % kForgetEvery == 0) forget_some();
  if (seen_ < next_publication_) return;
  next_publication_ = seen_ + 1 + std::min(kPublishMax, seen_ / 2);
  publish();
}

void MixTable::forget_some() {
  first_weight_ -= first_weight_ / kForgottenPart;
  for (auto at = entries_.begin(); at != entries_.end();) {
    std::int64_t& weight = at->second.request.weight;
    weight -= weight / kForgottenPart;
    at = weight < RequestMix::kUnit / 64 ? entries_.erase(at) : std::next(at);
  }
}

/// Of those that weigh the same the one that came first.
void MixTable::drop_lightest() {
  entries_.erase(std::ranges::min_element(entries_, {}, [](const auto& entry) {
    return std::pair(entry.second.request.weight, entry.second.first_seen);
  }));
}

void MixTable::publish() {
  std::vector<const Entry*> order;
  order.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) order.push_back(&entry);
  std::ranges::sort(order, [](const Entry* a, const Entry* b) {
    return std::tie(b->request.weight, a->first_seen) < std::tie(a->request.weight, b->first_seen);
  });
  auto mix = std::make_shared<RequestMix>();
  mix->first_weight = first_weight_;
  mix->requests.reserve(order.size());
  for (const Entry* entry : order) mix->requests.push_back(entry->request);
  latest_ = std::move(mix);
}

}  // namespace gang::cluster
