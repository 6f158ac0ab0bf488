// Filters: named feasibility checks, in the order of upstream's default profile.
//
// Per node the first filter that says no decides, and only its lines are the reason. Two kinds:
// what reads the node's facts alone (kept until the facts change), and what reads its usage, which
// says how many members fit. NodeName has nothing to do: a pending pod names no node.
// To add one: a file filter_<noun>.cpp, a row in filter.cpp, a scenario, a row in the docs.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/class_rules.h"
#include "engine/overlay.h"

namespace gang::engine {

/// A check of labels, taints and the like. Constant.
struct FactsFilter {
  const char* name;
  const char* text;  ///< its reason
  bool (*refuses)(const ClassRules&, const cluster::NodeInfo&);
};

/// A check of what the gang itself has met on a node: it refuses the nodes of
/// Gang::avoided_nodes, after the facts and before the usage. Tables do not know it, since gangs
/// share them; Draft::begin() applies it. Constant.
struct GangFilter {
  const char* name;
  const char* text;
};

/// How many members fit, and the lines that refuse the next one after them. A value.
struct Room {
  std::int64_t count = std::numeric_limits<std::int64_t>::max();
  LineSet lines = 0;  ///< bit i stands for the i-th of UsageFilter::texts
};

/// A check of what the pods on the node have taken. Constant.
struct UsageFilter {
  const char* name;
  std::vector<std::string> (*texts)(const cluster::PodClass&, const cluster::ResourceNames&);
  Room (*room)(const ClassRules&, const NodeUse&);
};

[[nodiscard]] std::span<const FactsFilter> facts_filters();
[[nodiscard]] std::span<const UsageFilter> usage_filters();

/// The first line that refuses, as a set of one; empty when all pass.
[[nodiscard]] LineSet facts_refusal(const ClassRules& rules, const cluster::NodeInfo& node);
/// Room under all usage filters; lines are bits of ClassRules::lines.
[[nodiscard]] Room usage_room(const ClassRules& rules, const NodeUse& use);

/// Whether a term of a pod on some node closes this one to the class.
[[nodiscard]] bool is_repelled(const ClassRules& rules, const NodeUse& use);

// The filters, each in the file named after it.
extern const FactsFilter kNodeUnreadable;
extern const FactsFilter kNodeNamesConflict;
extern const FactsFilter kNodeNames;
extern const FactsFilter kNodeUnschedulable;
extern const FactsFilter kTaintToleration;
extern const FactsFilter kNodeAffinity;
extern const GangFilter kKubeletRejection;
extern const UsageFilter kNamedClaim;
extern const UsageFilter kNodePorts;
extern const UsageFilter kNodeResourcesFit;
extern const UsageFilter kInterPodAffinity;

}  // namespace gang::engine
