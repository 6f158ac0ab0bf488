#include "engine/device_draft.h"

#include <algorithm>
#include <utility>

#include "engine/device_alike.h"
#include "engine/device_result.h"

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// Keeps the first solution that differs from those that were offered before.
class KeepNew final : public AfterDevices {
 public:
  /// Without `alike` every solution is new.
  KeepNew(const DeviceInputs& inputs, const DeviceNode& node, const DeviceSearch& search,
          DeviceAlike* alike, SolutionsSeen* seen)
      : inputs_(inputs), node_(node), search_(search), alike_(alike), seen_(seen) {}

  DeviceStep solved() override {
    if (alike_ != nullptr && !seen_->insert(alike_->signature(search_.chosen())).second) {
      return {.end = End::kNo, .message = {}};
    }
    allocations_.clear();
    for (std::size_t i = 0; i < search_.claims().size(); ++i) {
      auto allocation = allocation_of(inputs_, node_, search_.claims()[i], search_.chosen()[i]);
      if (!allocation) return {.end = End::kFatal, .message = allocation.error().message};
      allocations_.push_back(*std::move(allocation));
    }
    return {};
  }

  [[nodiscard]] std::vector<api::Allocation> take() { return std::move(allocations_); }

 private:
  const DeviceInputs& inputs_;
  const DeviceNode& node_;
  const DeviceSearch& search_;
  DeviceAlike* alike_;
  SolutionsSeen* seen_;
  std::vector<api::Allocation> allocations_;
};

bool is_local(const api::ResourceSlice& slice) {
  return !slice.per_device_node_selection && !slice.place.node_name.empty();
}

}  // namespace

DeviceDraft::DeviceDraft(const DeviceStage& stage, const std::vector<cluster::GangClaim>& claims,
                         std::int64_t steps_max)
    : stage_(stage),
      claims_(claims),
      ledger_(stage.usage, stage.inputs.features),
      attempt_{.inputs = stage.inputs, .ledger = ledger_, .steps_left = steps_max},
      allocations_(claims_.size()) {}

DeviceDraft::NodeBooks& DeviceDraft::books_of(const cluster::NodeInfo& node) {
  const auto known = nodes_.find(node.name);
  if (known != nodes_.end()) return known->second;
  const api::NodeFacts facts{.name = node.name, .labels = node.labels};
  NodeBooks books{
      .name = node.name, .devices = device_node(facts, stage_.pools_of(node.name)), .specs = {}};
  return nodes_.emplace(node.name, std::move(books)).first->second;
}

std::vector<PreparedClaim>& DeviceDraft::specs_of(NodeBooks& books) {
  if (books.specs) return *books.specs;
  books.specs.emplace();
  std::vector<const api::ResourceClaim*> claims;
  if (stage_.extended_on) claims = stage_.extended_on(books.name);
  for (const cluster::GangClaim& claim : claims_) {
    if (claim.claim != nullptr && !claim.allocation) claims.push_back(claim.claim.get());
  }
  for (const api::ResourceClaim* claim : claims) {
    const bool is_known = std::ranges::any_of(
        *books.specs, [claim](const PreparedClaim& one) { return one.claim->spec == claim->spec; });
    if (is_known) continue;
    PreparedClaim prepared{.claim = claim, .requests = {}};
    // One that cannot be prepared here tells no devices apart.
    if (prepare_claim(stage_.inputs, *books.devices, prepared).is_yes()) {
      books.specs->push_back(std::move(prepared));
    }
  }
  return *books.specs;
}

std::int32_t DeviceDraft::free_count(const cluster::NodeInfo& node) {
  const Result<DeviceNode>& devices = devices_of(node);
  if (!devices) return 0;
  return static_cast<std::int32_t>(
      std::ranges::count_if(devices->candidates, [this](const DeviceCandidate& candidate) {
        return !ledger_.is_in_use({.pool = *candidate.pool, .device = *candidate.device});
      }));
}

bool DeviceDraft::is_local(const cluster::NodeInfo& node) {
  const Result<DeviceNode>& devices = devices_of(node);
  return devices && std::ranges::all_of(devices->pools, [](const NodePool& view) {
           return std::ranges::all_of(view.pool->slices(), [](const cluster::SlicePtr& slice) {
             return engine::is_local(*slice);
           });
         });
}

bool DeviceDraft::is_open(std::size_t claim) const {
  return claims_[claim].allocation == nullptr && !allocations_[claim];
}

const api::Allocation* DeviceDraft::decided(std::size_t claim) const {
  return allocations_[claim] ? &*allocations_[claim] : nullptr;
}

const api::Allocation* DeviceDraft::decided_extended(std::size_t member) const {
  const std::size_t slot = claims_.size() + member;
  return slot < allocations_.size() ? decided(slot) : nullptr;
}

bool DeviceDraft::is_usable(std::size_t claim, const api::NodeFacts& node) const {
  const api::Allocation* held = claims_[claim].allocation.get();
  const api::Allocation& allocation = held != nullptr ? *held : *allocations_[claim];
  return !allocation.node_selector || api::matches(*allocation.node_selector, node);
}

DeviceStep DeviceDraft::place(const DeviceWants& wants, const cluster::NodeInfo& node,
                              SolutionsSeen* seen) {
  if (--attempt_.steps_left < 0) {
    return {.end = End::kLimit, .message = "the search for devices reached its limit"};
  }
  const api::NodeFacts facts{.name = node.name, .labels = node.labels};
  std::vector<OpenClaim> open;
  for (const std::size_t claim : wants.claims) {
    if (is_open(claim)) {
      open.push_back({.claim = claims_[claim].claim.get(), .slot = claim});
    } else if (!is_usable(claim, facts)) {
      return {.end = End::kNo, .message = "resourceclaim not available on the node"};
    }
  }
  if (wants.extended != nullptr) {
    const std::size_t slot = claims_.size() + wants.member;
    if (slot >= allocations_.size()) allocations_.resize(slot + 1);
    open.push_back({.claim = wants.extended, .slot = slot});
  }
  if (!open.empty()) return allocate(open, books_of(node), seen);
  const bool is_new = seen == nullptr || seen->insert("").second;
  return {.end = is_new ? End::kYes : End::kNo, .message = {}};
}

DeviceStep DeviceDraft::allocate(const std::vector<OpenClaim>& open, NodeBooks& books,
                                 SolutionsSeen* seen) {
  if (!books.devices) return {.end = End::kFatal, .message = books.devices.error().message};
  std::vector<const api::ResourceClaim*> wanted;
  for (const OpenClaim& one : open) wanted.push_back(one.claim);
  DeviceSearch search(attempt_, *books.devices, wanted);
  std::optional<DeviceAlike> alike;
  if (seen != nullptr) alike.emplace(stage_.inputs, *books.devices, specs_of(books), ledger_);
  KeepNew keep(stage_.inputs, *books.devices, search, alike ? &*alike : nullptr, seen);
  DeviceStep step = search.run(keep);
  if (!step.is_yes()) return step;
  std::vector<api::Allocation> allocations = keep.take();
  for (std::size_t i = 0; i < open.size(); ++i) {
    allocations_[open[i].slot] = std::move(allocations[i]);
    decided_.push_back(open[i].slot);
  }
  return step;
}

void DeviceDraft::rollback(DevicePoint to) {
  ledger_.rollback(to.ledger);
  for (; decided_.size() > to.decided; decided_.pop_back()) allocations_[decided_.back()].reset();
}

}  // namespace gang::engine
