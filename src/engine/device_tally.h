// What became of the devices that a request could have, counted over nodes. For texts of refusals.
//
// Source: the devices contract, 13 ("devices seen, and how many fell to what").
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_node.h"
#include "engine/device_request.h"

namespace gang::engine {

/// A node as the members of the kind see it.
struct SeenNode {
  DeviceNode devices;
  bool is_closed = false;  ///< its labels or taints let none of them in
};

/// What became of the devices that one alternative of a request could have. A value.
struct Tally {
  std::int64_t matching = 0;
  std::int64_t small = 0;         ///< of them, without the capacity asked for, whoever has them
  std::int64_t held = 0;          ///< of the others, given whole to claims
  std::int64_t tainted = 0;       ///< of the rest, with a taint that is not tolerated
  std::int64_t evicting = 0;      ///< of these, tolerated but for an effect NoExecute
  std::string taint;              ///< "d/p/x: k=v:NoSchedule" of the first of them
  std::int64_t closed = 0;        ///< of the rest, on nodes only that let no member in
  std::int64_t avoided = 0;       ///< of the rest, left out by the gang for now
  std::int64_t blocked = 0;       ///< of the rest, behind a claim's device that no slice shows
  std::string blocker;            ///< which claim and device, for the first of these
  bool costs_counters = false;    ///< one that is free costs counters, which others cost too
  std::string counters;           ///< "d/p: set/slots 3 of 7 free, 4 asked" of the first such
  bool is_shared = false;         ///< one is given out in shares, so the numbers prove nothing
  std::string capacity;           ///< "d/p/x: memory 20Gi of 80Gi free, 40Gi asked" of the first
  std::set<std::string> drivers;  ///< of all that match
  /// Those that serve the request while nobody else has them.
  [[nodiscard]] std::int64_t able() const { return matching - small; }
  [[nodiscard]] std::int64_t free() const {
    return able() - held - tainted - closed - avoided - blocked;
  }
};

/// The same of one node, which may share devices with others. A value.
struct NodeTally {
  std::int64_t able = 0;
  std::int64_t free = 0;
  bool is_shared = false;
};

/// An exact request, or one alternative of a request, with what it could have. A value.
struct AskTally {
  const api::DeviceAsk* ask = nullptr;  ///< not null
  Tally fleet;                          ///< each device once, however many nodes can use it
  std::vector<NodeTally> nodes;         ///< in the order in which they were looked at
};

/// Counts devices for one request, alternative by alternative. Closed nodes come last. Lives for
/// one refusal; one thread.
class Counter {
 public:
  /// All outlive this.
  Counter(const DeviceStage& stage, const api::ResourceClaim& claim, std::size_t request);

  void look_at(const SeenNode& seen);
  /// By alternative; one of an exact request.
  [[nodiscard]] const std::vector<AskTally>& asks() const { return asks_; }
  /// Devices that serve some alternative while nobody else has them, and those of them that are
  /// free.
  [[nodiscard]] std::int64_t able() const { return static_cast<std::int64_t>(able_.size()); }
  [[nodiscard]] std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }
  /// Why nothing was counted on the first node where that is so, or "".
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

 private:
  /// What keeps a device from serving.
  enum class Fate { kSmall, kHeld, kTainted, kClosed, kAvoided, kBlocked, kFree };

  struct Alternative {
    PreparedAsk& ask;
    std::size_t index = 0;
  };

  void count(const SeenNode& seen, const PreparedClaim& claim, Alternative alternative);
  [[nodiscard]] Fate fate_of(const DeviceCandidate& candidate, const api::DeviceAsk& ask,
                             bool is_closed) const;
  void add(Fate fate, const DeviceCandidate& candidate, AskTally& tally) const;
  void add_tainted(const DeviceCandidate& candidate, AskTally& tally) const;
  [[nodiscard]] bool is_small(const cluster::PoolDevice& device, const api::DeviceAsk& ask) const;
  /// What makes the device's counters unknown; null where they are known, or shared already.
  [[nodiscard]] const cluster::UnseenDevice* blocker_of(const DeviceCandidate& candidate) const;

  const DeviceStage& stage_;
  const api::ResourceClaim& claim_;
  const std::size_t request_;
  std::vector<AskTally> asks_;
  std::vector<std::set<cluster::DeviceId>> seen_;  ///< by alternative
  std::set<cluster::DeviceId> able_;
  std::set<cluster::DeviceId> free_;
  std::string refusal_;
};

}  // namespace gang::engine
