#include <string>

#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/plan.h"
#include "cel/text_of.h"

namespace gang::cel {
namespace {

// What a look into a value found.
struct Look {
  Value value;
  bool is_present = true;
};

Look nothing() {
  return {Value(), false};
}

Look look_into_list(Frame& frame, const Value& list, const Value& key, bool presence) {
  const Value index = list_index(frame, key);
  if (index.is_error()) return {index, false};
  if (index.as_int() >= 0 && index.as_int() < list_size(list)) {
    return {list_item(list, index.as_int())};
  }
  if (presence) return nothing();
  return {frame.fail("index out of bounds: " + text_of(key)), false};
}

Look look_into(Frame& frame, const Value& value, const Value& key, bool presence) {
  if (value.is(Kind::kMap)) {
    const Value* found = map_find(value.as<MapObject>(), key);
    if (found != nullptr) return {*found};
  } else if (value.is(Kind::kList)) {
    return look_into_list(frame, value, key, presence);
  } else if (value.is_error()) {
    return {value, false};
  }
  if (presence) return nothing();
  return {frame.fail("no such key: " + text_of(key)), false};
}

bool is_key(const Value& key) {
  switch (key.kind()) {
    case Kind::kString:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kBool:
    case Kind::kDouble:
      return true;
    default:
      return false;
  }
}

Look look(Frame& frame, const Qualifier& qualifier, const Value& value, bool presence) {
  if (qualifier.computed == nullptr) return look_into(frame, value, qualifier.key, presence);
  const Value key = qualifier.computed->resolve(frame);
  if (key.is_error()) return {key, false};
  if (!is_key(key)) return {frame.fail("invalid qualifier type: " + text_of(key)), false};
  return look_into(frame, value, key, presence);
}

void charge(Frame& frame, const Qualifier& qualifier, const Value& value) {
  if (qualifier.drops_own) frame.drop(qualifier.id);
  ++frame.cost;
  frame.observe(value, qualifier.id);
}

// A step that must be there: its value or an error. has() gives a bool.
Value step(Frame& frame, const Qualifier& qualifier, const Value& value) {
  const Look found = look(frame, qualifier, value, qualifier.is_test);
  Value result = found.value;
  if (qualifier.is_test && !result.is_error()) result = Value::boolean(found.is_present);
  charge(frame, qualifier, result);
  return result;
}

// A step that need not be there; only what is there costs.
Look step_if_present(Frame& frame, const Qualifier& qualifier, const Value& value) {
  Look found = look(frame, qualifier, value, true);
  if (!found.is_present) return found;
  if (qualifier.is_test) found.value = Value();
  charge(frame, qualifier, found.value);
  return found;
}

Value some(Frame& frame, const Value& value) {
  return Value::object(Kind::kOptional, frame.arena.make<Value>(value));
}

}  // namespace

Value Attribute::qualified(Frame& frame, Value base) const {
  bool is_optional = base.is(Kind::kOptional);
  if (is_optional) {
    if (base.address() == nullptr) return base;
    base = base.as<Value>();
  }
  for (const Qualifier* qualifier : qualifiers_) {
    is_optional = is_optional || qualifier->is_optional;
    if (is_optional) {
      const Look found = step_if_present(frame, *qualifier, base);
      if (found.value.is_error()) return found.value;
      if (!found.is_present) return Value::object(Kind::kOptional, nullptr);
      base = found.value;
    } else {
      base = step(frame, *qualifier, base);
      if (base.is_error()) return base;
    }
  }
  return is_optional ? some(frame, base) : base;
}

Value VariableAttribute::resolve(Frame& frame) const {
  Value value = frame.device;
  if (role_ == VariableRole::kAccumulated) value = fold_->accumulated(frame);
  if (role_ == VariableRole::kFirst) value = fold_->slot(frame).first;
  if (role_ == VariableRole::kSecond) value = fold_->slot(frame).second;
  return value.is_error() ? value : qualified(frame, value);
}

Value RelativeAttribute::resolve(Frame& frame) const {
  const Value value = operand_->eval(frame);
  return value.is_error() ? value : qualified(frame, value);
}

std::int64_t ConditionalAttribute::id() const {
  return truthy_->id() == falsy_->id() ? truthy_->id() : own_id();
}

void ConditionalAttribute::add(const Qualifier* qualifier) {
  truthy_->add(qualifier);
  falsy_->add(qualifier);
}

Value ConditionalAttribute::resolve(Frame& frame) const {
  const Value condition = condition_->eval(frame);
  if (condition.is_true()) return truthy_->resolve(frame);
  if (condition.is_false()) return falsy_->resolve(frame);
  return condition.is_error() ? condition : Frame::no_overload();
}

bool ConditionalAttribute::drop(Frame& frame) const {
  frame.drop(falsy_->id());
  frame.drop(truthy_->id());
  frame.drop(condition_->id());
  return false;
}

Value AttributeNode::eval(Frame& frame) const {
  Value value = attribute_->resolve(frame);
  if (is_test_ && value.is(Kind::kOptional)) value = Value::boolean(value.address() != nullptr);
  if (attribute_->drop(frame)) ++frame.cost;
  if (is_test_) --frame.cost;
  frame.observe(value, id());
  return value;
}

}  // namespace gang::cel
