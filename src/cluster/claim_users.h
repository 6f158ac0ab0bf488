// ClaimUsers: which gangs refer to which claims and templates, so that a claim finds its gangs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "gang/api/claim_entry.h"
#include "gang/api/meta.h"

namespace gang::cluster {

/// Where an entry of spec.resourceClaims leads.
struct ClaimLink {
  enum class Kind {
    kClaim,       ///< `name` is the claim's
    kNotNeeded,   ///< it was decided that the entry needs no claim
    kNotCreated,  ///< `name` is the template's
    kNoSource,    ///< the entry names neither a claim nor a template
  };
  Kind kind = Kind::kNoSource;
  std::string name;
};

[[nodiscard]] ClaimLink link_of(const api::ClaimEntry& entry,
                                const std::vector<api::ClaimEntryStatus>& statuses);

/// The claims of one pod or PodGroup.
struct ClaimList {
  std::vector<api::ClaimEntry> entries;
  std::vector<api::ClaimEntryStatus> statuses;
  friend bool operator==(const ClaimList&, const ClaimList&) = default;
};

/// Owned by the state. Always: a gang is found under a name as often as lists that lead there were
/// added for it and not removed.
class ClaimUsers {
 public:
  using Gangs = std::map<std::uint64_t, std::uint32_t>;  ///< gang id with the number of its lists

  void add(const std::string& name_space, const ClaimList& list, std::uint64_t gang);
  /// REQUIRES: was added.
  void remove(const std::string& name_space, const ClaimList& list, std::uint64_t gang);

  [[nodiscard]] const Gangs& of_claim(const api::ObjectKey& claim) const {
    return gangs_of(claims_, claim);
  }
  [[nodiscard]] const Gangs& of_template(const api::ObjectKey& form) const {
    return gangs_of(templates_, form);
  }
  /// Those that refer to claims of the namespace, ascending. O(claims that anybody refers to).
  [[nodiscard]] std::set<std::uint64_t> gangs_in(const std::string& name_space) const;

 private:
  using Index = std::unordered_map<api::ObjectKey, Gangs>;

  [[nodiscard]] static const Gangs& gangs_of(const Index& index, const api::ObjectKey& key);
  /// Null when the entry leads to neither.
  [[nodiscard]] Index* index_of(ClaimLink::Kind kind);

  Index claims_;
  Index templates_;
};

}  // namespace gang::cluster
