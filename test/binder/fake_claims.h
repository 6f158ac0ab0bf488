// FakeClaims: a kube::ClaimClient over a handful of objects in memory, with faults on demand.
//
// It keeps the server's rules: preconditions on uid and version, a new version with every change,
// an allocation that can be set or cleared but not changed. Answers inside the call.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/kube/claim_client.h"

namespace gang::test {

/// See the head of the file. Owned by the test; one thread.
class FakeClaims final : public kube::ClaimClient {
 public:
  /// What the next request of a verb meets.
  enum class Fault {
    kLost,         ///< executed, answered as a time-out
    kLostNotDone,  ///< not executed, answered as a time-out
    kLate,         ///< executed by run_late(), answered as a time-out
    kNotSent,      ///< nothing reached the server
    kForbidden,
    kLacksBinding,  ///< the right on resourceclaims/binding is missing
    kFails,         ///< 500, not executed
  };

  /// Adds or replaces; a version is given to it.
  void put(api::ResourceClaim claim);
  void remove(const std::string& name) { claims_.erase(name); }
  /// Changes a stored claim; its version moves.
  void change(const std::string& name, const std::function<void(api::ResourceClaim&)>& change);
  /// `verb`: "make", "remove", "finalizer", "status", "read", "create", "update", "delete", "list".
  void fail_next(const std::string& verb, Fault fault) { faults_[verb].push_back(fault); }
  /// Asked for every request without a fault of its own: what it meets, if anything.
  void intercept(std::function<std::optional<Fault>(const std::string& request)> judge) {
    judge_ = std::move(judge);
  }
  /// Executes what was answered as late.
  void run_late();

  [[nodiscard]] const api::ResourceClaim& claim(const std::string& name) const {
    return claims_.at(name);
  }
  [[nodiscard]] bool has(const std::string& name) const { return claims_.contains(name); }
  [[nodiscard]] std::size_t map_count() const { return maps_.size(); }
  /// By name.
  [[nodiscard]] std::map<std::string, api::ConfigMap>& maps() { return maps_; }
  /// "make c", "remove c", "finalizer c", "fence c", "set c: p1", "keep c: p1 p2", "clear c:",
  /// "read c", "create m", ... in order.
  [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }

  void create_claim(const api::NewClaim& claim, kube::ClaimDone done) override;
  void delete_claim(const api::ClaimDelete& request, kube::Done done) override;
  void patch_claim(const api::ClaimPatch& patch, kube::ClaimDone done) override;
  void patch_claim_status(const api::ClaimStatusPatch& patch, kube::ClaimDone done) override;
  void read_claim(const api::ObjectKey& claim, kube::ClaimDone done) override;
  void create_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) override;
  void update_config_map(const api::ConfigMap& map, kube::ConfigMapDone done) override;
  void read_config_map(const api::ObjectKey& map, kube::ConfigMapDone done) override;
  void delete_config_map(const kube::ConfigMapDelete& request, kube::Done done) override;
  void list_config_maps(const std::string& name_space, const std::string& label,
                        kube::ConfigMapsDone done) override;

 private:
  using Execute = std::function<kube::Answer()>;

  kube::Answer handle(const std::string& verb, const std::string& text, const Execute& execute);
  [[nodiscard]] kube::Answer check(const api::ObjectKey& key, const api::Uid& uid,
                                   const api::ResourceVersion& version) const;
  [[nodiscard]] kube::Answer set_status(const api::ClaimStatusPatch& patch);
  [[nodiscard]] kube::Answer store(const api::ConfigMap& map, bool is_new);
  [[nodiscard]] std::string next_version() { return std::to_string(++version_); }
  void answer_with_claim(const kube::Answer& answer, const std::string& name,
                         const kube::ClaimDone& done) const;
  void answer_with_map(const kube::Answer& answer, const std::string& name,
                       const kube::ConfigMapDone& done) const;

  std::map<std::string, api::ResourceClaim> claims_;
  std::map<std::string, api::ConfigMap> maps_;
  std::map<std::string, std::deque<Fault>> faults_;
  std::vector<Execute> late_;
  std::vector<std::string> requests_;
  std::function<std::optional<Fault>(const std::string&)> judge_;
  int version_ = 0;
};

}  // namespace gang::test
