#include <array>
#include <string>

#include "cel/amount.h"
#include "cel/functions.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

constexpr std::uint32_t kComputed = 1;  // the mark of sums: upstream's equality does not know them

Value quantity(Frame& frame, const Amount& amount, std::uint32_t mark = 0) {
  return Value::object(Kind::kQuantity, frame.arena.make<Amount>(amount), mark);
}

const Amount& amount(const Value& value) {
  return value.as<Amount>();
}

int order(Args args) {
  const auto compared = amount(args[0]).exact <=> amount(args[1]).exact;
  return compared < 0 ? -1 : compared > 0 ? 1 : 0;
}

Value parse(Frame& frame, Args args) {
  const Result<Amount> read = parse_amount(args[0].as_text());
  if (read) return quantity(frame, *read);
  return frame.fail(
      "quantities must match the regular expression "
      "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}
Value is_quantity(Frame&, Args args) {
  return Value::boolean(parse_amount(args[0].as_text()).has_value());
}
Value sign(Frame&, Args args) {
  const api::Quantity& exact = amount(args[0]).exact;
  return Value::integer(exact.is_zero() ? 0 : exact.is_negative() ? -1 : 1);
}
Value is_greater_than(Frame&, Args args) {
  return Value::boolean(order(args) > 0);
}
Value is_less_than(Frame&, Args args) {
  return Value::boolean(order(args) < 0);
}
Value compare_to(Frame&, Args args) {
  return Value::integer(order(args));
}
Value as_float(Frame&, Args args) {
  return Value::real(approximate(amount(args[0])));
}
Value is_integer(Frame&, Args args) {
  std::int64_t value = 0;
  return Value::boolean(as_integer(amount(args[0]), value));
}
Value to_integer(Frame&, Args args) {
  std::int64_t value = 0;
  if (!as_integer(amount(args[0]), value)) return Value::error("cannot convert value to integer");
  return Value::integer(value);
}
Value add(Frame& frame, Args args) {
  return quantity(frame, add_amounts(amount(args[0]), amount(args[1])), kComputed);
}
Value add_int(Frame& frame, Args args) {
  return quantity(frame, add_amounts(amount(args[0]), whole_amount(args[1].as_int())), kComputed);
}
Value sub(Frame& frame, Args args) {
  return quantity(frame, subtract_amounts(amount(args[0]), amount(args[1])), kComputed);
}
Value sub_int(Frame& frame, Args args) {
  const Amount other = whole_amount(args[1].as_int());
  return quantity(frame, subtract_amounts(amount(args[0]), other), kComputed);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"string_to_quantity", parse},
    {"is_quantity_string", is_quantity},
    {"quantity_sign", sign},
    {"quantity_is_greater_than", is_greater_than},
    {"quantity_is_less_than", is_less_than},
    {"quantity_compare_to", compare_to},
    {"quantity_get_float", as_float},
    {"quantity_get_int", to_integer},
    {"quantity_is_integer", is_integer},
    {"quantity_add", add},
    {"quantity_add_int", add_int},
    {"quantity_sub", sub},
    {"quantity_sub_int", sub_int},
});

}  // namespace

std::span<const NamedBuiltin> quantity_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
