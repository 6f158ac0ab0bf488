// Node selectors, taints and tolerations as values, with the exact matching rules of 1.37.2.
//
// Source: the scheduling contract, 5.3 (taints) and 5.4 (node affinity). A malformed term never
// matches; other terms are still tried. Values only, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/meta.h"

namespace gang::api {

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute, kOther };

/// core/v1 Taint.
struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kOther;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

/// core/v1 Toleration; operator and effect keep their text, since unknown ones match nothing.
struct Toleration {
  std::string key;
  std::string op;  ///< "", "Equal", "Exists", "Lt", "Gt"
  std::string value;
  std::string effect;  ///< "" = every effect
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

/// Whether Lt and Gt are honoured (gate TaintTolerationComparisonOperators, off by default).
enum class TolerationComparison { kOff, kOn };

[[nodiscard]] bool tolerates(const Toleration& toleration, const Taint& taint,
                             TolerationComparison comparison);

/// Whether any toleration of the list tolerates the taint.
[[nodiscard]] bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint,
                             TolerationComparison comparison);

/// core/v1 NodeSelectorRequirement; the operator keeps its text.
struct NodeSelectorRequirement {
  std::string key;
  std::string op;
  std::vector<std::string> values;
  friend auto operator<=>(const NodeSelectorRequirement&, const NodeSelectorRequirement&) = default;
};

/// core/v1 NodeSelectorTerm. A term with neither list matches nothing.
struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> expressions;
  std::vector<NodeSelectorRequirement> fields;
  friend auto operator<=>(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

/// ORed terms; an empty list matches nothing.
struct NodeSelector {
  std::vector<NodeSelectorTerm> terms;
  friend auto operator<=>(const NodeSelector&, const NodeSelector&) = default;
};

/// A preferred scheduling term: weight 1..100.
struct PreferredTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm term;
  friend auto operator<=>(const PreferredTerm&, const PreferredTerm&) = default;
};

/// What a term is matched against.
struct NodeFacts {
  std::string_view name;
  const StringMap& labels;
};

/// Empty when the term is well formed, else what is wrong with it.
[[nodiscard]] std::string term_problem(const NodeSelectorTerm& term);

[[nodiscard]] bool matches(const NodeSelectorTerm& term, const NodeFacts& node);
[[nodiscard]] bool matches(const NodeSelector& selector, const NodeFacts& node);

/// metav1.LabelSelector, compiled: matchLabels and matchExpressions ANDed. Absent selects nothing.
struct LabelSelector {
  std::vector<NodeSelectorRequirement> requirements;  ///< In, NotIn, Exists, DoesNotExist
  friend auto operator<=>(const LabelSelector&, const LabelSelector&) = default;
};

[[nodiscard]] bool matches(const LabelSelector& selector, const StringMap& labels);

}  // namespace gang::api
