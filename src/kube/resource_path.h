// Resource paths: where the API server keeps each kind, and the queries of list and watch.
#pragma once

#include <string>
#include <string_view>

#include "gang/api/delta.h"
#include "gang/kube/informer.h"

namespace gang::kube {

/// Percent-encodes everything but unreserved characters.
[[nodiscard]] std::string encode_component(std::string_view text);

/// "/api/v1/namespaces/ns/pods": the collection of a kind; all namespaces when `name_space` is
/// empty or the kind has none.
[[nodiscard]] std::string collection_path(api::Kind kind, std::string_view name_space);

/// "/api/v1/namespaces/ns/pods/name", encoded. REQUIRES: a namespaced kind and both parts.
[[nodiscard]] std::string object_path(api::Kind kind, const api::ObjectKey& key);

/// "scheduling.k8s.io/v1beta1 podgroups", for messages.
[[nodiscard]] std::string resource_text(api::Kind kind);

/// Whether a server may lack the kind (its absence is an empty set, not a failure).
[[nodiscard]] bool is_optional(api::Kind kind);

/// Targets of one scope: its collection, its selector, and what list and watch add to them.
///
/// A value made once per informer; pure.
class ListWatchPaths {
 public:
  explicit ListWatchPaths(const InformerScope& scope);
  /// One page; `continue_token` is empty for the first.
  [[nodiscard]] std::string list(int limit, std::string_view continue_token) const;
  /// A watch that begins with the whole set.
  [[nodiscard]] std::string watch_list(int timeout_seconds) const;
  [[nodiscard]] std::string watch(std::string_view resource_version, int timeout_seconds) const;

 private:
  std::string collection_;
  std::string selector_;  ///< "&fieldSelector=..." or empty
};

}  // namespace gang::kube
