// Options of the engine: weights and limits, each with its unit and default.
//
// Weights multiply terms of 0..100. Every limit is a count, never a time, so that equal input gives
// equal output. Values only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gang/cluster/device_pool.h"

namespace gang::engine {

/// See the head of the file.
struct Options {
  /// Terms of plain pods, as upstream's default profile weighs them.
  std::int32_t weight_taint_preference = 3;  ///< PreferNoSchedule taints
  std::int32_t weight_node_affinity = 2;     ///< preferred node affinity
  std::int32_t weight_least_allocated = 1;   ///< spread of cpu and memory
  std::int32_t weight_balanced = 1;          ///< cpu against memory
  /// Of accelerators: fragments grow least, then partly used nodes first, then the tightest fit.
  /// With 0 they are left out.
  std::int32_t weight_accelerator_packing = 10;
  /// Extended resources that are accelerators; empty = every requested extended resource.
  std::vector<std::string> accelerators;
  /// Node trials of the search over unlike members before it gives up.
  std::int64_t search_steps_max = 20'000;
  /// Steps of the search over devices before it gives up.
  std::int64_t device_steps_max = 200'000;
  /// Steps that selectors may take for one plan, beside the last one asked: see cel::Scratch.
  std::int64_t selector_steps_max = 20'000'000;
  cluster::DeviceFeatures device_features;
  /// Classes whose capacity counts are kept between plans.
  std::int32_t class_tables_max = 64;
  /// More of them while all together have no more nodes than that.
  std::int64_t class_table_nodes_max = 1'000'000;
  /// Tolerations with operator Lt and Gt are honoured (alpha gate upstream, off by default).
  bool toleration_comparison = false;
  /// Reasons shown in a group text; the rest is in the structured list.
  std::int32_t reasons_shown_max = 3;
};

}  // namespace gang::engine
