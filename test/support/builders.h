// Builders of API objects and deltas for tests: pod("a").group("g").gpu(8), node("n1").gpu(8).
//
// Everything omitted has one default. A pod: namespace "default", uid "uid-<namespace>-<name>", our
// schedulerName, unassigned, phase Pending, created at 0, no resource version (such objects are
// never taken for duplicates), one container "main" without requests. A node: cpu 4, memory 8Gi,
// 110 pods, label kubernetes.io/hostname. A group: policy gang with minCount 1. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/api/delta.h"
#include "gang/api/node.h"
#include "gang/api/pod.h"
#include "gang/api/pod_group.h"
#include "gang/api/workload.h"

namespace gang::test {

/// The schedulerName that is ours in every test.
inline constexpr const char* kOurScheduler = "gang-scheduler";
/// The extended resource that gpu() means.
inline constexpr const char* kGpu = "nvidia.com/gpu";

/// A point of test time, in seconds after 1970.
[[nodiscard]] TimePoint at_second(std::int64_t seconds);

/// {{"cpu", "1"}, {"memory", "1Gi"}} as a ResourceList; aborts on text that is no quantity.
using Amounts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] api::ResourceList resources(const Amounts& amounts);

/// Builds a Pod; every verb returns the builder.
class PodBuilder {
 public:
  explicit PodBuilder(std::string name);

  PodBuilder& in(std::string name_space);
  PodBuilder& uid(std::string uid);
  PodBuilder& version(std::int64_t resource_version);
  PodBuilder& generation(std::int64_t generation);
  PodBuilder& created(std::int64_t second);
  PodBuilder& deleting(std::int64_t second = 1);
  PodBuilder& unreadable(std::string why);
  PodBuilder& controller(std::string kind, std::string name);
  PodBuilder& stamp(std::string round);  ///< annotation kRoundAnnotation

  PodBuilder& group(std::string pod_group);
  PodBuilder& scheduler(std::string scheduler_name);
  PodBuilder& on(std::string node);  ///< spec.nodeName
  PodBuilder& nominated(std::string node);
  PodBuilder& priority(std::int32_t value, std::string class_name = "");
  PodBuilder& preemption_policy(std::string policy);
  PodBuilder& gate(std::string name);
  PodBuilder& phase(api::PodPhase phase);
  PodBuilder& condition(api::Condition condition);

  /// Requests of the container "main".
  PodBuilder& request(std::string_view resource, std::string_view quantity);
  PodBuilder& cpu(std::string_view quantity) { return request("cpu", quantity); }
  PodBuilder& memory(std::string_view quantity) { return request("memory", quantity); }
  PodBuilder& gpu(std::int64_t count) { return request(kGpu, std::to_string(count)); }
  /// Further containers; init containers and sidecars stand before "main", in the order told.
  PodBuilder& init(std::string name, const Amounts& requests);
  PodBuilder& sidecar(std::string name, const Amounts& requests);
  PodBuilder& container(std::string name, const Amounts& requests);
  PodBuilder& pod_level(const Amounts& requests);
  PodBuilder& overhead(const Amounts& amounts);
  /// What status says of "main" (in-place resize).
  PodBuilder& allocated(const Amounts& amounts);
  PodBuilder& actuated(const Amounts& amounts);

  PodBuilder& selects(std::string label, std::string value);  ///< nodeSelector
  PodBuilder& requires_term(api::NodeSelectorTerm term);      ///< ORed with those told before
  PodBuilder& prefers(std::int32_t weight, api::NodeSelectorTerm term);
  PodBuilder& tolerates(std::string key);  ///< operator Exists, every effect
  PodBuilder& tolerates(api::Toleration toleration);
  PodBuilder& host_port(std::int32_t port, std::string protocol = "TCP",
                        std::string ip = "0.0.0.0");
  PodBuilder& rules(api::PodRules rules);

  [[nodiscard]] api::Pod build() const;
  operator api::Pod() const { return build(); }  // NOLINT: a builder stands for what it builds

 private:
  api::Container& main();
  PodBuilder& add_init(api::ContainerKind kind, std::string name, const Amounts& requests);
  api::Pod pod_;
};

[[nodiscard]] inline PodBuilder pod(std::string name) {
  return PodBuilder(std::move(name));
}

/// Builds a Node; every verb returns the builder.
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name);

  NodeBuilder& uid(std::string uid);
  NodeBuilder& version(std::int64_t resource_version);
  NodeBuilder& unreadable(std::string why);
  NodeBuilder& unreadable_resource(std::string resource);
  NodeBuilder& label(std::string key, std::string value);
  NodeBuilder& taint(std::string key, std::string value = "",
                     api::TaintEffect effect = api::TaintEffect::kNoSchedule);
  NodeBuilder& unschedulable(bool value = true);
  NodeBuilder& offers(std::string_view resource, std::string_view quantity);
  NodeBuilder& cpu(std::string_view quantity) { return offers("cpu", quantity); }
  NodeBuilder& memory(std::string_view quantity) { return offers("memory", quantity); }
  NodeBuilder& pods(std::int64_t count) { return offers("pods", std::to_string(count)); }
  NodeBuilder& gpu(std::int64_t count) { return offers(kGpu, std::to_string(count)); }

  [[nodiscard]] api::Node build() const { return node_; }
  operator api::Node() const { return node_; }  // NOLINT

 private:
  api::Node node_;
};

[[nodiscard]] inline NodeBuilder node(std::string name) {
  return NodeBuilder(std::move(name));
}

/// Builds a PodGroup; every verb returns the builder.
class PodGroupBuilder {
 public:
  explicit PodGroupBuilder(std::string name);

  PodGroupBuilder& in(std::string name_space);
  PodGroupBuilder& uid(std::string uid);
  PodGroupBuilder& version(std::int64_t resource_version);
  PodGroupBuilder& created(std::int64_t second);
  PodGroupBuilder& unreadable(std::string why);
  PodGroupBuilder& min(std::int32_t min_count);
  PodGroupBuilder& basic();
  PodGroupBuilder& priority(std::int32_t value, std::string class_name = "");
  PodGroupBuilder& preemption_policy(std::string policy);
  PodGroupBuilder& parent(std::string composite);
  PodGroupBuilder& topology(std::string key);
  PodGroupBuilder& condition(api::Condition condition);

  [[nodiscard]] api::PodGroup build() const;
  operator api::PodGroup() const { return build(); }  // NOLINT

 private:
  api::PodGroup group_;
};

[[nodiscard]] inline PodGroupBuilder pod_group(std::string name) {
  return PodGroupBuilder(std::move(name));
}

[[nodiscard]] api::CompositePodGroup composite(std::string name,
                                               std::string name_space = "default");
[[nodiscard]] api::PriorityClass priority_class(std::string name, std::int32_t value);

/// Deltas; the kind follows from the object. finished() tells a Pod as kFinishedPod.
[[nodiscard]] api::Delta added(api::Object object);
[[nodiscard]] api::Delta updated(api::Object object);
[[nodiscard]] api::Delta deleted(api::Object object);
[[nodiscard]] api::Delta finished(PodBuilder pod);
[[nodiscard]] api::Delta mark(api::DeltaType type, api::Kind kind);
[[nodiscard]] inline api::Delta list_begin(api::Kind kind) {
  return mark(api::DeltaType::kListBegin, kind);
}
[[nodiscard]] inline api::Delta list_end(api::Kind kind) {
  return mark(api::DeltaType::kListEnd, kind);
}
/// ListBegin and ListEnd of every kind: an empty cluster, synced.
[[nodiscard]] std::vector<api::Delta> empty_lists();

}  // namespace gang::test
