// Sorting, which one operator does for every type of element.
#pragma once

#include "cel/frame.h"

namespace gang::cel {

/// The items of a list in the order of the keys at their places.
[[nodiscard]] Value sorted_by_keys(Frame& frame, const Value& list, const Value& keys);

}  // namespace gang::cel
