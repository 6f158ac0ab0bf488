// DeviceConstraints: what the devices of a claim must have in common, kept while they are chosen.
//
// add() asks every constraint of the claim in order and remembers what it let in; undo() takes the
// last device out again. Source: the devices contract, 2.12.
#pragma once

#include <string>
#include <vector>

#include "gang/api/device_request.h"
#include "gang/cluster/device_pool.h"

namespace gang::engine {

/// A device offered for a request.
struct OfferedDevice {
  const std::string& request;  ///< "main"
  const std::string& full;     ///< "main" or "main/alternative"
  const std::string& driver;
  const api::Device& device;
};

/// See the head of the file. One claim, one thread.
class DeviceConstraints {
 public:
  /// `spec` outlives this. Lists compare as sets when `lists` is on, else they match nothing.
  DeviceConstraints(const api::ClaimSpec& spec, bool lists);

  /// False, and nothing changed, when a constraint refuses the device.
  [[nodiscard]] bool add(const OfferedDevice& offered);
  /// Takes back the last device that was let in.
  void undo();

 private:
  /// One constraint with the values it holds, oldest first. For match on lists each entry is the
  /// intersection so far.
  struct State {
    const api::DeviceConstraint* constraint = nullptr;
    std::vector<api::AttributeValue> values;
  };

  [[nodiscard]] static bool covers(const api::DeviceConstraint& constraint,
                                   const OfferedDevice& offered);
  [[nodiscard]] bool admit(State& state, const api::AttributeValue& value) const;
  [[nodiscard]] bool admit_list(State& state, const api::AttributeValue& value) const;

  std::vector<State> states_;
  std::vector<std::vector<bool>> covered_;  ///< by device let in, by constraint
  bool lists_ = false;
};

/// The attribute of that qualified name, or null.
[[nodiscard]] const api::AttributeValue* attribute_of(const api::Device& device,
                                                      const std::string& driver,
                                                      const std::string& name);

}  // namespace gang::engine
