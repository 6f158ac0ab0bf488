// ChangeLog: what one apply() has touched, gathered and made a Change at the end.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gang/cluster/cluster_state.h"

namespace gang::cluster {

/// Lives for one apply(). Things may be told many times and in any order.
class ChangeLog {
 public:
  void gang(std::uint64_t id) { gangs_.emplace_back(id, false); }
  /// Only versions, conditions or nominations of a member or of the group changed.
  void gang_status(std::uint64_t id) { gangs_.emplace_back(id, true); }
  void nodes(bool changed = true) { nodes_ |= changed; }
  void devices_gained(bool gained = true) { devices_gained_ |= gained; }
  void devices_lost(bool lost = true) { devices_lost_ |= lost; }
  void rejection(Rejection rejection) { rejections_.push_back(std::move(rejection)); }
  void device_trouble(DeviceTrouble trouble) { device_troubles_.push_back(std::move(trouble)); }
  /// A slice that showed the device does so no more. `holders`: claims, by key.
  void device_hidden(const api::DeviceName& device, const std::vector<api::ObjectKey>& holders) {
    for (const api::ObjectKey& claim : holders) hidden_.emplace_back(device, claim);
  }
  [[nodiscard]] const std::vector<std::pair<api::DeviceName, api::ObjectKey>>& hidden() const {
    return hidden_;
  }
  [[nodiscard]] Change finish();

 private:
  std::vector<std::pair<std::uint64_t, bool>> gangs_;  ///< id, status only
  bool nodes_ = false;
  bool devices_gained_ = false;
  bool devices_lost_ = false;
  std::vector<Rejection> rejections_;
  std::vector<DeviceTrouble> device_troubles_;
  std::vector<std::pair<api::DeviceName, api::ObjectKey>> hidden_;  ///< and who holds it
};

}  // namespace gang::cluster
