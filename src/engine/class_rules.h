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

/// What filters and terms read of a class. Owned by its CapacityTable, which alone updates the
/// domains; the rest is constant.
struct ClassRules {
  /// REQUIRES: at most kRequestsMax requests.
  ClassRules(std::shared_ptr<const cluster::PodClass> of, const Options& options,
             const cluster::ResourceNames& names);

  /// Takes over where the terms that match the class hold now; false when it is as before.
  bool update_domains(const cluster::Snapshot& snapshot);

  std::shared_ptr<const cluster::PodClass> pod_class;
  /// By PodClass::repelled_by; null = nowhere.
  std::vector<std::shared_ptr<const cluster::TermDomain>> domains;
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
