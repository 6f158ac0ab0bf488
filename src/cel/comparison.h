// Equality and order of values, with upstream's asymmetries: the left operand decides.
#pragma once

#include "cel/frame.h"
#include "cel/objects.h"

namespace gang::cel {

/// left == right: a bool, or an error (a Quantity to the left of something else).
[[nodiscard]] Value equal(Frame& frame, const Value& left, const Value& right);
/// As equal(), without the special place of null.
[[nodiscard]] Value equal_by_left(Frame& frame, const Value& left, const Value& right);

/// -1, 0 or 1 as an int, or an error. REQUIRES: has_order(left).
[[nodiscard]] Value compare(Frame& frame, const Value& left, const Value& right);
[[nodiscard]] bool has_order(const Value& value);

/// Precedence of semver.org.
[[nodiscard]] int compare_semver(Frame& frame, const SemverObject& a, const SemverObject& b);

}  // namespace gang::cel
