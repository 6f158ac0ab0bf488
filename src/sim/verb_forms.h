// How each verb of a scenario is written: what stands there and would be ignored is an error.
#pragma once

#include <string>

#include "gang/base/result.h"
#include "sim/scenario_parser.h"

namespace gang::sim {

/// Fails on an unknown verb, on too few or too many words, on an option that the verb does not
/// read, and on one that is given twice though it counts once. Values are the verb's own matter.
[[nodiscard]] Result<void> check_form(const Command& command);

/// The verbs as a list for people: "advance, config, ...".
[[nodiscard]] std::string verb_list();

}  // namespace gang::sim
