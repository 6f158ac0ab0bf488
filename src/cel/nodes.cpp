#include "cel/nodes.h"

#include <string>

#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/text_of.h"

namespace gang::cel {
namespace {

constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;
constexpr std::uint64_t kStructCost = 40;

// Charges for a new value. Takes the values of its parts off the stack, as upstream's tracker does:
// last first, and only as far as they are found.
void charge(Frame& frame, const std::vector<const Node*>& parts, std::uint64_t cost) {
  frame.cost += cost;
  for (std::size_t i = parts.size(); i > 0; --i) {
    if (!frame.drop(parts[i - 1]->id())) return;
  }
}

// The value of an entry that may be left out; `present` says whether it is there.
Value entry(Frame& frame, const Value& value, bool is_optional, bool& present, const char* what) {
  present = true;
  if (!is_optional) return value;
  if (!value.is(Kind::kOptional)) {
    return frame.fail(std::string("cannot initialize optional ") + what +
                      " from non-optional value " + text_of(value));
  }
  present = value.address() != nullptr;
  return present ? value.as<Value>() : value;
}

}  // namespace

Value LogicNode::eval(Frame& frame) const {
  Value result = Value::boolean(!decides_);
  for (const Node* term : terms_) {
    const Value value = term->eval(frame);
    if (value.is(Kind::kBool)) {
      if (value.as_bool() != decides_) continue;
      result = value;
      break;
    }
    if (!result.is_error()) result = value.is_error() ? value : Frame::no_overload();
  }
  for (const Node* term : terms_) frame.drop(term->id());
  frame.work += terms_.size();  // constants among them tell nobody
  frame.observe(result, id());
  return result;
}

Value ListNode::make(Frame& frame) const {
  std::vector<Value> items;
  items.reserve(elements_.size());
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const Value value = elements_[i]->eval(frame);
    if (value.is_error()) return value;
    bool present = true;
    const Value item = entry(frame, value, optional_[i], present, "list element");
    if (item.is_error()) return item;
    if (present) items.push_back(item);
  }
  return new_list(frame, items);
}

Value ListNode::eval(Frame& frame) const {
  const Value list = make(frame);
  charge(frame, elements_, kListCost);
  frame.observe(list, id());
  return list;
}

Value MapNode::make(Frame& frame) const {
  MapObject* map = make_map(frame.arena, entries_.size() / 2);
  for (std::size_t i = 0; i < entries_.size(); i += 2) {
    const Value key = entries_[i]->eval(frame);
    if (key.is_error()) return key;
    const Value value = entries_[i + 1]->eval(frame);
    if (value.is_error()) return value;
    if (key.is(Kind::kBytes) || key.is(Kind::kSemver)) {
      return frame.fail("internal error: runtime error: hash of unhashable type");
    }
    bool present = true;
    const Value kept = entry(frame, value, optional_[i / 2], present, "entry");
    if (kept.is_error()) return kept;
    if (present) {
      map_put(frame.arena, *map, key, kept);
    } else {
      map_remove(*map, key);
    }
  }
  return as_map(map);
}

Value MapNode::eval(Frame& frame) const {
  const Value map = make(frame);
  charge(frame, entries_, kMapCost);
  frame.observe(map, id());
  return map;
}

Value StructNode::make(Frame& frame) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value value = values_[i]->eval(frame);
    if (value.is_error()) return value;
    bool present = true;
    const Value kept = entry(frame, value, optional_[i], present, "entry");
    if (kept.is_error()) return kept;
  }
  return Value::error("unknown type 'kubernetes.DRADevice'");
}

Value StructNode::eval(Frame& frame) const {
  const Value made = make(frame);
  charge(frame, values_, kStructCost);
  frame.observe(made, id());
  return made;
}

Value MembershipNode::eval(Frame& frame) const {
  Value found = element_->eval(frame);
  if (found.is(Kind::kBytes) || found.is(Kind::kSemver)) {
    // Upstream looks these up in a table that cannot hold them, and gives up.
    return frame.fail("internal error: runtime error: hash of unhashable type");
  }
  if (!found.is_error()) found = Value::boolean(map_find_entry(*members_, found) != nullptr);
  frame.observe(found, id());
  return found;
}

Value OptionalOrNode::eval(Frame& frame) const {
  Value value = left_->eval(frame);
  if (!value.is(Kind::kOptional)) {
    if (!value.is_error()) value = Frame::no_overload();
  } else if (value.address() == nullptr) {
    value = right_->eval(frame);
  } else if (unwraps_) {
    value = value.as<Value>();
  }
  frame.observe(value, id());
  return value;
}

Value FoldNode::accumulated(Frame& frame) const {
  FoldSlot& mine = slot(frame);
  if (mine.has_begun) return mine.accumulated;
  mine.has_begun = true;
  Value initial = init->eval(frame);
  const bool empty_list = initial.is(Kind::kList) && list_size(initial) == 0;
  const bool empty_map = initial.is(Kind::kMap) && map_size(initial) == 0;
  if (empty_list) initial = growing_list(frame);
  if (empty_map) initial = growing_map(frame);
  FoldSlot& after = slot(frame);
  after.is_growing = empty_list || empty_map;
  after.accumulated = initial;
  return initial;
}

// One round; false: it was the last.
bool FoldNode::once(Frame& frame, const Value& first, const Value& second) const {
  slot(frame).first = first;
  slot(frame).second = second;
  const Value goes_on = condition->eval(frame);
  if (goes_on.is_false() || frame.is_cancelled) return false;
  const Value next = step->eval(frame);
  slot(frame).accumulated = next;
  slot(frame).has_begun = true;
  return !frame.is_cancelled;
}

Value FoldNode::finish(Frame& frame) const {
  const Value value = result->eval(frame);
  if (!slot(frame).is_growing) return value;
  if (value.is(Kind::kList)) return grown_list(frame, value);
  return value.is(Kind::kMap) ? grown_map(frame, value) : value;
}

Value FoldNode::fold(Frame& frame) const {
  slot(frame) = FoldSlot{};
  const Value over = range->eval(frame);
  if (over.is_error()) return over;
  if (over.is(Kind::kList)) {
    const std::int64_t size = list_size(over);
    for (std::int64_t i = 0; i < size; ++i) {
      const Value item = list_item(over, i);
      const Value first = has_two_variables ? Value::integer(i) : item;
      if (!once(frame, first, item)) break;
    }
  } else if (over.is(Kind::kMap)) {
    const MapObject& map = over.as<MapObject>();
    const std::int64_t size = map.size;
    for (std::int64_t i = 0; i < size; ++i) {
      if (!once(frame, map.entries[i].key, map.entries[i].value)) break;
    }
  } else {
    return has_two_variables ? frame.fail("unsupported comprehension range type")
                             : frame.fail("got '" + text_of(over) + "', expected iterable type");
  }
  return finish(frame);
}

Value FoldNode::eval(Frame& frame) const {
  const Value value = fold(frame);
  frame.drop(range->id());
  frame.observe(value, id());
  return value;
}

}  // namespace gang::cel
