#include "engine/device_draft.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/device_bound.h"
#include "engine/device_held.h"
#include "engine/device_rating.h"
#include "engine/device_result.h"

namespace gang::engine {
namespace {

using End = DeviceStep::End;

/// What a search works with. All outlive it.
struct SearchParts {
  const DeviceInputs& inputs;
  const DeviceNode& node;
  const DeviceSearch& search;
  const DeviceLedger& ledger;
  std::vector<api::Allocation>& solution;  ///< where it is kept, by claim
};

/// Keeps the first solution that differs from those that were offered before.
class KeepNew final : public AfterDevices {
 public:
  /// Without `alike` every solution is new.
  KeepNew(const SearchParts& parts, const DeviceAlike* alike, SolutionsSeen* seen)
      : parts_(parts), alike_(alike), seen_(seen) {}

  DeviceStep solved() override {
    const DeviceSearch& search = parts_.search;
    if (alike_ != nullptr &&
        !seen_->insert(alike_->signature(search.chosen(), parts_.ledger)).second) {
      return {.end = End::kNo, .message = {}};
    }
    parts_.solution.clear();
    for (std::size_t i = 0; i < search.claims().size(); ++i) {
      auto allocation =
          allocation_of(parts_.inputs, parts_.node, search.claims()[i], search.chosen()[i]);
      if (!allocation) return {.end = End::kFatal, .message = allocation.error().message};
      parts_.solution.push_back(*std::move(allocation));
    }
    return {};
  }

 private:
  const SearchParts parts_;
  const DeviceAlike* alike_;
  SolutionsSeen* seen_;
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
      search_(attempt_),
      allocations_(claims_.size()) {
  users_.reserve(claims_.size());
  for (const cluster::GangClaim& claim : claims_) {
    users_.push_back(claim.claim == nullptr ? 0 : claim.claim->reserved_for.size());
  }
  if (stage.inputs.view != nullptr) check_held();
}

/// What a round of ours has just decided is checked before it binds anybody.
void DeviceDraft::check_held() {
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (claims_[i].allocation == nullptr || claims_[i].is_assumed) continue;
    std::string problem =
        engine::held_problem(*claims_[i].allocation, *stage_.inputs.view, stage_.inputs.features);
    if (!problem.empty()) held_problems_.emplace(i, std::move(problem));
  }
}

DeviceDraft::NodeBooks& DeviceDraft::books_of(const cluster::NodeInfo& node) {
  const auto known = nodes_.find(node.name);
  if (known != nodes_.end()) return known->second;
  return nodes_.try_emplace(node.name, node.name, device_node_of(node, stage_.pools_of(node.name)))
      .first->second;
}

std::vector<PreparedClaim>& DeviceDraft::specs_of(NodeBooks& books) {
  if (books.specs) return *books.specs;
  books.specs.emplace();
  std::vector<const api::ResourceClaim*> claims;
  if (stage_.extended_on) claims = stage_.extended_on(*books.name);
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

PreparedClaim* DeviceDraft::spec_of(NodeBooks& books, const api::ClaimSpec& spec) {
  const auto found = std::ranges::find_if(
      specs_of(books), [&spec](const PreparedClaim& one) { return one.claim->spec == spec; });
  return found == books.specs->end() ? nullptr : &*found;
}

DeviceAlike& DeviceDraft::alike_of(NodeBooks& books) {
  if (!books.alike)
    books.alike.emplace(stage_.inputs, *books.devices, specs_of(books), stage_.usage);
  return *books.alike;
}

std::string DeviceDraft::state_of(const cluster::NodeInfo& node) {
  NodeBooks& books = books_of(node);
  return books.devices ? alike_of(books).state(ledger_) : std::string();
}

std::int32_t DeviceDraft::bound_of(const DeviceWants& wants, const cluster::NodeInfo& node) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  NodeBooks& books = books_of(node);
  std::int64_t bound = kMost;
  if (!books.devices) return 0;
  for (const api::ResourceClaim* claim : open_claims(wants).claims) {
    PreparedClaim* spec = spec_of(books, claim->spec);
    if (spec == nullptr) continue;
    const DeviceBound of_claim(stage_.inputs, *books.devices, ledger_);
    bound = std::min(bound, of_claim.claims_like(*spec));
  }
  return static_cast<std::int32_t>(bound);
}

std::int32_t DeviceDraft::match_count(const DeviceWants& wants, const cluster::NodeInfo& node) {
  NodeBooks& books = books_of(node);
  if (!books.devices) return 0;
  for (const api::ResourceClaim* claim : open_claims(wants).claims) {
    PreparedClaim* spec = spec_of(books, claim->spec);
    if (spec == nullptr || spec->requests.empty()) continue;
    const DeviceBound bound(stage_.inputs, *books.devices, ledger_);
    return static_cast<std::int32_t>(
        bound.selected(*spec, spec->requests.front().asks.front()).size());
  }
  return 0;
}

NodeDevices DeviceDraft::counts_of(const cluster::NodeInfo& node) {
  NodeDevices counts;
  const Result<DeviceNode>& devices = devices_of(node);
  if (!devices) return counts;
  for (const DeviceCandidate& candidate : devices->candidates) {
    const cluster::DeviceTaken* taken = stage_.usage.find(candidate.device->id);
    add_device(*candidate.device->device, taken != nullptr && taken->is_used(), counts);
  }
  return counts;
}

bool DeviceDraft::is_local(const cluster::NodeInfo& node) {
  const Result<DeviceNode>& devices = devices_of(node);
  return devices && std::ranges::all_of(devices->pools, [](const NodePool& view) {
           return std::ranges::all_of(view.pool->parts(), [](const cluster::PartPtr& part) {
             return engine::is_local(*part->slice);
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

std::string DeviceDraft::held_problem(std::size_t claim) const {
  const auto found = held_problems_.find(claim);
  return found != held_problems_.end() ? found->second : "";
}

bool DeviceDraft::is_usable(std::size_t claim, const api::NodeFacts& node) const {
  if (held_problems_.contains(claim)) return false;
  const api::Allocation* held = claims_[claim].allocation.get();
  const api::Allocation& allocation = held != nullptr ? *held : *allocations_[claim];
  return !allocation.node_selector || api::matches(*allocation.node_selector, node);
}

/// Claims of the wants that nobody has decided, that for extended resources last.
const DeviceDraft::OpenClaims& DeviceDraft::open_claims(const DeviceWants& wants) {
  open_.claims.clear();
  open_.slots.clear();
  open_.turn = wants.turn;
  for (const std::size_t claim : wants.claims) {
    if (!is_open(claim)) continue;
    open_.claims.push_back(claims_[claim].claim.get());
    open_.slots.push_back(claim);
  }
  if (wants.extended != nullptr) {
    open_.claims.push_back(wants.extended);
    open_.slots.push_back(claims_.size() + wants.member);
  }
  return open_;
}

bool DeviceDraft::is_full(const DeviceWants& wants) const {
  return std::ranges::any_of(wants.joins,
                             [this](std::size_t claim) { return users_[claim] >= kConsumersMax; });
}

DeviceStep DeviceDraft::place(const DeviceWants& wants, const cluster::NodeInfo& node,
                              SolutionsSeen* seen) {
  if (!attempt_.step()) return DeviceAttempt::at_limit();
  if (is_full(wants)) return {.end = End::kNo, .message = "a claim has its most users"};
  const api::NodeFacts facts{.name = node.name, .labels = node.labels};
  const bool is_usable_here = std::ranges::all_of(
      wants.claims, [&](std::size_t claim) { return is_open(claim) || is_usable(claim, facts); });
  if (!is_usable_here) {
    return {.end = End::kNo, .message = "resourceclaim not available on the node"};
  }
  const OpenClaims& open = open_claims(wants);
  worth_ = {};
  DeviceStep step;
  if (!open.claims.empty()) {
    step = allocate(open, books_of(node), seen);
  } else if (seen != nullptr && !seen->insert("").second) {
    step = {.end = End::kNo, .message = {}};
  }
  if (!step.is_yes()) return step;
  for (const std::size_t claim : wants.joins) {
    ++users_[claim];
    joined_.push_back(claim);
  }
  return step;
}

DeviceStep DeviceDraft::allocate(const OpenClaims& open, NodeBooks& books, SolutionsSeen* seen) {
  if (!books.devices) return {.end = End::kFatal, .message = books.devices.error().message};
  const DeviceAlike* alike = seen == nullptr ? nullptr : &alike_of(books);
  search_.begin(*books.devices, open.claims, open.turn);
  KeepNew keep({stage_.inputs, *books.devices, search_, ledger_, solution_}, alike, seen);
  DeviceStep step = search_.run(keep);
  if (!step.is_yes()) return step;
  worth_ = rating_of(stage_.inputs.avoided, search_.claims(), search_.chosen());
  for (std::size_t i = 0; i < open.slots.size(); ++i) {
    const std::size_t slot = open.slots[i];
    if (slot >= allocations_.size()) allocations_.resize(slot + 1);
    allocations_[slot] = std::move(solution_[i]);
    decided_.push_back(slot);
  }
  return step;
}

void DeviceDraft::rollback(DevicePoint to) {
  ledger_.rollback(to.ledger);
  for (; joined_.size() > to.joined; joined_.pop_back()) --users_[joined_.back()];
  for (; decided_.size() > to.decided; decided_.pop_back()) allocations_[decided_.back()].reset();
}

}  // namespace gang::engine
