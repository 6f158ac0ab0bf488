// SimCluster: an in-memory API server that is a kube::Client and a kube::ClaimClient, with faults
// on demand.
//
// An ObjectStore with requests: preconditions, the rules of Binding and those of claims are the
// real server's (commit protocol, chapter 4; scheduling contract 12.1; devices contract 1.7). Where
// it differs from a real kube-apiserver, it is wrong. Requests are queued and executed one by one
// by execute_next(), so that the order is the caller's and a run is repeatable. One thread. Knows
// nothing of gangs or plans.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gang/base/clock.h"
#include "gang/kube/claim_client.h"
#include "gang/kube/client.h"
#include "gang/sim/faults.h"
#include "gang/sim/object_store.h"

namespace gang::sim {

/// One write that changed an object, in order: the true history for checkers and `show writes`.
struct WriteRecord {
  std::string verb;  ///< "bind", "patch pod", "patch claim status", "create configmap", ...
  std::string object;
  std::string detail;
  int status = 200;
};

/// What a request is for those who count them.
enum class RequestKind {
  kOther,  ///< reads, dry runs and events
  kBinding,
  kWrite,  ///< of anything else
};

/// See the head of the file.
class SimCluster final : public ObjectStore, public kube::Client, public kube::ClaimClient {
 public:
  explicit SimCluster(const Clock& clock) : ObjectStore(clock) {}

  [[nodiscard]] const std::vector<api::Event>& events() const { return events_; }
  [[nodiscard]] const std::vector<WriteRecord>& writes() const { return writes_; }
  [[nodiscard]] const Objects<api::ConfigMap>& config_maps() const { return config_maps_; }
  /// Whether claims of the namespace may ask for it: it has the label.
  [[nodiscard]] bool allows_admin_access(const std::string& name_space) const;

  // --- faults and execution ---------------------------------------------------------------------
  void arm_fault(FaultTarget target, const api::ObjectKey& object, const ArmedFault& fault);
  [[nodiscard]] bool has_requests() const { return !requests_.empty(); }
  void execute_next();             ///< the oldest request, and answers it
  void execute_next_unanswered();  ///< the same, and its answer is lost
  void drop_requests() { requests_.clear(); }
  /// Of the oldest request. REQUIRES: has_requests().
  [[nodiscard]] RequestKind next_request() const { return requests_.front().kind; }
  /// When something happens by itself: the end of a terminating pod, or a late request.
  [[nodiscard]] std::optional<TimePoint> next_due() const;
  void run_due();

  // --- kube::Client -----------------------------------------------------------------------------
  void bind(const api::Binding& binding, kube::Done done) override;
  void try_bind(const api::Binding& binding, kube::Done done) override;
  void patch_pod_status(const api::PodStatusPatch& patch, kube::Done done) override;
  void patch_pod_group_status(const api::PodGroupStatusPatch& patch, kube::Done done) override;
  void delete_pod(const kube::PodDelete& request, kube::Done done) override;
  void create_event(const api::Event& event, kube::Done done) override;
  void get_pod(const api::ObjectKey& pod, kube::PodDone done) override;
  void get_pod_group(const api::ObjectKey& group, kube::PodGroupDone done) override;

  // --- kube::ClaimClient ------------------------------------------------------------------------
  void create_claim(const api::NewClaim& claim, kube::ClaimDone done) override;
  void delete_claim(const api::ClaimDelete& request, kube::Done done) override;
  using ObjectStore::delete_claim;
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
  /// A queued request: executing returns the function that delivers its answer.
  struct Request {
    RequestKind kind = RequestKind::kOther;
    std::function<std::function<void()>()> execute;
  };
  using Execute = std::function<kube::Answer()>;
  using ExecuteOnClaim = std::function<kube::Answer(std::optional<api::ResourceClaim>& after)>;
  using ExecuteOnMap = std::function<kube::Answer(std::optional<api::ConfigMap>& after)>;

  void enqueue(RequestKind kind, Execute execute, kube::Done done);
  template <class Object>
  void enqueue(RequestKind kind, std::function<kube::Answer(std::optional<Object>&)> execute,
               std::function<void(const kube::Answer&, std::optional<Object>)> done);
  /// The answer of a fault that is armed for the write; nothing where it takes its course.
  std::optional<kube::Answer> faulty(FaultTarget target, const api::ObjectKey& object,
                                     const WriteRecord& write, const Execute& execute);
  void record(std::string verb, std::string object, std::string detail, int status);
  kube::Answer bind_now(const api::Binding& binding);
  kube::Answer bind_checked(const api::Binding& binding);
  kube::Answer patch_pod_now(const api::PodStatusPatch& patch);
  kube::Answer patch_pod_checked(const api::PodStatusPatch& patch);
  kube::Answer patch_group_now(const api::PodGroupStatusPatch& patch);
  kube::Answer delete_pod_now(const kube::PodDelete& request);
  void write_claim(const api::ObjectKey& claim, const WriteRecord& write, ExecuteOnClaim execute,
                   kube::ClaimDone done);
  kube::Answer create_claim_now(const api::NewClaim& wanted,
                                std::optional<api::ResourceClaim>& after);
  kube::Answer delete_claim_now(const api::ClaimDelete& request);
  kube::Answer patch_claim_now(const api::ClaimPatch& patch, const WriteRecord& write,
                               std::optional<api::ResourceClaim>& after);
  kube::Answer patch_claim_status_now(const api::ClaimStatusPatch& patch, const WriteRecord& write,
                                      std::optional<api::ResourceClaim>& after);
  void write_map(const api::ObjectKey& map, const WriteRecord& write, ExecuteOnMap execute,
                 kube::ConfigMapDone done);

  std::vector<api::Event> events_;
  std::vector<WriteRecord> writes_;
  Objects<api::ConfigMap> config_maps_;
  std::map<std::pair<FaultTarget, api::ObjectKey>, ArmedFault> faults_;
  std::deque<Request> requests_;
  std::multimap<TimePoint, Execute> late_;
};

}  // namespace gang::sim
