#include "sim/claim_rules.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "sim/answers.h"

namespace gang::sim {

namespace {

constexpr std::size_t kConsumersMax = 256;

/// The preconditions of both patches, before everything else. The version of another object of the
/// name differs too, and is looked at first.
template <class Patch>
std::optional<kube::Answer> precondition(const api::ResourceClaim* claim, const Patch& patch) {
  if (claim == nullptr) return not_found("resourceclaim " + patch.claim.text());
  const bool same_version =
      patch.resource_version.empty() || patch.resource_version == claim->meta.resource_version;
  if (!same_version) return conflict("the object has been modified");
  if (patch.uid != claim->meta.uid) return invalid("metadata.uid: field is immutable");
  return std::nullopt;
}

bool has(const std::vector<std::string>& finalizers, const std::string& finalizer) {
  return std::ranges::find(finalizers, finalizer) != finalizers.end();
}

bool has(const std::vector<api::ClaimConsumer>& consumers, const api::Uid& uid) {
  return std::ranges::find(consumers, uid, &api::ClaimConsumer::uid) != consumers.end();
}

/// Whether the claim has the request: "main", or "main/alternative" of a request with alternatives.
bool has_request(const api::ClaimSpec& spec, std::string_view name) {
  const std::size_t slash = name.find('/');
  const auto request = std::ranges::find(spec.requests, name.substr(0, slash),
                                         [](const api::DeviceRequest& r) { return r.name; });
  if (request == spec.requests.end()) return false;
  if (slash == std::string_view::npos) return true;
  return std::ranges::any_of(request->first_available, [&](const api::DeviceAsk& ask) {
    return ask.name == name.substr(slash + 1);
  });
}

std::optional<kube::Answer> refusal_of_allocation(const api::ResourceClaim& claim,
                                                  const api::Allocation& allocation,
                                                  bool admin_access) {
  if (claim.allocation && *claim.allocation != allocation) {
    return invalid("status.allocation: Invalid value: field is immutable");
  }
  for (const api::DeviceResult& result : allocation.results) {
    if (!has_request(claim.spec, result.request)) {
      return invalid(
          "status.allocation.devices.results.request: must be the name of a request in the claim "
          "or the name of a request and a subrequest separated by '/'");
    }
    if (result.admin_access && !admin_access) {
      return invalid(
          "status.allocation.devices.results.adminAccess: Forbidden: admin access to devices "
          "requires the `resource.kubernetes.io/admin-access: true` label on the containing "
          "namespace");
    }
  }
  return std::nullopt;
}

std::optional<kube::Answer> refusal_of_consumers(const api::ResourceClaim& claim,
                                                 const std::vector<api::ClaimConsumer>& consumers,
                                                 bool is_allocated) {
  const std::string field = "status.reservedFor: ";
  if (!consumers.empty() && !is_allocated) {
    return invalid(field + "Forbidden: may not be specified when `allocated` is not set");
  }
  if (consumers.size() > kConsumersMax) {
    return invalid(field + "Too many: " + std::to_string(consumers.size()) +
                   ": must have at most 256 items");
  }
  std::set<api::Uid> seen;
  for (const api::ClaimConsumer& consumer : consumers) {
    if (!seen.insert(consumer.uid).second) {
      return invalid(field + "Duplicate value: " + consumer.uid.text);
    }
    if (claim.meta.deletion_time && !has(claim.reserved_for, consumer.uid)) {
      return invalid(field +
                     "Forbidden: new entries may not be added while `deallocationRequested` or "
                     "`deletionTimestamp` are set");
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<kube::Answer> refusal(const api::ResourceClaim* claim, const api::ClaimPatch& patch) {
  std::optional<kube::Answer> no = precondition(claim, patch);
  if (no || !claim->meta.deletion_time) return no;
  for (const std::string& finalizer : patch.finalizers) {
    if (has(claim->finalizers, finalizer)) continue;
    return invalid(
        "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
        "deleted, found new finalizers " +
        finalizer);
  }
  return std::nullopt;
}

std::optional<kube::Answer> refusal(const api::ResourceClaim* claim,
                                    const api::ClaimStatusPatch& patch, bool admin_access) {
  using Part = api::ClaimStatusPatch::Part;
  std::optional<kube::Answer> no = precondition(claim, patch);
  if (!no && patch.allocation_part == Part::kSet) {
    no = refusal_of_allocation(*claim, patch.allocation, admin_access);
  }
  if (no) return no;
  const bool keeps = patch.allocation_part == Part::kKeep && claim->allocation;
  return refusal_of_consumers(*claim, patch.reserved_for,
                              keeps || patch.allocation_part == Part::kSet);
}

void apply(api::ResourceClaim& claim, const api::ClaimStatusPatch& patch) {
  using Part = api::ClaimStatusPatch::Part;
  if (patch.allocation_part == Part::kSet) claim.allocation = patch.allocation;
  if (patch.allocation_part == Part::kClear) {
    claim.allocation.reset();
    claim.devices.clear();
  }
  claim.reserved_for = patch.reserved_for;
}

std::string devices_text(const api::Allocation& allocation) {
  std::string text;
  for (const api::DeviceResult& result : allocation.results) {
    text += (text.empty() ? "" : " ") + result.pool + "/" + result.device;
  }
  return text;
}

std::string consumers_text(const std::vector<api::ClaimConsumer>& consumers) {
  std::string text;
  for (const api::ClaimConsumer& consumer : consumers) {
    text += (text.empty() ? "" : " ") + consumer.name;
  }
  return text;
}

}  // namespace gang::sim
