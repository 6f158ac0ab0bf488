// DeviceConstraints: what the devices of a claim must have in common, kept while they are chosen.
//
// add() asks every constraint of the claim in order and remembers what it let in; undo() takes the
// last device out again. An attribute that the request derives is the value of its expression,
// whatever the device says of that name. Source: the devices contract, 2.12.
#pragma once

#include <string>
#include <vector>

#include "engine/device_node.h"
#include "gang/api/device_request.h"
#include "gang/base/result.h"

namespace gang::engine {

/// A device offered for a request.
struct OfferedDevice {
  const std::string& request;  ///< "main"
  const std::string& full;     ///< "main" or "main/alternative"
  const api::DeviceAsk& ask;
  const DeviceCandidate& candidate;
};

/// See the head of the file. One claim, one thread.
class DeviceConstraints {
 public:
  /// All outlive this. Lists compare as sets where that feature is on, else they match nothing.
  DeviceConstraints(const api::ClaimSpec& spec, const DeviceInputs& inputs);

  /// False when a constraint refuses the device; an error where an attribute cannot be derived,
  /// kResourceExhausted where the plan may spend no more on that. Nothing has changed then.
  [[nodiscard]] Result<bool> add(const OfferedDevice& offered);
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
  [[nodiscard]] Result<bool> admits(State& state, const OfferedDevice& offered) const;
  [[nodiscard]] bool admit(State& state, const api::AttributeValue& value) const;
  [[nodiscard]] bool admit_list(State& state, const api::AttributeValue& value) const;

  std::vector<State> states_;
  std::vector<std::vector<bool>> covered_;  ///< by device let in, by constraint
  const DeviceInputs* inputs_;
};

/// The expression by which the ask derives that attribute, or null.
[[nodiscard]] const std::string* derivation_of(const api::DeviceAsk& ask, const std::string& name);

/// The attribute of that qualified name, or null.
[[nodiscard]] const api::AttributeValue* attribute_of(const api::Device& device,
                                                      const std::string& driver,
                                                      const std::string& name);

}  // namespace gang::engine
