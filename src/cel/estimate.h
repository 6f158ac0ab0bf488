// The largest cost that upstream foresees for an expression, before any device is known.
#pragma once

#include <cstdint>

#include "cel/ast.h"
#include "cel/checker.h"

namespace gang::cel {

/// Saturates at 2^64-1.
[[nodiscard]] std::uint64_t estimate_cost(const Ast& ast, const Checked& checked);

}  // namespace gang::cel
