// DeviceDraft: devices tentatively given to the members of one gang, in step with its Draft.
//
// A claim is one variable of the gang: whoever is placed first and names it chooses its devices,
// all others of the gang are bound to the nodes that these devices can be used on. Claims that are
// allocated already bind everybody. Books are undone in reverse order through points. Source: the
// devices contract, 4.5, 5 and 12.3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/device_alike.h"
#include "engine/device_counts.h"
#include "engine/device_ledger.h"
#include "engine/device_search.h"
#include "engine/node_index.h"
#include "engine/node_order.h"
#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"

namespace gang::engine {

/// The devices of the cluster as one attempt sees them; all outlive it.
struct DeviceStage {
  const DeviceInputs& inputs;
  const cluster::DeviceUsage& usage;
  /// The pools that may have devices for a node of that name.
  std::function<std::vector<const cluster::DevicePool*>(const std::string&)> pools_of;
  /// The pools of all nodes, and of none. Empty: the stage is of some of the nodes only.
  std::function<std::vector<const cluster::DevicePool*>()> all_pools = {};
  /// Claims for extended resources that members may need on the node, of any kind.
  std::function<std::vector<const api::ResourceClaim*>(const std::string&)> extended_on = {};
  const DeviceCounts* counts = nullptr;  ///< null: nodes are counted one by one
  /// Nodes of the table's class in order, those with most room first where `by_room`. Only while
  /// nobody is placed. Empty: they are gone through one by one.
  std::function<const NodeIndex&(CapacityTable& table, bool by_room)> index_of = {};
};

/// What a member needs on one node.
struct DeviceWants {
  const std::vector<std::size_t>& claims;        ///< indexes of the gang's claims
  std::span<const std::size_t> joins = {};       ///< of them, those that get a consumer more
  const api::ResourceClaim* extended = nullptr;  ///< for its extended resources; null: none
  std::size_t member = 0;                        ///< whose that one is
  DeviceTurn turn = {};
};

/// Solutions of one member on one node that were offered already, by what makes them different.
using SolutionsSeen = std::set<std::string>;

/// Where to roll back to. A value.
struct DevicePoint {
  DeviceLedger::Checkpoint ledger = 0;
  std::size_t decided = 0;
  std::size_t joined = 0;
};

/// Most consumers that the API server lets a claim have.
inline constexpr std::size_t kConsumersMax = 256;

/// See the head of the file. Lives for one attempt; one thread.
class DeviceDraft {
 public:
  /// `claims`: of the whole gang, outlive this; those with an allocation stay as they are.
  DeviceDraft(const DeviceStage& stage, const std::vector<cluster::GangClaim>& claims,
              std::int64_t steps_max);

  /// Gives a member on a node the devices of those of its claims that nobody has decided yet; the
  /// one for extended resources comes last. kYes: booked, and noted in `seen`; the next call with
  /// the same `seen` offers another solution. kNo: there is no further one here. Without `seen` it
  /// is the first solution, upstream's where the wants are not turned.
  [[nodiscard]] DeviceStep place(const DeviceWants& wants, const cluster::NodeInfo& node,
                                 SolutionsSeen* seen = nullptr);

  /// Of the member that was placed last. The preference is 8 for each first alternative, as
  /// upstream scores.
  [[nodiscard]] const MemberRating& worth() const { return worth_; }

  [[nodiscard]] DevicePoint point() const {
    return {.ledger = ledger_.checkpoint(), .decided = decided_.size(), .joined = joined_.size()};
  }
  void rollback(DevicePoint to);

  /// What the attempt has decided for the claim; null when it has not.
  [[nodiscard]] const api::Allocation* decided(std::size_t claim) const;
  /// The same, to be kept by the caller: the attempt is over.
  [[nodiscard]] std::optional<api::Allocation> take_decided(std::size_t claim) {
    return std::exchange(allocations_[claim], std::nullopt);
  }
  /// The same of the claim for extended resources of a member.
  [[nodiscard]] const api::Allocation* decided_extended(std::size_t member) const;
  [[nodiscard]] bool is_open(std::size_t claim) const;
  /// Why nobody can join the claim with what it holds; "" where that is not so.
  [[nodiscard]] std::string held_problem(std::size_t claim) const;
  /// The node with its devices. An error is a slice's bad selector.
  [[nodiscard]] const Result<DeviceNode>& devices_of(const cluster::NodeInfo& node) {
    return books_of(node).devices;
  }
  /// At least as many members with these wants as the node may still take by its devices alone.
  [[nodiscard]] std::int32_t bound_of(const DeviceWants& wants, const cluster::NodeInfo& node);
  /// Devices of the node that the first request of the wants' open claims selects, whoever holds
  /// them.
  [[nodiscard]] std::int32_t match_count(const DeviceWants& wants, const cluster::NodeInfo& node);
  /// What the attempt holds on the node; equal where later members see no difference.
  [[nodiscard]] std::string state_of(const cluster::NodeInfo& node);
  /// The devices of the node when the attempt began, one by one.
  [[nodiscard]] NodeDevices counts_of(const cluster::NodeInfo& node);
  /// Whether every device of the node can be used there alone.
  [[nodiscard]] bool is_local(const cluster::NodeInfo& node);
  [[nodiscard]] std::int64_t steps_left() const { return attempt_.steps_left; }
  [[nodiscard]] const DeviceStage& stage() const { return stage_; }

 private:
  /// Claims to be decided, and where that is kept.
  struct OpenClaims {
    std::vector<const api::ResourceClaim*> claims;
    std::vector<std::size_t> slots;  ///< into allocations_
    DeviceTurn turn;
  };
  /// A node, made when first asked for.
  struct NodeBooks {
    NodeBooks(const std::string& node_name, Result<DeviceNode> of_node)
        : name(&node_name), devices(std::move(of_node)) {}

    const std::string* name;  ///< not null
    Result<DeviceNode> devices;
    std::optional<std::vector<PreparedClaim>> specs;  ///< of claims that differ
    std::optional<DeviceAlike> alike;
  };

  void check_held();
  NodeBooks& books_of(const cluster::NodeInfo& node);
  std::vector<PreparedClaim>& specs_of(NodeBooks& books);
  DeviceAlike& alike_of(NodeBooks& books);
  /// Prepared for the node; null where that cannot be.
  [[nodiscard]] PreparedClaim* spec_of(NodeBooks& books, const api::ClaimSpec& spec);
  /// Lives until the next call.
  [[nodiscard]] const OpenClaims& open_claims(const DeviceWants& wants);
  [[nodiscard]] bool is_full(const DeviceWants& wants) const;
  DeviceStep allocate(const OpenClaims& open, NodeBooks& books, SolutionsSeen* seen);
  /// Whether the devices that a claim has can be used on the node.
  [[nodiscard]] bool is_usable(std::size_t claim, const api::NodeFacts& node) const;

  const DeviceStage& stage_;
  const std::vector<cluster::GangClaim>& claims_;
  DeviceLedger ledger_;
  DeviceAttempt attempt_;
  DeviceSearch search_;
  OpenClaims open_;                                   ///< of the member that was asked about last
  std::vector<api::Allocation> solution_;             ///< for them
  std::map<std::string_view, NodeBooks> nodes_;       ///< by name
  std::map<std::size_t, std::string> held_problems_;  ///< by claim; why nobody can join it
  /// Decided here: by claim, then by member those for extended resources.
  std::vector<std::optional<api::Allocation>> allocations_;
  std::vector<std::size_t> decided_;  ///< positions there, in order of decision
  MemberRating worth_;
  std::vector<std::size_t> users_;   ///< by claim: consumers it has or would have
  std::vector<std::size_t> joined_;  ///< claims, one for each consumer of this attempt
};

}  // namespace gang::engine
