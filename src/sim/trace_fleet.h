// The books of a fleet that a trace is played on: what is free on each node and of each GPU.
//
// Plain code: the references choose on it, and what the engine chooses is checked against it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/trace_load.h"

namespace gang::sim {

/// Where a pod goes. A value.
struct TraceSpot {
  std::uint32_t node = 0;
  std::vector<std::uint32_t> gpus;  ///< of the node, ascending
};

/// What is free on a node.
struct TraceRoom {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::vector<std::int32_t> gpus;  ///< milli of each
  std::uint64_t model = 0;         ///< its bit
  [[nodiscard]] std::int64_t gpu_total() const;
  /// GPUs that have `milli` free.
  [[nodiscard]] std::int32_t gpu_count(std::int32_t milli) const;
  /// cpu, memory and model; GPUs aside.
  [[nodiscard]] bool could_feed(const TraceRequest& request) const;
  [[nodiscard]] bool fits(const TraceRequest& request) const;
};

/// See the head of the file. One thread.
class TraceFleet {
 public:
  explicit TraceFleet(const TraceLoad& load);

  [[nodiscard]] const std::vector<TraceRoom>& nodes() const { return nodes_; }
  [[nodiscard]] std::int64_t gpu_taken() const { return gpu_taken_; }
  /// REQUIRES: it fits there, on so many different GPUs.
  void take(const TraceRequest& request, const TraceSpot& spot);

 private:
  std::vector<TraceRoom> nodes_;
  std::int64_t gpu_taken_ = 0;
};

/// Fragmentation by the requests of a load and how often each comes: of what is free on a node the
/// part that the next pod could not use, in milli-GPU times the number of pods of the load. Source:
/// "Beware of Fragmentation", USENIX ATC 2023.
class TraceFragments {
 public:
  explicit TraceFragments(const TraceLoad& load);
  [[nodiscard]] std::int64_t of(const TraceRoom& room) const;
  /// In millionths of all that the fleet has.
  [[nodiscard]] std::int64_t share_of(const TraceFleet& fleet, const TraceLoad& load) const;

 private:
  /// Requests that want the same of GPUs.
  struct Want {
    std::int32_t count = 0;
    std::int32_t milli = 0;
    std::vector<std::pair<TraceRequest, std::int64_t>> requests;  ///< with their numbers
  };
  std::vector<Want> wants_;
  std::int64_t pod_count_ = 0;
};

}  // namespace gang::sim
