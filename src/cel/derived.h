// Values of expressions as values of attributes.
#pragma once

#include "cel/types.h"
#include "gang/base/result.h"
#include "gang/cel/program.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// Whether an expression of that type may give an attribute; an unknown type may.
[[nodiscard]] bool may_be_attribute(const Type& type);

/// Copies the value. An empty list has no type, and is one of strings. REQUIRES: no error.
[[nodiscard]] Result<AttributeValue> attribute_of(const Value& value);

}  // namespace gang::cel
