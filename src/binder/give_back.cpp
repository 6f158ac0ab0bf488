#include "binder/give_back.h"

#include <algorithm>
#include <utility>

namespace gang::binder {

GiveBack::GiveBack(const ClaimPort& port, Task task, std::function<void()> done)
    : port_(port), task_(std::move(task)), done_(std::move(done)) {
  if (!task_.fences_pods) return;
  for (std::size_t i = 0; i < task_.intent.members.size(); ++i) {
    const api::IntentMember& member = task_.intent.members[i];
    if (task_.bound.contains(member.uid)) continue;
    const std::size_t index = fences_.size();
    fences_.push_back(std::make_unique<PodFence>(port_.channel(), member,
                                                 [this, index] { on_fenced(*fences_[index]); }));
  }
}

void GiveBack::start() {
  fences_.empty() ? return_claims() : fence_pods();
}

void GiveBack::fence_pods() {
  const auto max =
      static_cast<std::size_t>(std::max(1, port_.channel().options().writes_in_flight_max));
  while (fences_started_ < fences_.size() && fences_running_ < max) {
    ++fences_running_;
    fences_[fences_started_++]->start();
  }
}

void GiveBack::on_fenced(const PodFence& fence) {
  --fences_running_;
  if (fence.end() == PodFenceEnd::kBound) task_.bound.insert(fence.member().uid);
  if (fence.end() == PodFenceEnd::kRefused && refusal_.empty()) refusal_ = fence.refusal();
  fence_pods();
  if (fences_running_ == 0) return_claims();
}

/// A pod that may still be bound keeps its devices, and so do all.
void GiveBack::return_claims() {
  if (!refusal_.empty()) return done_();
  next_claim();
}

void GiveBack::next_claim() {
  const std::vector<api::IntentClaim>& claims = task_.intent.claims;
  if (!returns_.empty() && refusal_.empty()) refusal_ = returns_.back()->refusal();
  if (returns_.size() == claims.size()) return done_();
  const api::IntentClaim& claim = claims[claims.size() - 1 - returns_.size()];
  returns_.push_back(std::make_unique<ClaimReturn>(
      port_,
      ClaimReturn::Task{.claim = claim,
                        .consumers = idle_consumers(),
                        .moves_version = task_.unsure.contains(claim.uid)},
      [this] { next_claim(); }));
  returns_.back()->start();
}

std::set<api::Uid> GiveBack::idle_consumers() const {
  std::set<api::Uid> idle;
  if (task_.bound.empty() && task_.intent.base == 0) idle.insert(task_.intent.gang_uid);
  for (const api::IntentMember& member : task_.intent.members) {
    if (!task_.bound.contains(member.uid)) idle.insert(member.uid);
  }
  return idle;
}

}  // namespace gang::binder
