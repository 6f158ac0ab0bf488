// The table of options: dotted key to setter. Knows nothing of YAML.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "app/config.h"

namespace gang::app {

/// How a plain scalar has to look; text options refuse what YAML could read as something else, and
/// words are one of a few.
enum class OptionType { kText, kWord, kNumber, kDuration, kBool, kTextList };

/// One option. `set` gets the scalar's text (lists: items joined by ",").
struct ConfigOption {
  OptionType type;
  std::function<Result<void>(Config&, const std::string&)> set;
};

[[nodiscard]] const std::map<std::string, ConfigOption>& config_options();

}  // namespace gang::app
