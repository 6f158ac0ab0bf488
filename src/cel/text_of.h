// Values as text: in messages, and as string() gives them.
#pragma once

#include <string>

#include "cel/objects.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// As Go's %v prints it in a message; compound values by their type's name.
[[nodiscard]] std::string text_of(const Value& value);
/// As Go's %g.
[[nodiscard]] std::string double_text(double value);
/// As string(duration): seconds, without a needless zero.
[[nodiscard]] std::string duration_text(std::int64_t nanoseconds);
/// RFC 3339 with the fraction it needs and the zone it was written in.
[[nodiscard]] std::string timestamp_text(const Value& timestamp);
[[nodiscard]] std::string semver_text(const SemverObject& version);

}  // namespace gang::cel
