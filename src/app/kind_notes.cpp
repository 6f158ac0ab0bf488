#include "app/kind_notes.h"

#include <set>

namespace gang::app {

namespace {

constexpr const char* kServeDevices =
    "Use Kubernetes 1.34 or newer, with --runtime-config=resource.k8s.io/v1=true where it was "
    "switched off";

std::string unserved_message(api::Kind kind) {
  switch (kind) {
    case api::Kind::kPodGroup:
      return "PodGroups are not served: pods without a group are scheduled, pods that name a group "
             "wait. Start kube-apiserver with --feature-gates=GenericWorkload=true and "
             "--runtime-config=scheduling.k8s.io/v1beta1=true";
    case api::Kind::kWorkload:
      return "Workloads are not served: nothing waits for them, explanations do not name "
             "templates. "
             "Start kube-apiserver with --feature-gates=GenericWorkload=true and "
             "--runtime-config=scheduling.k8s.io/v1beta1=true";
    case api::Kind::kCompositePodGroup:
      return "CompositePodGroups are not served: trees of groups cannot exist, PodGroups work. "
             "Start kube-apiserver with --feature-gates=CompositePodGroup=true (it needs "
             "GenericWorkload and TopologyAwareWorkloadScheduling) and "
             "--runtime-config=scheduling.k8s.io/v1alpha3=true";
    case api::Kind::kResourceSlice:
      return "ResourceSlices are not served: there are no devices to allocate, everything else is "
             "scheduled. " +
             std::string(kServeDevices);
    case api::Kind::kResourceClaim:
      return "ResourceClaims are not served: pods and PodGroups that need one wait, all others are "
             "scheduled. " +
             std::string(kServeDevices);
    case api::Kind::kResourceClaimTemplate:
      return "ResourceClaimTemplates are not served: nothing waits for them, a claim that is to "
             "be made from one never comes. " +
             std::string(kServeDevices);
    case api::Kind::kDeviceClass:
      return "DeviceClasses are not served: claims that ask for devices are not allocated. " +
             std::string(kServeDevices);
    case api::Kind::kDeviceTaintRule:
      return "DeviceTaintRules are not served: only the taints in ResourceSlices count. Use "
             "Kubernetes 1.37 or newer with the feature gate DRADeviceTaintRules=true and "
             "--runtime-config=resource.k8s.io/v1=true";
    default:
      return std::string(api::kind_name(kind)) + " objects are not served by this API server";
  }
}

std::string forbidden_message(api::Kind kind) {
  return "not allowed to list and watch " + std::string(api::kind_name(kind)) +
         " objects: nothing is scheduled until the rights of deploy/rbac.yaml are given";
}

}  // namespace

std::vector<KindNote> KindNotes::observe(const api::Delta& delta) {
  KindState state = KindState::kServed;
  switch (delta.type) {
    case api::DeltaType::kListEnd:
      break;
    case api::DeltaType::kUnserved:
      state = KindState::kUnserved;
      break;
    case api::DeltaType::kForbidden:
      state = KindState::kForbidden;
      break;
    default:
      return {};
  }
  const KindState before = state_of(delta.kind);
  if (before == state) return {};
  states_[delta.kind] = state;
  const bool was_held = held_.erase(delta.kind) > 0;
  std::vector<KindNote> notes{{delta.kind, state, ""}};
  if (state == KindState::kUnserved) {
    held_.insert(delta.kind);
  } else {
    is_api_server_ = true;
  }
  if (state == KindState::kForbidden) notes.front().message = forbidden_message(delta.kind);
  if (state == KindState::kServed && before != KindState::kNotListed && !was_held) {
    notes.front().message = std::string(api::kind_name(delta.kind)) + " objects are served now";
  }
  if (is_api_server_) release(notes);
  return notes;
}

void KindNotes::release(std::vector<KindNote>& notes) {
  for (const api::Kind kind : held_) {
    notes.push_back({kind, KindState::kUnserved, unserved_message(kind)});
  }
  held_.clear();
}

KindState KindNotes::state_of(api::Kind kind) const {
  const auto known = states_.find(kind);
  return known == states_.end() ? KindState::kNotListed : known->second;
}

KindState KindNotes::state(std::string_view kind_name) const {
  std::set<KindState> found;
  for (int i = 0; i < api::kKindCount; ++i) {
    const auto kind = static_cast<api::Kind>(i);
    if (api::kind_name(kind) == kind_name) found.insert(state_of(kind));
  }
  for (const KindState worse :
       {KindState::kForbidden, KindState::kNotListed, KindState::kUnserved}) {
    if (found.contains(worse)) return worse;
  }
  return KindState::kServed;
}

std::string KindNotes::missing() const {
  std::string text;
  std::string_view last;
  for (int i = 0; i < api::kKindCount; ++i) {
    const std::string_view name = api::kind_name(static_cast<api::Kind>(i));
    const KindState known = state(name);
    const bool is_settled = known == KindState::kServed || known == KindState::kUnserved;
    if (is_settled || name == last) continue;
    last = name;
    const char* why = known == KindState::kForbidden ? ": forbidden" : ": not listed yet";
    text += (text.empty() ? "" : ", ") + std::string(name) + why;
  }
  return text;
}

}  // namespace gang::app
