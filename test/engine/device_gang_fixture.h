// GangDeviceWorld: nodes with devices and a gang whose members have claims, for the search over
// members, nodes and devices.
//
// Nodes have one CPU for each member that may stand there. Selectors are those of TableSelectors.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cluster_fixture.h"
#include "device_fixture.h"
#include "engine/device_gang_search.h"

namespace gang::engine {

/// A device of the world: "n1/a", or "net/a" where every node can use it.
struct TestDevice {
  std::string pool;
  std::string name;
  std::string model;
  bool is_held = false;
  std::string chip;         ///< that it is a part of; "" = it shares no counters
  int size = 0;             ///< what it takes of its chip
  int capacity = 0;         ///< > 0: many can use it, as far as that goes
  bool waits = false;       ///< its driver makes it ready once it is given out
  bool is_avoided = false;  ///< left out by the gang
};

/// A claim for `count` devices of a model ("" = any).
struct TestClaim {
  int count = 1;
  std::string model;
  std::string held_by;  ///< devices that it has already: "n1/a", or ""
  int amount = 1;       ///< what it takes of a device that many can use
  bool of_group = false;
  int else_count = 0;  ///< > 0: these in place of the above, where those cannot be had
  std::string else_model;
};

/// See the head of the file. Owned by one test.
class GangDeviceWorld final : public cluster::DevicePool::Names {
 public:
  /// Of every chip.
  static constexpr int kChipSize = 4;

  std::int64_t steps_max = 100'000;
  std::int64_t selector_steps_max = 1'000'000;

  GangDeviceWorld& node(const std::string& name, int slots);
  GangDeviceWorld& device(TestDevice device);
  /// Of the held devices of one chip only the first stays so: chips are never overdrawn.
  void free_all_but_one_of_a_chip();
  /// Returns the index of the claim.
  std::size_t claim(TestClaim claim);
  GangDeviceWorld& member(std::vector<std::size_t> claims);

  /// Runs the search. Members as "m0=n1 m1=n2", by member; "" when it did not place `need`.
  std::string run(std::int32_t need);
  [[nodiscard]] SearchEnd end() const { return end_.end; }
  /// Devices of a claim after run(), sorted: "n1/a n1/b".
  [[nodiscard]] std::string given(std::size_t claim) const { return given_.at(claim); }
  /// What is wrong with the result of run(), or "".
  [[nodiscard]] std::string problem() const;

  /// What a claim takes of the device: all of it where it asks for no amount.
  [[nodiscard]] int asked_of(const TestDevice& device, const TestClaim& claim) const {
    if (device.capacity == 0) return 1;
    return uses_shares() ? claim.amount : device.capacity;
  }
  [[nodiscard]] const std::map<std::string, int>& slots() const { return slots_; }
  [[nodiscard]] const std::vector<TestDevice>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<TestClaim>& claims() const { return claims_; }
  [[nodiscard]] const std::vector<std::vector<std::size_t>>& members() const { return members_; }

 private:
  cluster::DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) override;
  cluster::DevicePool::NameFacts settle(const cluster::DevicePool& /*pool*/,
                                        const cluster::DevicePool* /*before*/) override {
    return {};
  }
  cluster::DeviceId id_of(const std::string& name);
  void make_pools();
  void hold(const TestDevice& device);
  /// Claims ask for amounts only where every device has a capacity: others would not be chosen.
  [[nodiscard]] bool uses_shares() const;
  [[nodiscard]] AvoidedDevices avoided() const;
  [[nodiscard]] const TestDevice* find(const std::string& name) const;
  /// What claims hold together of chips and of devices that many can use, or "".
  [[nodiscard]] std::string overuse() const;
  /// Whether the devices are what the claim, or its alternative, asks for.
  [[nodiscard]] bool may_have(const TestClaim& claim, const std::vector<std::string>& names) const;
  [[nodiscard]] api::DeviceAsk ask_for(int count, const std::string& model, int amount) const;
  /// Whether the claim's devices can be used on the node.
  [[nodiscard]] bool serves(std::size_t claim, const std::string& node) const;
  [[nodiscard]] std::vector<cluster::GangClaim> make_claims() const;
  void keep(const DeviceGangSearch& search, const DeviceDraft& devices,
            const cluster::Snapshot& snapshot);

  std::map<std::string, int> slots_;
  std::vector<TestDevice> devices_;
  std::vector<TestClaim> claims_;
  std::vector<std::vector<std::size_t>> members_;
  std::map<std::string, cluster::DeviceId> ids_;
  std::vector<std::unique_ptr<cluster::DevicePool>> pools_;
  cluster::DeviceFeatures features_;
  cluster::DeviceUsage usage_;
  DeviceSearchEnd end_;
  std::map<std::size_t, std::string> nodes_;  ///< by member, after run()
  std::map<std::size_t, std::string> given_;  ///< by claim, after run()
};

}  // namespace gang::engine
