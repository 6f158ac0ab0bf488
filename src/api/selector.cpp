#include "gang/api/selector.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace gang::api {
namespace {

constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kPrefixBytesMax = 253;
constexpr std::string_view kNameField = "metadata.name";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || is_digit(c);
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/// Base-10 int64 as Go's ParseInt reads it: a sign and leading zeros are accepted.
std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The canonical spelling only: "0", or an optional '-' and digits that do not start with 0.
std::optional<std::int64_t> parse_canonical_integer(std::string_view text) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool canonical = text == "0" || (!digits.empty() && digits[0] >= '1' && digits[0] <= '9');
  return canonical ? parse_integer(text) : std::nullopt;
}

/// [A-Za-z0-9] with '-', '_' and '.' inside, at most 63 bytes.
bool is_label_name(std::string_view text) {
  if (text.empty() || text.size() > kLabelBytesMax) return false;
  if (!is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_label_value(std::string_view text) {
  return text.empty() || is_label_name(text);
}

/// DNS subdomain: lower-case labels joined by dots.
bool is_subdomain(std::string_view text) {
  if (text.empty() || text.size() > kPrefixBytesMax) return false;
  char before = '.';
  for (const char c : text) {
    const bool edge = c == '.' || c == '-';
    if (!edge && !is_lower_alnum(c)) return false;
    if (c == '.' && !is_lower_alnum(before)) return false;
    if (c == '-' && before == '.') return false;
    before = c;
  }
  return is_lower_alnum(before);
}

bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return is_label_name(key);
  return is_subdomain(key.substr(0, slash)) && is_label_name(key.substr(slash + 1));
}

/// Null when well formed.
const char* expression_problem(const NodeSelectorRequirement& requirement) {
  if (!is_label_key(requirement.key)) return "the key is not a label key";
  for (const std::string& value : requirement.values) {
    if (!is_label_value(value)) return "a value is not a label value";
  }
  const std::string& op = requirement.op;
  if (op == "In" || op == "NotIn") {
    return requirement.values.empty() ? "In and NotIn need at least one value" : nullptr;
  }
  if (op == "Exists" || op == "DoesNotExist") {
    return requirement.values.empty() ? nullptr : "Exists and DoesNotExist take no values";
  }
  if (op == "Gt" || op == "Lt") {
    const bool one_integer =
        requirement.values.size() == 1 && parse_integer(requirement.values.front());
    return one_integer ? nullptr : "Gt and Lt need exactly one integer";
  }
  return "the operator is none of In, NotIn, Exists, DoesNotExist, Gt, Lt";
}

/// Null when well formed.
const char* field_problem(const NodeSelectorRequirement& requirement) {
  if (requirement.key != kNameField) return "the only field is metadata.name";
  if (requirement.op != "In" && requirement.op != "NotIn") return "a field takes In or NotIn";
  return requirement.values.size() == 1 ? nullptr : "a field takes exactly one value";
}

bool has_value(const NodeSelectorRequirement& requirement, std::string_view value) {
  return std::find(requirement.values.begin(), requirement.values.end(), value) !=
         requirement.values.end();
}

/// Gt: the label is larger than the value. A label that is no integer never compares.
bool compares(const NodeSelectorRequirement& requirement, const std::string* label) {
  if (label == nullptr) return false;
  const std::optional<std::int64_t> left = parse_integer(*label);
  const std::optional<std::int64_t> right = parse_integer(requirement.values.front());
  if (!left || !right) return false;
  return requirement.op == "Gt" ? *left > *right : *left < *right;
}

/// REQUIRES: the requirement is well formed.
bool expression_matches(const NodeSelectorRequirement& requirement, const StringMap& labels) {
  const std::string* label = find(labels, requirement.key);
  const std::string& op = requirement.op;
  if (op == "In") return label != nullptr && has_value(requirement, *label);
  if (op == "NotIn") return label == nullptr || !has_value(requirement, *label);
  if (op == "Exists") return label != nullptr;
  if (op == "DoesNotExist") return label == nullptr;
  return compares(requirement, label);
}

bool value_tolerated(const Toleration& toleration, const Taint& taint,
                     TolerationComparison comparison) {
  const std::string& op = toleration.op;
  if (op.empty() || op == "Equal") return toleration.value == taint.value;
  if (op == "Exists") return true;
  if ((op != "Lt" && op != "Gt") || comparison == TolerationComparison::kOff) return false;
  const std::optional<std::int64_t> taint_value = parse_canonical_integer(taint.value);
  const std::optional<std::int64_t> limit = parse_canonical_integer(toleration.value);
  if (!taint_value || !limit) return false;
  return op == "Lt" ? *taint_value < *limit : *taint_value > *limit;
}

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
    case TaintEffect::kOther:
      return "";
  }
  return "";
}

}  // namespace

bool tolerates(const Toleration& toleration, const Taint& taint, TolerationComparison comparison) {
  if (!toleration.effect.empty() && toleration.effect != effect_text(taint.effect)) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return value_tolerated(toleration, taint, comparison);
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint,
               TolerationComparison comparison) {
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const Toleration& toleration) {
    return tolerates(toleration, taint, comparison);
  });
}

/// An empty term is well formed, and matches no node.
std::string term_problem(const NodeSelectorTerm& term) {
  for (const NodeSelectorRequirement& requirement : term.expressions) {
    if (const char* problem = expression_problem(requirement)) {
      return "matchExpressions \"" + requirement.key + "\" " + requirement.op + ": " + problem;
    }
  }
  for (const NodeSelectorRequirement& requirement : term.fields) {
    if (const char* problem = field_problem(requirement)) {
      return "matchFields \"" + requirement.key + "\" " + requirement.op + ": " + problem;
    }
  }
  return "";
}

bool matches(const NodeSelectorTerm& term, const NodeFacts& node) {
  if (term.expressions.empty() && term.fields.empty()) return false;
  const bool fields_match = std::all_of(
      term.fields.begin(), term.fields.end(), [&](const NodeSelectorRequirement& requirement) {
        if (field_problem(requirement) != nullptr) return false;
        return (requirement.values.front() == node.name) == (requirement.op == "In");
      });
  return fields_match && std::all_of(term.expressions.begin(), term.expressions.end(),
                                     [&](const NodeSelectorRequirement& requirement) {
                                       return expression_problem(requirement) == nullptr &&
                                              expression_matches(requirement, node.labels);
                                     });
}

bool matches(const NodeSelector& selector, const NodeFacts& node) {
  return std::any_of(selector.terms.begin(), selector.terms.end(),
                     [&](const NodeSelectorTerm& term) { return matches(term, node); });
}

bool matches(const LabelSelector& selector, const StringMap& labels) {
  return std::all_of(selector.requirements.begin(), selector.requirements.end(),
                     [&](const NodeSelectorRequirement& requirement) {
                       const bool numeric = requirement.op == "Gt" || requirement.op == "Lt";
                       return !numeric && expression_problem(requirement) == nullptr &&
                              expression_matches(requirement, labels);
                     });
}

}  // namespace gang::api
