// From a checked tree to a plan: what is constant is computed, constant patterns are compiled.
#pragma once

#include "cel/ast.h"
#include "cel/checker.h"
#include "cel/plan.h"
#include "gang/base/result.h"

namespace gang::cel {

/// kInvalidArgument where a constant cannot be computed: int("x").
[[nodiscard]] Result<Plan> make_plan(const Ast& ast, const Checked& checked);

}  // namespace gang::cel
