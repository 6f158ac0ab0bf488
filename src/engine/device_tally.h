// What became of the devices that a request could have, counted over nodes. For texts of refusals.
//
// Source: the devices contract, 13 ("devices seen, and how many fell to what").
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "engine/device_draft.h"
#include "engine/device_node.h"

namespace gang::engine {

/// A node as the members of the kind see it.
struct SeenNode {
  DeviceNode devices;
  bool is_closed = false;  ///< its labels or taints let none of them in
};

/// What became of the devices that one request could have. A value.
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
  std::string refusal;            ///< why no node was looked at for the request, or ""
  /// Those that serve the request while nobody else has them.
  [[nodiscard]] std::int64_t able() const { return matching - small; }
  [[nodiscard]] std::int64_t free() const {
    return able() - held - tainted - closed - avoided - blocked;
  }
};

/// Counts devices for one ask, each once however many nodes can use it: closed nodes come last.
/// Lives for one refusal; one thread.
class Counter {
 public:
  /// All outlive this.
  Counter(const DeviceStage& stage, const api::ResourceClaim& claim, std::size_t request,
          std::size_t alternative = 0)
      : stage_(stage), claim_(claim), request_(request), alternative_(alternative) {}

  void look_at(const SeenNode& seen);
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void count(const DeviceCandidate& candidate, const api::DeviceAsk& ask, bool is_closed);
  void count_tainted(const DeviceCandidate& candidate, const api::DeviceAsk& ask);
  void count_free(const DeviceCandidate& candidate);
  [[nodiscard]] bool is_small(const cluster::PoolDevice& device, const api::DeviceAsk& ask) const;
  /// What makes the device's counters unknown; null where they are known, or shared already.
  [[nodiscard]] const cluster::UnseenDevice* blocker_of(const DeviceCandidate& candidate) const;

  const DeviceStage& stage_;
  const api::ResourceClaim& claim_;
  const std::size_t request_;
  const std::size_t alternative_;
  std::set<cluster::DeviceId> seen_;
  Tally tally_;
};

}  // namespace gang::engine
