// IntentFinder: lists what earlier processes left, until the server answers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "binder/backoff.h"
#include "binder/claim_port.h"
#include "binder/lifeline.h"
#include "gang/api/intent.h"

namespace gang::binder {

/// Asks for the ConfigMaps of intents with growing pauses, for ever, and logs what fails; `found`
/// is called once for each start(), also with none. Owned by the Binder; binder's thread only.
/// Changes nothing.
class IntentFinder {
 public:
  IntentFinder(const ClaimPort& port, std::function<void(std::vector<api::StoredIntent>)> found);

  void start();

 private:
  void note_failure(const kube::Answer& answer);
  void on_list(const kube::Answer& answer, const std::vector<api::ConfigMap>& maps);

  const ClaimPort port_;
  const std::function<void(std::vector<api::StoredIntent>)> found_;
  Backoff backoff_;
  std::string told_;  ///< what failed, as it was logged
  Lifeline lifeline_;
};

}  // namespace gang::binder
