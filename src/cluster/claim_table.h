// ClaimTable: all ResourceClaims, what they hold of devices, and which templates there are.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "cluster/change_log.h"
#include "cluster/claim_users.h"
#include "cluster/device_table.h"
#include "cluster/kept_objects.h"
#include "gang/api/claim.h"

namespace gang::cluster {

/// Owned by the state. Always: the devices count exactly the allocations that the watch shows and
/// the assumed ones; a claim has at most one of both. What is assumed of a claim that is still to
/// be made goes over to it when it is shown.
class ClaimTable {
 public:
  ClaimTable(DeviceTable& devices, const ClaimUsers& users) : devices_(devices), users_(users) {}

  void upsert(const api::ResourceClaim& claim, ListNumber list, ChangeLog& log);
  void remove(const api::ResourceClaim& claim, ChangeLog& log);
  void sweep(ListNumber list, ChangeLog& log);
  /// Tells of the claims whose devices the log says are hidden.
  void note_hidden(ChangeLog& log) const;

  void upsert(const api::ResourceClaimTemplate& form, ListNumber list, ChangeLog& log);
  void remove(const api::ResourceClaimTemplate& form, ChangeLog& log);
  void sweep_templates(ListNumber list, ChangeLog& log);

  /// REQUIRES: a known claim without an allocation, assumed or shown.
  void assume(const api::Uid& claim, api::Allocation allocation);
  void forget(const api::Uid& claim);
  /// REQUIRES: nothing is assumed of a claim of that name.
  void assume_new(const api::ObjectKey& claim, const api::Uid& pod, api::Allocation allocation);
  void forget_new(const api::ObjectKey& claim);
  /// By name.
  [[nodiscard]] std::vector<std::shared_ptr<const api::ResourceClaim>> extended_claims(
      const api::Uid& pod) const;

  /// Null when there is none.
  [[nodiscard]] std::shared_ptr<const api::ResourceClaim> find(const api::ObjectKey& key) const {
    return claims_.find(key);
  }
  [[nodiscard]] bool has_template(const api::ObjectKey& key) const {
    return templates_.contains(key);
  }
  /// Whether claims made from that template ask for admin access; false when there is none.
  [[nodiscard]] bool is_for_admins(const api::ObjectKey& form) const {
    return admin_templates_.contains(form);
  }
  /// Null when nothing is assumed of the claim.
  [[nodiscard]] std::shared_ptr<const api::Allocation> assumed(const api::Uid& claim) const;
  /// All that devices count, in no order.
  [[nodiscard]] std::vector<std::shared_ptr<const api::Allocation>> allocations() const;

 private:
  using AllocationPtr = std::shared_ptr<const api::Allocation>;

  /// What a claim that the watch has not shown will hold.
  struct Expected {
    api::Uid pod;
    AllocationPtr allocation;
  };

  void meet_expected(const api::ResourceClaim& claim);
  void note_owner(const Replaced<api::ResourceClaim>& claim);
  void replace(const Replaced<api::ResourceClaim>& claim, ChangeLog& log);
  void recount(const Replaced<api::ResourceClaim>& claim, ChangeLog& log);
  void note_troubles(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) const;
  void note_other_holders(const std::shared_ptr<const api::ResourceClaim>& claim,
                          const api::DeviceResult& result, ChangeLog& log) const;
  [[nodiscard]] bool excludes(const std::shared_ptr<const api::ResourceClaim>& claim,
                              const api::DeviceResult& result) const;
  void tell_users(const Replaced<api::ResourceClaim>& claim, ChangeLog& log) const;
  void tell_template_users(const api::ObjectKey& form, ChangeLog& log) const;

  DeviceTable& devices_;
  const ClaimUsers& users_;
  KeptObjects<api::ResourceClaim> claims_;
  KnownObjects templates_;
  std::set<api::ObjectKey> admin_templates_;  ///< of them, those that ask for admin access
  std::unordered_map<api::Uid, api::ObjectKey> unallocated_;  ///< by what the watch shows
  std::unordered_map<api::Uid, AllocationPtr> assumed_;
  std::unordered_map<api::ObjectKey, Expected> expected_;
  std::map<api::Uid, std::set<api::ObjectKey>> extended_;  ///< by the pod they were made for
};

/// The allocation that the watch shows, or null; lives as long as the claim.
[[nodiscard]] std::shared_ptr<const api::Allocation> shown_allocation(
    const std::shared_ptr<const api::ResourceClaim>& claim);

}  // namespace gang::cluster
