// DeviceWorld: slices, classes and claims as JSON, allocated on one node, answered as one line.
//
// allocate() says "gpu=d/n1/gpu-0 gpu=d/n1/gpu-1; nic=..." with one part per claim, or "no", "node:
// <why>", "fatal: <why>". Selectors are expressions of the form "model==A100", "true", "broken" and
// "nonsense", judged by a table in place of cel. Attributes are derived by the name of another:
// "model" gives the device's own value of that name, or "none".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/device_allocator.h"
#include "gang/cluster/device_pool.h"

namespace gang::engine {

/// Judges "<attribute>==<text>", "true"; "broken" fails when run, "nonsense" when compiled. Every
/// answer takes a step, for nothing is remembered.
class TableSelectors final : public cluster::DeviceSelectors {
 public:
  cluster::Selected judge(const cluster::DeviceQuestion& question,
                          std::int64_t& steps_left) override;
  const cluster::Derived& derive(const cluster::DeviceQuestion& question,
                                 std::int64_t& steps_left) override;

 private:
  cluster::Derived derived_;
};

/// See the head of the file.
class DeviceWorld final : public cluster::DevicePool::Names {
 public:
  DeviceWorld();

  cluster::DeviceFeatures features;
  bool as_upstream = false;
  std::int64_t steps_max = 100'000;
  std::int64_t selector_steps_max = 1'000'000;
  api::StringMap labels;  ///< of the node n1
  bool node_declares_optional_operations = false;

  /// Spec members beyond driver "d", pool and nodeName: `"devices":[...]`.
  DeviceWorld& slice(const std::string& name, const std::string& spec);
  /// A slice of pool n1 on node n1 with the given devices.
  DeviceWorld& local(const std::string& devices);
  DeviceWorld& rule(const std::string& spec);
  DeviceWorld& device_class(const std::string& name, const std::string& spec);
  /// spec.devices members of a claim that is to be allocated.
  DeviceWorld& claim(const std::string& devices);
  /// A device that another claim holds; `more` are further members of the result.
  DeviceWorld& held(const std::string& pool, const std::string& device,
                    const std::string& more = "");

  std::string allocate();
  /// Of the last allocate().
  [[nodiscard]] const std::vector<api::Allocation>& allocations() const { return allocations_; }

 private:
  cluster::DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) override;
  cluster::DevicePool::NameFacts settle(const cluster::DevicePool& pool,
                                        const cluster::DevicePool* before) override;
  cluster::DeviceId id_of(const std::string& name);
  std::vector<std::unique_ptr<cluster::DevicePool>> make_pools();

  std::map<std::string, cluster::DeviceId> ids_;
  std::vector<cluster::SlicePtr> slices_;
  std::vector<std::shared_ptr<const api::DeviceTaintRule>> rules_;
  std::vector<std::shared_ptr<const api::DeviceClass>> classes_;
  std::vector<std::unique_ptr<api::ResourceClaim>> claims_;
  cluster::DeviceUsage usage_;
  std::vector<api::Allocation> allocations_;
};

}  // namespace gang::engine
