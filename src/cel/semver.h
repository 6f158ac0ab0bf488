// Semantic versions: reading.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cel/arena.h"
#include "cel/objects.h"

namespace gang::cel {

/// The version, its texts in `arena`; empty where it is none, and `why` says why not.
[[nodiscard]] std::optional<SemverObject> parse_semver(std::string_view text, Arena& arena,
                                                       std::string& why);
/// "v01.2" as "1.2.0"; empty where a short form has more than numbers.
[[nodiscard]] std::optional<std::string> normalized_semver(std::string_view text);

}  // namespace gang::cel
