// Node: what scheduling reads of core/v1 Node. Values only, any thread.
//
// Capacity is status.allocatable, never status.capacity. Node conditions are not read: they reach
// us as taints.
#pragma once

#include <string>
#include <vector>

#include "gang/api/meta.h"
#include "gang/api/resources.h"
#include "gang/api/selector.h"

namespace gang::api {

/// What scheduling reads of a Node.
struct Node {
  ObjectMeta meta;  ///< key.name_space is empty
  bool unschedulable = false;
  std::vector<Taint> taints;
  ResourceList allocatable;
  /// Declares the feature DRAOptionalNodeOperations: its kubelet leaves out what slices say.
  bool optional_node_operations = false;
  /// Resource names of allocatable whose quantity could not be read: the node offers none of them.
  std::vector<std::string> unreadable_resources;
  friend bool operator==(const Node&, const Node&) = default;
};

}  // namespace gang::api
