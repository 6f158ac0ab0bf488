#include "binder/give_back.h"

#include <algorithm>
#include <utility>

namespace gang::binder {

GiveBack::GiveBack(const ClaimPort& port, Task task, Gate gate, std::function<void()> done)
    : port_(port), task_(std::move(task)), gate_(std::move(gate)), done_(std::move(done)) {
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

std::int32_t GiveBack::bound_count() const {
  return static_cast<std::int32_t>(std::ranges::count_if(
      task_.intent.members,
      [this](const api::IntentMember& member) { return task_.bound.contains(member.uid); }));
}

std::int32_t GiveBack::given_back_count() const {
  const auto has_changed = [](const auto& step) {
    return step->has_changed() && step->refusal().empty();
  };
  return static_cast<std::int32_t>(std::ranges::count_if(returns_, has_changed) +
                                   std::ranges::count_if(removals_, has_changed));
}

std::string GiveBack::trouble() const {
  for (const auto& fence : fences_) {
    if (!fence->trouble().empty()) return fence->trouble();
  }
  if (!removals_.empty() && !removals_.back()->trouble().empty())
    return removals_.back()->trouble();
  return returns_.empty() ? "" : returns_.back()->trouble();
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
  claims_left_ = task_.intent.claims.size();
  next_claim();
}

void GiveBack::next_claim() {
  if (claims_left_ == 0) return done_();
  const api::IntentClaim& claim = task_.intent.claims[--claims_left_];
  claim.made_for.empty() ? return_claim(claim) : remove_claim(claim);
}

/// One that was made for a bound member stays; so does one for a pod that is no member.
void GiveBack::remove_claim(const api::IntentClaim& claim) {
  const std::vector<api::IntentMember>& members = task_.intent.members;
  const bool is_member =
      std::ranges::find(members, claim.made_for, &api::IntentMember::uid) != members.end();
  if (!is_member || task_.bound.contains(claim.made_for)) return next_claim();
  removals_.push_back(
      std::make_unique<ClaimRemoval>(port_, claim, [this] { go_on(removals_.back()->refusal()); }));
  removals_.back()->start();
}

void GiveBack::return_claim(const api::IntentClaim& claim) {
  returns_.push_back(std::make_unique<ClaimReturn>(
      port_,
      ClaimReturn::Task{.claim = claim,
                        .consumers = idle_consumers(),
                        .moves_version = task_.unsure.contains(claim.uid),
                        .gate = gate_},
      [this] { on_returned(*returns_.back()); }));
  returns_.back()->start();
}

void GiveBack::on_returned(const ClaimReturn& step) {
  step.is_overtaken() ? done_() : go_on(step.refusal());
}

void GiveBack::go_on(const std::string& refusal) {
  if (refusal_.empty()) refusal_ = refusal;
  next_claim();
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
