// Metadata that every Kubernetes object carries, as plain values, and the project's own domain.
//
// Decoders fill these from metav1.ObjectMeta and metav1.Condition; only what some part reads is
// kept. Values only: copyable, comparable, any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gang/base/time.h"

namespace gang::api {

/// Domain of our labels, annotations, conditions and finalizers.
inline constexpr std::string_view kDomain = "gang-scheduler.dev";

/// Annotation that a Binding puts on the pod in the same write as spec.nodeName: the stamp.
inline constexpr std::string_view kRoundAnnotation = "gang-scheduler.dev/round";

/// metadata.uid. Compared as text; two objects of one name are the same only if this is equal.
struct Uid {
  std::string text;
  [[nodiscard]] bool empty() const { return text.empty(); }
  friend auto operator<=>(const Uid&, const Uid&) = default;
};

/// metadata.resourceVersion. Comparable only within one kind; see is_newer().
struct ResourceVersion {
  std::string text;
  [[nodiscard]] bool empty() const { return text.empty(); }
  /// True for a decimal number without leading zero, other than "0".
  [[nodiscard]] bool comparable() const;
  friend bool operator==(const ResourceVersion&, const ResourceVersion&) = default;
};

/// Decimal comparison by length, then bytes (never through 64-bit integers).
/// REQUIRES: both comparable().
[[nodiscard]] bool is_newer(const ResourceVersion& a, const ResourceVersion& b);

/// Namespace and name; cluster-wide objects have an empty namespace.
struct ObjectKey {
  std::string name_space;
  std::string name;
  /// "ns/name", or "name" when there is no namespace.
  [[nodiscard]] std::string text() const;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// A label or annotation map, sorted by key, keys unique.
using StringMap = std::vector<std::pair<std::string, std::string>>;

/// Value of `key` in a sorted StringMap, or null.
[[nodiscard]] const std::string* find(const StringMap& map, std::string_view key);

/// metadata.ownerReferences entry with controller=true.
struct ControllerRef {
  std::string kind;
  std::string name;
  Uid uid;
  std::string api_group = {};  ///< of its apiVersion; empty: the core group
  friend bool operator==(const ControllerRef&, const ControllerRef&) = default;
};

/// metav1.ObjectMeta as far as it is read here.
struct ObjectMeta {
  ObjectKey key;
  Uid uid;
  ResourceVersion resource_version;
  std::int64_t generation = 0;  ///< 0 = not managed for this kind
  TimePoint creation_time{};
  std::optional<TimePoint> deletion_time;  ///< deletionTimestamp: set = terminating
  StringMap labels;
  StringMap annotations;  ///< only those of kDomain and of a few known wrong recipes
  std::optional<ControllerRef> controller;
  /// Empty, or why the rest of the object could not be read: "spec.x: <why>; <mend>".
  /// Such an object is treated as unschedulable (pod, group) or as taking no new pods (node).
  std::string unreadable;
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;
};

enum class ConditionStatus { kTrue, kFalse, kUnknown };

/// "True", "False", "Unknown".
[[nodiscard]] std::string_view status_text(ConditionStatus status);

/// metav1.Condition; pod conditions use the same fields.
struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason;
  std::string message;
  TimePoint last_transition_time{};
  std::int64_t observed_generation = 0;  ///< 0 = absent
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// The condition of that type, or null.
[[nodiscard]] const Condition* find_condition(const std::vector<Condition>& conditions,
                                              std::string_view type);

}  // namespace gang::api

template <>
struct std::hash<gang::api::Uid> {
  std::size_t operator()(const gang::api::Uid& uid) const noexcept {
    return std::hash<std::string>()(uid.text);
  }
};
template <>
struct std::hash<gang::api::ObjectKey> {
  std::size_t operator()(const gang::api::ObjectKey& key) const noexcept {
    return std::hash<std::string>()(key.name_space) * 31 + std::hash<std::string>()(key.name);
  }
};
