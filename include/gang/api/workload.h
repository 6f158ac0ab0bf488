// Workload (scheduling.k8s.io/v1beta1) and PriorityClass: what users declare ahead of their pods.
//
// Neither is needed to schedule: a PodGroup may name a Workload that does not exist. They are read
// to explain (which template, which class has which value). Values only, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gang/api/meta.h"
#include "gang/api/pod_group.h"

namespace gang::api {

/// One template of a Workload's tree; `children` is filled for composite templates only.
struct GroupTemplate {
  std::string name;
  bool is_composite = false;
  GroupSpec spec;  ///< names of parent and workload stay empty
  std::vector<ClaimEntry> claims;
  std::vector<GroupTemplate> children;
  friend bool operator==(const GroupTemplate&, const GroupTemplate&) = default;
};

/// scheduling.k8s.io Workload: whose it is and its tree of templates.
struct Workload {
  ObjectMeta meta;
  std::string controller_kind;  ///< spec.controllerRef; empty when absent
  std::string controller_name;
  std::vector<GroupTemplate> templates;
  friend bool operator==(const Workload&, const Workload&) = default;
};

/// scheduling.k8s.io/v1 PriorityClass.
struct PriorityClass {
  ObjectMeta meta;
  std::int32_t value = 0;
  bool global_default = false;
  std::string preemption_policy;
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

}  // namespace gang::api
