// The form of a taint in scenarios, of nodes and of devices: key=value:Effect or key:Effect.
#pragma once

#include <string>

#include "gang/base/result.h"

namespace gang::sim {

/// The parts of a taint; the effect is not checked.
struct TaintWords {
  std::string key;
  std::string value;
  std::string effect;
};

/// `effects` are those that there are, for the error of one that is missing.
[[nodiscard]] Result<TaintWords> parse_taint_words(const std::string& text, const char* effects);

}  // namespace gang::sim
