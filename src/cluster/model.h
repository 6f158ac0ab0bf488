// Model: the tables of a ClusterState, side by side.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "cluster/claim_table.h"
#include "cluster/claim_users.h"
#include "cluster/class_table.h"
#include "cluster/device_table.h"
#include "cluster/gang_table.h"
#include "cluster/kind_sync.h"
#include "cluster/known_objects.h"
#include "cluster/mix_table.h"
#include "cluster/node_table.h"
#include "cluster/pod_table.h"
#include "cluster/resource_table.h"
#include "cluster/term_table.h"
#include "cluster/topology_table.h"

namespace gang::cluster {

/// Owned by ClusterState, which alone lets it be written. Always between two calls: every pod with
/// `node` is booked there once with its footprint, and is a member of the gang in `gang`.
struct Model {
  explicit Model(const DeviceFeatures& features) : devices(features) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  ResourceTable resources;
  NodeTable nodes{resources};
  PodTable pods;
  TermTable terms;
  ClassTable classes{terms};
  ClaimUsers claim_users;
  TopologyTable topology;
  GangTable gangs{pods, claim_users, topology};
  DeviceTable devices;
  ClaimTable claims{devices, claim_users};
  KnownObjects composites;
  MixTable mix;
  std::size_t bound_pods = 0;
  std::size_t pending_pods = 0;  ///< own, unassigned, assumed ones included
};

}  // namespace gang::cluster
