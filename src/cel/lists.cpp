#include "cel/lists.h"

#include <algorithm>
#include <cmath>

#include "cel/type_names.h"

namespace gang::cel {
namespace {

Value as_list(const ListObject* list) {
  return Value::object(Kind::kList, list);
}

Value append(Frame& frame, const Value& to, const Value& more) {
  // A growing list is this evaluation's own, and only this changes it.
  auto* list = const_cast<ListObject*>(&to.as<ListObject>());
  const std::int64_t count = list_size(more);
  if (list->size + count > list->room) {
    const std::int64_t room = std::max<std::int64_t>(8, 2 * (list->size + count));
    if (!frame.may_allocate(static_cast<std::uint64_t>(room) * sizeof(Value))) {
      return Frame::cancelled();
    }
    auto* items = frame.arena.array<Value>(static_cast<std::size_t>(room));
    std::copy_n(list->items, list->size, items);
    list->items = items;
    list->room = room;
  }
  if (!frame.spend(static_cast<std::uint64_t>(count))) return Frame::cancelled();
  for (std::int64_t i = 0; i < count; ++i) list->items[list->size + i] = list_item(more, i);
  list->size += count;
  return to;
}

}  // namespace

Value list_item(const Value& list, std::int64_t index) {
  const ListObject* at = &list.as<ListObject>();
  while (at->left != nullptr) {
    if (index < at->left->size) {
      at = at->left;
    } else {
      index -= at->left->size;
      at = at->right;
    }
  }
  return at->items[index];
}

Value make_list(Arena& arena, const std::vector<Value>& items) {
  auto* list = arena.make<ListObject>();
  list->size = static_cast<std::int64_t>(items.size());
  list->items = arena.array<Value>(items.size());
  std::ranges::copy(items, list->items);
  return as_list(list);
}

Value new_list(Frame& frame, const std::vector<Value>& items) {
  if (!frame.may_allocate(items.size() * sizeof(Value))) return Frame::cancelled();
  return make_list(frame.arena, items);
}

Value join_lists(Frame& frame, const Value& left, const Value& right) {
  if (left.as<ListObject>().is_growing) return append(frame, left, right);
  if (list_size(left) == 0) return right;
  if (list_size(right) == 0) return left;
  auto* joined = frame.arena.make<ListObject>();
  joined->left = &left.as<ListObject>();
  joined->right = &right.as<ListObject>();
  joined->depth = 1 + std::max(joined->left->depth, joined->right->depth);
  if (__builtin_add_overflow(list_size(left), list_size(right), &joined->size)) {
    return frame.fail("integer overflow");
  }
  return as_list(joined);
}

Value growing_list(Frame& frame) {
  auto* list = frame.arena.make<ListObject>();
  list->is_growing = true;
  return as_list(list);
}

Value grown_list(Frame& frame, const Value& list) {
  if (!list.as<ListObject>().is_growing) return list;
  auto* fixed = frame.arena.make<ListObject>(list.as<ListObject>());
  fixed->is_growing = false;
  return as_list(fixed);
}

Value list_index(Frame& frame, const Value& index) {
  if (index.is(Kind::kInt)) return index;
  if (index.is(Kind::kUint) && index.as_uint() <= INT64_MAX) {
    return Value::integer(static_cast<std::int64_t>(index.as_uint()));
  }
  if (index.is(Kind::kDouble)) {
    const double value = index.as_double();
    if (value == std::trunc(value) && std::fabs(value) < 9.2e18) {
      return Value::integer(static_cast<std::int64_t>(value));
    }
  }
  if (index.is(Kind::kUint) || index.is(Kind::kDouble)) {
    return frame.fail("unsupported index value in list");
  }
  return frame.fail("unsupported index type '" + std::string(type_name(index)) + "' in list");
}

}  // namespace gang::cel
