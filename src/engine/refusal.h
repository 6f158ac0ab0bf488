// Refusals before any node is looked at: objects that cannot be read, rules that are not built, and
// gangs that lack their pods or their group.
#pragma once

#include <optional>
#include <string>

#include "gang/cluster/gang.h"
#include "gang/engine/explanation.h"

namespace gang::engine {

/// Why a gang is not planned at all. A value.
struct Refusal {
  Verdict verdict = Verdict::kInvalid;
  std::string message;
  friend bool operator==(const Refusal&, const Refusal&) = default;
};

[[nodiscard]] std::optional<Refusal> refusal_of(const cluster::Gang& gang);

/// Whether members of the class may be planned: readable, and without a rule that is not built.
[[nodiscard]] bool is_placeable(const cluster::PodClass& pod_class);

}  // namespace gang::engine
