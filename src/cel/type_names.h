// Names of values' types at run time, and which operators a type has.
#pragma once

#include <string_view>

#include "cel/types.h"
#include "gang/cel/value.h"

namespace gang::cel {

[[nodiscard]] std::string_view type_name(const Value& value);

/// Whether a value may stand where a declaration asks for this type: lists and maps by first entry.
[[nodiscard]] bool fits_at_run_time(const Type& declared, const Value& value);

}  // namespace gang::cel
