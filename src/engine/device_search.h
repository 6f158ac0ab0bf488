// DeviceSearch: finds devices for the claims of one pod on one node, in the order of upstream.
//
// Problem: several claims, each with requests, alternatives and constraints, want devices of pools
// that share counters and capacity. Idea: depth first over claims, requests and devices; inside a
// request only combinations are tried. The first solution is upstream's; when what comes after it
// says no, the search goes on to the next one, so that a gang can be searched by nesting searches.
// Whole devices that nothing ties to each other are taken in one pass where that gives the first
// solution; it counts as many steps as the search that would find it.
// It may be turned: to begin at another device or alternative, which finds other solutions first.
// Limit: a count of steps that all nested searches share. Source: the devices contract, 2.6 to 2.8.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/device_capacity.h"
#include "engine/device_constraint.h"
#include "engine/device_ledger.h"
#include "engine/device_node.h"
#include "engine/device_request.h"

namespace gang::engine {

/// A device chosen for a request.
struct ChosenDevice {
  DeviceCandidate candidate;
  const PreparedAsk* ask = nullptr;
  api::QuantityMap capacity;  ///< charged; only for shares
  bool is_share = false;
};

/// What comes after a solution.
class AfterDevices {
 public:
  virtual ~AfterDevices() = default;
  /// kYes keeps the solution and ends the search; kNo asks for the next solution.
  [[nodiscard]] virtual DeviceStep solved() = 0;
};

/// What nested searches share.
struct DeviceAttempt {
  const DeviceInputs& inputs;
  DeviceLedger& ledger;
  std::int64_t steps_left = 0;
  std::int32_t claims_begun = 0;  ///< numbers given to claims
  std::int32_t looks = 0;         ///< below kLooksPerStep

  /// One device more is tried, or one node. False at the limit.
  bool step() { return --steps_left >= 0; }
  /// Devices that were refused cost time as well. False at the limit.
  bool look(std::int64_t count) {
    steps_left -= (looks + count) / kLooksPerStep;
    looks = static_cast<std::int32_t>((looks + count) % kLooksPerStep);
    return steps_left >= 0;
  }
  [[nodiscard]] static DeviceStep at_limit() {
    return {.end = DeviceStep::End::kLimit, .message = "the search for devices reached its limit"};
  }

 private:
  static constexpr std::int64_t kLooksPerStep = 16;
};

/// Where a search begins in the lists that it goes through to their end; upstream's at 0. A value.
struct DeviceTurn {
  std::uint32_t device = 0;       ///< among the node's candidates
  std::uint32_t alternative = 0;  ///< of each request that has some
};

/// See the head of the file. Lives for one attempt, which begins it anew for each pod and node; one
/// thread.
class DeviceSearch {
 public:
  /// Outlives this.
  explicit DeviceSearch(DeviceAttempt& attempt) : attempt_(attempt) {}

  /// Both outlive what follows, up to the next begin(). Claims are prepared by run().
  void begin(const DeviceNode& node, const std::vector<const api::ResourceClaim*>& claims,
             DeviceTurn turn = {});

  /// kYes: chosen() and claims() hold the solution and the ledger has it booked. Else the ledger is
  /// as before.
  [[nodiscard]] DeviceStep run(AfterDevices& after);

  [[nodiscard]] const std::vector<PreparedClaim>& claims() const { return claims_; }
  /// By claim, in search order.
  [[nodiscard]] const std::vector<std::vector<ChosenDevice>>& chosen() const { return chosen_; }

 private:
  /// Where the search stands.
  struct Position {
    std::size_t claim = 0;
    std::size_t request = 0;
    std::size_t ask = 0;
    std::int64_t taken = 0;   ///< devices of the ask so far
    std::uint32_t start = 0;  ///< place of the first candidate to try
  };

  /// What is seen of a device without a search.
  enum class Fit { kNo, kYes, kUnknown };

  DeviceStep begin_claim(std::size_t claim);
  DeviceStep begin_request(std::size_t claim, std::size_t request);
  DeviceStep begin_alternatives(std::size_t claim, std::size_t request);
  DeviceStep take_next(const Position& at);
  DeviceStep take_from_all(const Position& at);
  [[nodiscard]] bool is_plain(const Position& at) const;
  std::optional<DeviceStep> take_plainly(const Position& at);
  [[nodiscard]] bool take_first(const Position& at);
  [[nodiscard]] Fit fit_of(const Position& at, std::uint32_t candidate);
  DeviceStep try_candidate(const Position& at, std::uint32_t place);
  /// kYes: booked, to be undone with give_back().
  DeviceStep take(const Position& at, const DeviceCandidate& candidate);
  void give_back(const Position& at, DeviceLedger::Checkpoint checkpoint);

  /// The candidate whose turn is at that place.
  [[nodiscard]] std::uint32_t candidate_at(std::size_t place) const {
    return static_cast<std::uint32_t>((place + turn_.device) % node_->candidates.size());
  }
  [[nodiscard]] PreparedAsk& ask_at(const Position& at);
  [[nodiscard]] const PreparedAsk& ask_at(const Position& at) const;
  [[nodiscard]] DeviceTake take_of(const Position& at, const DeviceCandidate& candidate) const;
  [[nodiscard]] bool is_taken(const Position& at, const DeviceCandidate& candidate) const;
  [[nodiscard]] bool may_skip_operations(const DeviceCandidate& candidate) const;
  [[nodiscard]] DeviceStep constrain(const Position& at, const DeviceCandidate& candidate);
  [[nodiscard]] DeviceStep charge(const Position& at, const DeviceCandidate& candidate,
                                  CapacityCharge& charged);
  [[nodiscard]] std::string where(const Position& at);

  DeviceAttempt& attempt_;
  const DeviceNode* node_ = nullptr;
  AfterDevices* after_ = nullptr;
  std::int32_t first_claim_ = 0;
  DeviceTurn turn_;
  std::vector<PreparedClaim> claims_;
  std::vector<DeviceConstraints> constraints_;
  std::vector<std::vector<ChosenDevice>> chosen_;
};

/// "key=value:NoExecute", without the value where it is empty.
[[nodiscard]] std::string taint_text(const api::DeviceTaint& taint);
/// Whether the tolerations cover the taint.
[[nodiscard]] bool tolerates(const cluster::DeviceFeatures& features,
                             const std::vector<api::DeviceToleration>& tolerations,
                             const api::DeviceTaint& taint);
/// Whether they cover every taint of the device.
[[nodiscard]] bool tolerates(const cluster::DeviceFeatures& features,
                             const std::vector<api::DeviceToleration>& tolerations,
                             const cluster::PoolDevice& device);

}  // namespace gang::engine
