#include "cel/derived.h"

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cel/lists.h"
#include "cel/text_of.h"
#include "cel/type_names.h"

namespace gang::cel {
namespace {

bool may_be_scalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kString:
    case TypeKind::kDyn:
      return true;
    default:
      return type.name == "kubernetes.Semver";
  }
}

// Monostate where it is none. What is in an optional counts as itself, a type by its name.
AttributeValue scalar_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return value.as_bool();
    case Kind::kInt:
      return value.as_int();
    case Kind::kString:
    case Kind::kType:
      return std::string(value.as_text());
    case Kind::kSemver:
      return Version{text_of(value)};
    case Kind::kOptional:
      return value.address() == nullptr ? AttributeValue() : scalar_of(value.as<Value>());
    default:
      return {};
  }
}

template <class T>
Result<AttributeValue> list_of(const Value& list, const char* type) {
  std::vector<T> items;
  for (std::int64_t i = 0; i < list_size(list); ++i) {
    const Value item = list_item(list, i);
    AttributeValue scalar = scalar_of(item);
    T* held = std::get_if<T>(&scalar);
    if (held == nullptr) {
      return fail(Code::kInvalidArgument, "expected list element at index " + std::to_string(i) +
                                              " to be " + type + ", got " +
                                              std::string(type_name(item)));
    }
    items.push_back(std::move(*held));
  }
  return AttributeValue(std::move(items));
}

// The first item decides the type.
Result<AttributeValue> list_of(const Value& list) {
  if (list_size(list) == 0) return AttributeValue(std::vector<std::string>{});
  const Value first = list_item(list, 0);
  const AttributeValue scalar = scalar_of(first);
  if (std::holds_alternative<bool>(scalar)) return list_of<bool>(list, "bool");
  if (std::holds_alternative<std::int64_t>(scalar)) return list_of<std::int64_t>(list, "int");
  if (std::holds_alternative<std::string>(scalar)) return list_of<std::string>(list, "string");
  if (std::holds_alternative<Version>(scalar)) return list_of<Version>(list, "semver");
  return fail(Code::kInvalidArgument,
              "unsupported list element type: " + std::string(type_name(first)));
}

}  // namespace

bool may_be_attribute(const Type& type) {
  if (may_be_scalar(type)) return true;
  return type.kind == TypeKind::kList && type.params.size() == 1 && may_be_scalar(*type.params[0]);
}

Result<AttributeValue> attribute_of(const Value& value) {
  if (value.is(Kind::kList)) return list_of(value);
  AttributeValue scalar = scalar_of(value);
  if (!std::holds_alternative<std::monostate>(scalar)) return scalar;
  return fail(Code::kInvalidArgument,
              "unsupported CEL return type: " + std::string(type_name(value)));
}

}  // namespace gang::cel
