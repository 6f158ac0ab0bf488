// Avoidances: what plans of one gang leave out for a while: nodes whose kubelet refused a member,
// and devices that were not made ready. Source: commit protocol 5.6, rule 1.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gang/base/time.h"
#include "gang/cluster/gang.h"

namespace gang::scheduler {

/// How long a gang leaves out a node or a device.
inline constexpr Duration kAvoidTime = std::chrono::minutes(5);

/// A device that its driver did not make ready, and what is known of it, for people. Value.
struct UnreadyDevice {
  api::DeviceName device;
  std::string why;
};

/// See the head of the file. Belongs to one gang's record; one thread.
/// What one gang asks of a driver may be wrong, so others are not kept from a device. Devices are
/// left out together until their time has passed since the last of them failed: a gang meets each
/// device of a driver that is dead once, however long it waits for each.
class Avoidances {
 public:
  /// `from`: when the kubelet refused it.
  void note_node(const cluster::Failure& failure, TimePoint from);
  void note_devices(const std::vector<UnreadyDevice>& devices, TimePoint now);
  /// Drops what may be used again. REQUIRES: no round of the gang is open.
  void end(TimePoint now);

  [[nodiscard]] bool empty() const { return nodes_.empty() && devices_.empty(); }
  /// When the first of them may be used again.
  [[nodiscard]] std::optional<TimePoint> first_end() const;
  void leave_out(cluster::Gang& gang) const;
  /// "; n1 refused pod a-0 (OutOfcpu); left out until <time>: <why>" for the first few, or "".
  [[nodiscard]] std::string text() const;

 private:
  /// Why a node is left out, and until when.
  struct Refused {
    TimePoint until{};
    cluster::Failure failure;
  };

  std::map<std::string, Refused> nodes_;            ///< by name
  std::map<api::DeviceName, std::string> devices_;  ///< with why
  TimePoint devices_until_{};                       ///< of all of them
};

}  // namespace gang::scheduler
