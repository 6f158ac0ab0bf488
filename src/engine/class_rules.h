// ClassRules: a PodClass made ready for judging many nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gang/cluster/device_view.h"
#include "gang/cluster/gang.h"
#include "gang/cluster/snapshot.h"
#include "gang/engine/options.h"

namespace gang::engine {

/// A set of reason lines of one class: bit i stands for ClassRules::lines[i].
using LineSet = std::uint64_t;

/// Requested resources that a class may have: each is a reason line, and lines are bits.
inline constexpr std::size_t kRequestsMax = 48;

/// One way in which a filter says no.
struct ReasonLine {
  const char* filter = "";
  std::string text;
};

/// What filters and terms read of a class. Owned by its CapacityTable, which alone updates the
/// domains and what is served; the rest is constant.
struct ClassRules {
  /// REQUIRES: at most kRequestsMax requests.
  ClassRules(std::shared_ptr<const cluster::PodClass> of, const Options& options,
             const cluster::ResourceNames& names);

  /// Takes over where the terms that match the class hold now; false when it is as before.
  bool update_domains(const cluster::Snapshot& snapshot);

  /// Takes over which classes of devices stand behind resources; false when it is as before.
  bool update_served(const cluster::Snapshot& snapshot);

  /// Whether devices serve the i-th request where the node offers nothing of it.
  [[nodiscard]] bool may_be_served(std::size_t request) const {
    return (served >> request & 1) != 0;
  }

  std::shared_ptr<const cluster::PodClass> pod_class;
  /// By PodClass::repelled_by; null = nowhere.
  std::vector<std::shared_ptr<const cluster::TermDomain>> domains;
  /// As last taken over; null where no request can be served by devices.
  std::shared_ptr<const cluster::ExtendedResources> extended;
  LineSet served = 0;  ///< bit i: devices serve PodClass::requests[i] where the node has none
  bool plans_extended = false;
  api::TolerationComparison comparison = api::TolerationComparison::kOff;
  /// Set when every required term names its nodes: only these can match. Sorted.
  std::optional<std::vector<std::string>> named_nodes;
  std::vector<cluster::ResourceAmount> accelerators;  ///< requests that are accelerators
  bool requests_cpu_or_memory = false;
  std::vector<ReasonLine> lines;  ///< of the filters, in their order
  LineSet facts_lines = 0;        ///< lines of filters that no pod on the node changes
  LineSet avoided_line = 0;       ///< the one of them that is the gang's, see GangFilter
  std::vector<std::uint32_t> usage_first_line;  ///< by usage filter
};

}  // namespace gang::engine
