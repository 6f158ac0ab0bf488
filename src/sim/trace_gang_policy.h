// Who starts the jobs of a trace: plain references and the production engine.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/trace_jobs.h"

namespace gang::sim {

/// Starts gangs whole, and ends them. One thread.
class TraceStarter {
 public:
  virtual ~TraceStarter() = default;
  /// The node of each pod; nothing when the gang does not fit now. Asked again later.
  [[nodiscard]] virtual std::optional<std::vector<std::uint32_t>> start(std::size_t job) = 0;
  /// REQUIRES: it was started.
  virtual void end(std::size_t job) = 0;
};

/// Names of the references, in the order in which they are told.
[[nodiscard]] const std::vector<std::string>& reference_starters();

/// REQUIRES: a name of reference_starters(); the jobs outlive it. Ties go by node.
///   pool           the whole fleet as one node: nobody can do better in that order
///   upstream-like  as LeastAllocated: pod after pod where most is free
///   best fit       pod after pod where least is left over
[[nodiscard]] std::unique_ptr<TraceStarter> reference_starter(const std::string& name,
                                                              const std::vector<TraceJob>& jobs,
                                                              std::uint32_t node_count);

/// The engine: each gang is a PodGroup that needs all of its pods, each pod asks for its GPUs as an
/// extended resource and for cpu and memory in proportion.
[[nodiscard]] std::unique_ptr<TraceStarter> engine_starter(const std::vector<TraceJob>& jobs,
                                                           std::uint32_t node_count);

}  // namespace gang::sim
