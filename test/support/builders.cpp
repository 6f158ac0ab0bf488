#include "support/builders.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "gang/base/check.h"

namespace gang::test {
namespace {

constexpr const char* kDefaultNamespace = "default";

api::Quantity quantity(std::string_view text) {
  const Result<api::Quantity> parsed = api::Quantity::parse(text);
  CHECK(parsed.has_value());
  return *parsed;
}

void set(api::StringMap& map, std::string key, std::string value) {
  const auto before = [](const auto& entry, const std::string& k) { return entry.first < k; };
  const auto place = std::lower_bound(map.begin(), map.end(), key, before);
  if (place != map.end() && place->first == key) {
    place->second = std::move(value);
  } else {
    map.emplace(place, std::move(key), std::move(value));
  }
}

api::Uid default_uid(const api::ObjectKey& key) {
  return {"uid-" + key.name_space + "-" + key.name};
}

api::Kind kind_of(const api::Object& object) {
  constexpr api::Kind kKinds[] = {api::Kind::kPod,
                                  api::Kind::kPod,
                                  api::Kind::kNode,
                                  api::Kind::kPodGroup,
                                  api::Kind::kCompositePodGroup,
                                  api::Kind::kWorkload,
                                  api::Kind::kPriorityClass,
                                  api::Kind::kNamespace,
                                  api::Kind::kResourceSlice,
                                  api::Kind::kResourceClaim,
                                  api::Kind::kResourceClaimTemplate,
                                  api::Kind::kDeviceClass,
                                  api::Kind::kDeviceTaintRule};
  return kKinds[object.index()];
}

api::Delta delta(api::DeltaType type, api::Object object) {
  api::Delta result;
  result.type = type;
  result.kind = kind_of(object);
  result.resource_version = api::meta_of(object).resource_version;
  result.object = std::move(object);
  return result;
}

}  // namespace

TimePoint at_second(std::int64_t seconds) {
  return TimePoint(std::chrono::seconds(seconds));
}

api::ResourceList resources(const Amounts& amounts) {
  api::ResourceList list;
  for (const auto& [name, text] : amounts) list.set(name, quantity(text));
  return list;
}

PodBuilder::PodBuilder(std::string name) {
  pod_.meta.key = {kDefaultNamespace, std::move(name)};
  pod_.meta.creation_time = at_second(0);
  pod_.scheduler_name = kOurScheduler;
  pod_.containers.push_back({.name = "main"});
}

PodBuilder& PodBuilder::in(std::string name_space) {
  pod_.meta.key.name_space = std::move(name_space);
  return *this;
}

PodBuilder& PodBuilder::uid(std::string uid) {
  pod_.meta.uid.text = std::move(uid);
  return *this;
}

PodBuilder& PodBuilder::version(std::int64_t resource_version) {
  pod_.meta.resource_version.text = std::to_string(resource_version);
  return *this;
}

PodBuilder& PodBuilder::generation(std::int64_t generation) {
  pod_.meta.generation = generation;
  return *this;
}

PodBuilder& PodBuilder::created(std::int64_t second) {
  pod_.meta.creation_time = at_second(second);
  return *this;
}

PodBuilder& PodBuilder::deleting(std::int64_t second) {
  pod_.meta.deletion_time = at_second(second);
  return *this;
}

PodBuilder& PodBuilder::unreadable(std::string why) {
  pod_.meta.unreadable = std::move(why);
  return *this;
}

PodBuilder& PodBuilder::controller(std::string kind, std::string name) {
  api::Uid owner{"uid-" + name};
  pod_.meta.controller = api::ControllerRef{std::move(kind), std::move(name), std::move(owner)};
  return *this;
}

PodBuilder& PodBuilder::stamp(std::string round) {
  set(pod_.meta.annotations, std::string(api::kRoundAnnotation), std::move(round));
  return *this;
}

PodBuilder& PodBuilder::group(std::string pod_group) {
  pod_.pod_group_name = std::move(pod_group);
  return *this;
}

PodBuilder& PodBuilder::scheduler(std::string scheduler_name) {
  pod_.scheduler_name = std::move(scheduler_name);
  return *this;
}

PodBuilder& PodBuilder::on(std::string node) {
  pod_.node_name = std::move(node);
  return *this;
}

PodBuilder& PodBuilder::nominated(std::string node) {
  pod_.nominated_node_name = std::move(node);
  return *this;
}

PodBuilder& PodBuilder::priority(std::int32_t value, std::string class_name) {
  pod_.priority = value;
  pod_.priority_class_name = std::move(class_name);
  return *this;
}

PodBuilder& PodBuilder::preemption_policy(std::string policy) {
  pod_.preemption_policy = std::move(policy);
  return *this;
}

PodBuilder& PodBuilder::gate(std::string name) {
  pod_.scheduling_gates.push_back(std::move(name));
  return *this;
}

PodBuilder& PodBuilder::phase(api::PodPhase phase) {
  pod_.phase = phase;
  return *this;
}

PodBuilder& PodBuilder::condition(api::Condition condition) {
  pod_.conditions.push_back(std::move(condition));
  return *this;
}

api::Container& PodBuilder::main() {
  return *std::find_if(pod_.containers.begin(), pod_.containers.end(),
                       [](const api::Container& c) { return c.name == "main"; });
}

PodBuilder& PodBuilder::request(std::string_view resource, std::string_view text) {
  main().requests.set(resource, quantity(text));
  return *this;
}

PodBuilder& PodBuilder::add_init(api::ContainerKind kind, std::string name,
                                 const Amounts& requests) {
  const auto first_main =
      std::find_if(pod_.containers.begin(), pod_.containers.end(),
                   [](const api::Container& c) { return c.kind == api::ContainerKind::kMain; });
  pod_.containers.insert(first_main, {std::move(name), kind, resources(requests), {}, {}});
  return *this;
}

PodBuilder& PodBuilder::init(std::string name, const Amounts& requests) {
  return add_init(api::ContainerKind::kInit, std::move(name), requests);
}

PodBuilder& PodBuilder::sidecar(std::string name, const Amounts& requests) {
  return add_init(api::ContainerKind::kSidecar, std::move(name), requests);
}

PodBuilder& PodBuilder::container(std::string name, const Amounts& requests) {
  pod_.containers.push_back(
      {std::move(name), api::ContainerKind::kMain, resources(requests), {}, {}});
  return *this;
}

PodBuilder& PodBuilder::pod_level(const Amounts& requests) {
  pod_.pod_level = api::PodLevelResources{resources(requests), {}, {}};
  return *this;
}

PodBuilder& PodBuilder::overhead(const Amounts& amounts) {
  pod_.overhead = resources(amounts);
  return *this;
}

PodBuilder& PodBuilder::allocated(const Amounts& amounts) {
  main().allocated = resources(amounts);
  return *this;
}

PodBuilder& PodBuilder::actuated(const Amounts& amounts) {
  main().actuated = resources(amounts);
  return *this;
}

PodBuilder& PodBuilder::selects(std::string label, std::string value) {
  set(pod_.node_selector, std::move(label), std::move(value));
  return *this;
}

PodBuilder& PodBuilder::requires_term(api::NodeSelectorTerm term) {
  if (!pod_.required_affinity) pod_.required_affinity.emplace();
  pod_.required_affinity->terms.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::prefers(std::int32_t weight, api::NodeSelectorTerm term) {
  pod_.preferred_affinity.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::tolerates(std::string key) {
  return tolerates(api::Toleration{std::move(key), "Exists", "", ""});
}

PodBuilder& PodBuilder::tolerates(api::Toleration toleration) {
  pod_.tolerations.push_back(std::move(toleration));
  return *this;
}

PodBuilder& PodBuilder::host_port(std::int32_t port, std::string protocol, std::string ip) {
  pod_.host_ports.push_back({std::move(ip), std::move(protocol), port});
  std::sort(pod_.host_ports.begin(), pod_.host_ports.end());
  return *this;
}

PodBuilder& PodBuilder::rules(api::PodRules rules) {
  pod_.rules = rules;
  return *this;
}

api::Pod PodBuilder::build() const {
  api::Pod result = pod_;
  if (result.meta.uid.empty()) result.meta.uid = default_uid(result.meta.key);
  return result;
}

NodeBuilder::NodeBuilder(std::string name) {
  node_.meta.uid.text = "uid-" + name;
  node_.meta.labels = {{"kubernetes.io/hostname", name}};
  node_.meta.key.name = std::move(name);
  node_.allocatable = resources({{"cpu", "4"}, {"memory", "8Gi"}, {"pods", "110"}});
}

NodeBuilder& NodeBuilder::uid(std::string uid) {
  node_.meta.uid.text = std::move(uid);
  return *this;
}

NodeBuilder& NodeBuilder::version(std::int64_t resource_version) {
  node_.meta.resource_version.text = std::to_string(resource_version);
  return *this;
}

NodeBuilder& NodeBuilder::unreadable(std::string why) {
  node_.meta.unreadable = std::move(why);
  return *this;
}

NodeBuilder& NodeBuilder::unreadable_resource(std::string resource) {
  node_.unreadable_resources.push_back(std::move(resource));
  return *this;
}

NodeBuilder& NodeBuilder::label(std::string key, std::string value) {
  set(node_.meta.labels, std::move(key), std::move(value));
  return *this;
}

NodeBuilder& NodeBuilder::taint(std::string key, std::string value, api::TaintEffect effect) {
  node_.taints.push_back({std::move(key), std::move(value), effect});
  return *this;
}

NodeBuilder& NodeBuilder::unschedulable(bool value) {
  node_.unschedulable = value;
  return *this;
}

NodeBuilder& NodeBuilder::offers(std::string_view resource, std::string_view text) {
  node_.allocatable.set(resource, quantity(text));
  return *this;
}

PodGroupBuilder::PodGroupBuilder(std::string name) {
  group_.meta.key = {kDefaultNamespace, std::move(name)};
  group_.meta.creation_time = at_second(0);
  group_.spec.policy = api::GroupPolicy::kGang;
}

PodGroupBuilder& PodGroupBuilder::in(std::string name_space) {
  group_.meta.key.name_space = std::move(name_space);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::uid(std::string uid) {
  group_.meta.uid.text = std::move(uid);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::version(std::int64_t resource_version) {
  group_.meta.resource_version.text = std::to_string(resource_version);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::created(std::int64_t second) {
  group_.meta.creation_time = at_second(second);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::unreadable(std::string why) {
  group_.meta.unreadable = std::move(why);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::min(std::int32_t min_count) {
  group_.spec.min_count = min_count;
  return *this;
}

PodGroupBuilder& PodGroupBuilder::basic() {
  group_.spec.policy = api::GroupPolicy::kBasic;
  group_.spec.min_count = 1;
  return *this;
}

PodGroupBuilder& PodGroupBuilder::priority(std::int32_t value, std::string class_name) {
  group_.spec.priority = value;
  group_.spec.priority_class_name = std::move(class_name);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::preemption_policy(std::string policy) {
  group_.spec.preemption_policy = std::move(policy);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::parent(std::string composite) {
  group_.spec.parent_name = std::move(composite);
  return *this;
}

PodGroupBuilder& PodGroupBuilder::topology(std::string key) {
  group_.spec.topology_keys.push_back(std::move(key));
  return *this;
}

PodGroupBuilder& PodGroupBuilder::condition(api::Condition condition) {
  group_.conditions.push_back(std::move(condition));
  return *this;
}

api::PodGroup PodGroupBuilder::build() const {
  api::PodGroup result = group_;
  if (result.meta.uid.empty()) result.meta.uid = default_uid(result.meta.key);
  return result;
}

api::CompositePodGroup composite(std::string name, std::string name_space) {
  api::CompositePodGroup result;
  result.meta.key = {std::move(name_space), std::move(name)};
  result.meta.uid = default_uid(result.meta.key);
  result.spec.policy = api::GroupPolicy::kGang;
  return result;
}

api::PriorityClass priority_class(std::string name, std::int32_t value) {
  api::PriorityClass result;
  result.meta.uid.text = "uid-" + name;
  result.meta.key.name = std::move(name);
  result.value = value;
  return result;
}

api::Delta added(api::Object object) {
  return delta(api::DeltaType::kAdded, std::move(object));
}
api::Delta updated(api::Object object) {
  return delta(api::DeltaType::kUpdated, std::move(object));
}
api::Delta deleted(api::Object object) {
  return delta(api::DeltaType::kDeleted, std::move(object));
}

api::Delta finished(PodBuilder pod) {
  api::Delta result = added(pod.phase(api::PodPhase::kSucceeded).build());
  result.kind = api::Kind::kFinishedPod;
  return result;
}

api::Delta mark(api::DeltaType type, api::Kind kind) {
  api::Delta result;
  result.type = type;
  result.kind = kind;
  return result;
}

std::vector<api::Delta> empty_lists() {
  std::vector<api::Delta> result;
  for (int kind = 0; kind < api::kKindCount; ++kind) {
    result.push_back(list_begin(static_cast<api::Kind>(kind)));
    result.push_back(list_end(static_cast<api::Kind>(kind)));
  }
  return result;
}

}  // namespace gang::test
