// What became of the devices that a request could have, counted over nodes. For texts of refusals.
//
// Source: the devices contract, 13 ("devices seen, and how many fell to what").
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/device_draft.h"
#include "engine/device_node.h"
#include "engine/device_request.h"

namespace gang::engine {

/// Whether members of the kind come to the node, the nearest first.
enum class Access {
  kOpen,
  kBeyond,   ///< devices that a claim of theirs holds cannot be used there
  kClosed,   ///< its labels or taints let none of them in
  kNowhere,  ///< it is none: it stands for devices that no node can use
};

/// A node as the members of the kind see it.
struct SeenNode {
  DeviceNode devices;
  Access access = Access::kOpen;
  std::string holder = {};  ///< "claim ns/c, which holds d/p/x (node n1)" of kBeyond
};

/// What became of the devices that one alternative of a request could have. A value.
struct Tally {
  std::int64_t matching = 0;
  std::int64_t unusable = 0;      ///< of them, usable on no node
  std::int64_t small = 0;         ///< of the rest, without the capacity asked for, whoever has them
  std::int64_t held = 0;          ///< of the others, given whole to claims
  std::int64_t tainted = 0;       ///< of the rest, with a taint that is not tolerated
  std::int64_t evicting = 0;      ///< of these, tolerated but for an effect NoExecute
  std::string taint;              ///< "d/p/x: k=v:NoSchedule" of the first of them
  std::int64_t beyond = 0;        ///< of the rest, on nodes only beyond a claim of the member
  std::string holder;             ///< that claim, for the first of these
  std::int64_t closed = 0;        ///< of the rest, on nodes only that let no member in
  std::int64_t avoided = 0;       ///< of the rest, left out by the gang for now
  std::int64_t blocked = 0;       ///< of the rest, behind a claim's device that no slice shows
  std::string blocker;            ///< which claim and device, for the first of these
  std::int64_t drained = 0;       ///< of the rest, whose counters others take
  std::string drain;              ///< "d/p: set/slots 3 of 7 free, 4 asked" of the first of these
  std::int64_t full = 0;          ///< of the rest, whose capacity others take
  std::string fill;               ///< "d/p/x: memory 20Gi of 80Gi free, 40Gi asked", of the first
  bool costs_counters = false;    ///< one that is free costs counters, which others cost too
  std::string counters;           ///< the same as drain of the first such
  bool is_shared = false;         ///< one that is able is given out in shares
  std::string capacity;           ///< the same as fill of the first that is free
  std::set<std::string> drivers;  ///< of all that match
  /// Those that serve the request while nobody else has them.
  [[nodiscard]] std::int64_t able() const { return matching - unusable - small; }
  [[nodiscard]] std::int64_t free() const {
    return able() - held - tainted - beyond - closed - avoided - blocked - drained - full;
  }
};

/// The same of one node, which may share devices with others. A value.
struct NodeTally {
  std::int64_t able = 0;
  std::int64_t free = 0;
};

/// An exact request, or one alternative of a request, with what it could have. A value.
struct AskTally {
  const api::DeviceAsk* ask = nullptr;  ///< not null
  Tally fleet;                          ///< each device once, however many nodes can use it
  std::vector<NodeTally> nodes;         ///< in the order in which they were looked at
};

/// Counts devices for one request, alternative by alternative. Nodes come by their access. Lives
/// for one refusal; one thread.
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
  enum class Fate {
    kUnusable,
    kSmall,
    kHeld,
    kTainted,
    kBeyond,
    kClosed,
    kAvoided,
    kBlocked,
    kDrained,
    kFull,
    kFree
  };

  struct Alternative {
    PreparedAsk& ask;
    std::size_t index = 0;
  };

  void count(const SeenNode& seen, const PreparedClaim& claim, Alternative alternative);
  [[nodiscard]] Fate fate_of(const DeviceCandidate& candidate, const api::DeviceAsk& ask,
                             Access access);
  /// Of a device that nobody has whole.
  [[nodiscard]] Fate fate_of_rest(const DeviceCandidate& candidate, const api::DeviceAsk& ask);
  /// Adds a device that was not met before.
  void add(Fate fate, const DeviceCandidate& candidate, AskTally& tally, const SeenNode& seen);
  void add_free(const DeviceCandidate& candidate, AskTally& tally);
  void add_tainted(const DeviceCandidate& candidate, AskTally& tally) const;
  [[nodiscard]] bool is_small(const cluster::PoolDevice& device, const api::DeviceAsk& ask) const;
  [[nodiscard]] bool is_full(const DeviceCandidate& candidate, const api::DeviceAsk& ask) const;
  /// Whether the device is not in use, and less is left of its counters than it takes.
  [[nodiscard]] bool is_drained(const DeviceCandidate& candidate);
  /// What is left of each counter of the pool.
  const std::vector<api::Quantity>& counters_left(const cluster::DevicePool& pool);
  [[nodiscard]] std::string counter_of(const DeviceCandidate& candidate);
  [[nodiscard]] std::string capacity_of(const DeviceCandidate& candidate,
                                        const api::DeviceAsk& ask) const;
  /// What makes the device's counters unknown; null where they are known, or shared already.
  [[nodiscard]] const cluster::UnseenDevice* blocker_of(const DeviceCandidate& candidate) const;

  const DeviceStage& stage_;
  const api::ResourceClaim& claim_;
  const std::size_t request_;
  std::vector<AskTally> asks_;
  std::vector<std::set<cluster::DeviceId>> seen_;  ///< by alternative
  std::set<cluster::DeviceId> able_;
  std::set<cluster::DeviceId> free_;
  std::map<const cluster::DevicePool*, std::vector<api::Quantity>> left_;
  std::string refusal_;
};

}  // namespace gang::engine
