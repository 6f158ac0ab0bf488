// GangClaims: the claims of a gang's value, each once, and which of them each member needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/claim_users.h"
#include "cluster/model.h"
#include "gang/cluster/gang.h"

namespace gang::cluster {

/// Lives while one Gang is built; writes its `claims`. Source: the devices contract, 4 and 5.
class GangClaims {
 public:
  GangClaims(const Model& model, Gang& gang) : model_(model), gang_(gang) {}

  /// The claims of the gang's PodGroup, if it has any; before those of members.
  void add_group();
  /// Indexes of the claims of a pod of the gang that is ours and has no node, in its order, each
  /// once.
  [[nodiscard]] std::vector<std::int32_t> add_pod(PodSlot pod);

 private:
  /// Who mentions a claim.
  struct Mention {
    std::string who;  ///< `pod "ns/name"`
    std::string name_space;
    bool of_group = false;  ///< by an entry of the PodGroup, or one that equals such an entry
  };

  std::int32_t add(const api::ClaimEntry& entry, const ClaimLink& link, const Mention& mention,
                   const std::string& ownership);
  std::int32_t index_of(GangClaim claim);
  [[nodiscard]] GangClaim resolve(const api::ObjectKey& key) const;
  [[nodiscard]] std::string label_problem(const api::ResourceClaim& claim) const;
  [[nodiscard]] std::string label_problem(const std::string& who,
                                          const std::string& name_space) const;
  [[nodiscard]] std::string missing_text(const api::ClaimEntry& entry, const ClaimLink& link,
                                         const Mention& mention) const;
  [[nodiscard]] bool is_of_group(const api::ClaimEntry& entry) const;
  [[nodiscard]] std::string ownership_of(const api::ObjectKey& claim, PodSlot pod) const;

  const Model& model_;
  Gang& gang_;
  std::map<std::pair<api::ObjectKey, std::string>, std::int32_t> indexes_;  ///< key, problem
};

/// Whether claims of the namespace may ask for admin access. The API server refuses their devices
/// where it has not the label, however often they are written.
[[nodiscard]] bool allows_admin_access(const Model& model, const std::string& name_space);

}  // namespace gang::cluster
