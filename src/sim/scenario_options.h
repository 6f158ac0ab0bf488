// The options of a scenario's `config` command: names of the daemon's configuration file.
#pragma once

#include <string>

#include "gang/base/result.h"
#include "gang/sim/simulator.h"

namespace gang::sim {

[[nodiscard]] Result<void> set_option(SimulatorOptions& options, const std::string& key,
                                      const std::string& value);

}  // namespace gang::sim
