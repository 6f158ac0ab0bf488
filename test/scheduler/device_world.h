// DeviceWorld: a World with a class "gpu", nodes with devices, and gangs whose pods have one claim
// each, as the claim controller makes them from a template. The test plays binder and drivers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "scheduler/world.h"

namespace gang::test {

/// See the head of the file.
class DeviceWorld : public World {
 public:
  explicit DeviceWorld(scheduler::Options options = {}, Start start = Start::kInformed);

  /// Node `name` with `count` devices g0 .. of driver d in the pool `name`.
  DeviceWorld& add_device_node(const std::string& name, int count);
  /// Changes the slice of a node and publishes it.
  DeviceWorld& publish(const std::string& node, int count, std::int64_t generation = 1,
                       const std::string& taint = "");
  /// `count` pods <group>-0 .. of a new group, each with a claim of its name.
  DeviceWorld& add_device_gang(const std::string& group, int count);
  DeviceWorld& put_claim(api::ResourceClaim claim);
  DeviceWorld& remove_claim(const std::string& name);
  [[nodiscard]] const api::ResourceClaim& claim(const std::string& name) const {
    return claims_.at(name);
  }

  /// Lets the watch show the claims of the newest plan as written.
  DeviceWorld& show_claims();
  /// Tells the core that they are written.
  DeviceWorld& claims_written();
  /// Both, and runs.
  DeviceWorld& write_claims();
  /// The plan's claims hold nothing any more.
  DeviceWorld& give_claims_back();
  /// The problem of the newest check; "none" when there is no check.
  [[nodiscard]] std::string problem() const;
  /// "g-0=n1/g0 g-1=n1/g1" of the newest plan, by claim.
  [[nodiscard]] std::string devices() const;

 private:
  std::map<std::string, api::ResourceClaim> claims_;
  int version_ = 1000;
};

/// A claim for one device of class "gpu".
[[nodiscard]] api::ResourceClaim gpu_claim(const std::string& name);
/// The claim, holding a device "n1/g0".
[[nodiscard]] api::ResourceClaim holding(api::ResourceClaim claim, const std::string& device);

}  // namespace gang::test
