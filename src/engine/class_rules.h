// ClassRules: a PodClass made ready for judging many nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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

/// What filters and terms read of a class. Immutable; owned by its CapacityTable.
struct ClassRules {
  /// REQUIRES: at most kRequestsMax requests.
  ClassRules(std::shared_ptr<const cluster::PodClass> of, const Options& options,
             const cluster::ResourceNames& names);

  std::shared_ptr<const cluster::PodClass> pod_class;
  api::TolerationComparison comparison = api::TolerationComparison::kOff;
  /// Set when every required term names its nodes: only these can match. Sorted.
  std::optional<std::vector<std::string>> named_nodes;
  std::vector<cluster::ResourceAmount> accelerators;  ///< requests that are accelerators
  bool requests_cpu_or_memory = false;
  std::vector<ReasonLine> lines;  ///< of the filters, in their order
  LineSet facts_lines = 0;        ///< lines of filters that read the node's facts only
  std::vector<std::uint32_t> usage_first_line;  ///< by usage filter
};

}  // namespace gang::engine
