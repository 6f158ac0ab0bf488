// Lists of values.
#pragma once

#include <cstdint>
#include <vector>

#include "cel/frame.h"
#include "cel/objects.h"

namespace gang::cel {

inline std::int64_t list_size(const Value& list) {
  return list.as<ListObject>().size;
}
/// REQUIRES: 0 <= index < size.
[[nodiscard]] Value list_item(const Value& list, std::int64_t index);

[[nodiscard]] Value make_list(Arena& arena, const std::vector<Value>& items);
/// As make_list(), unless memory is short.
[[nodiscard]] Value new_list(Frame& frame, const std::vector<Value>& items);
/// Both after each other; appends in place to a growing list.
[[nodiscard]] Value join_lists(Frame& frame, const Value& left, const Value& right);
/// An empty list that join_lists() appends to, and the same list for good.
[[nodiscard]] Value growing_list(Frame& frame);
[[nodiscard]] Value grown_list(Frame& frame, const Value& list);

/// The number that an index means, or an error.
[[nodiscard]] Value list_index(Frame& frame, const Value& index);

}  // namespace gang::cel
