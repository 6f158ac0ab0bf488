#include "cel/types.h"

#include <array>

namespace gang::cel {
namespace {

bool same(const Type& a, const Type& b, bool by_param_name) {
  if (&a == &b) return true;
  if (a.kind != b.kind || a.params.size() != b.params.size()) return false;
  if (a.kind == TypeKind::kParam) {
    if (by_param_name && (a.variable != b.variable || a.name != b.name)) return false;
  } else if (a.name != b.name) {
    return false;
  }
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!same(*a.params[i], *b.params[i], by_param_name)) return false;
  }
  return true;
}

}  // namespace

bool is_exactly(const Type& a, const Type& b) {
  return same(a, b, true);
}
bool is_equivalent(const Type& a, const Type& b) {
  return same(a, b, false);
}
bool is_dyn(const Type& type) {
  return type.kind == TypeKind::kDyn;
}
bool is_dyn_or_error(const Type& type) {
  return is_dyn(type) || type.kind == TypeKind::kError;
}

const Type* unwrapped(const Type& type) {
  const bool is_optional = type.kind == TypeKind::kOpaque && type.name == "optional_type";
  return is_optional ? type.params[0] : nullptr;
}

std::string type_text(const Type& type) {
  if (type.kind == TypeKind::kParam) {
    const std::string name =
        type.variable < 0 ? std::string(type.name) : "_var" + std::to_string(type.variable);
    return "<" + name + ">";
  }
  std::string text(type.name);
  for (std::size_t i = 0; i < type.params.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + type_text(*type.params[i]);
  }
  return type.params.empty() ? text : text + ")";
}

const Type& simple_type(TypeKind kind) {
  static const std::array<Type, 11> kTypes = {{
      {TypeKind::kError, "!error!", {}},
      {TypeKind::kDyn, "dyn", {}},
      {TypeKind::kNull, "null_type", {}},
      {TypeKind::kBool, "bool", {}},
      {TypeKind::kInt, "int", {}},
      {TypeKind::kUint, "uint", {}},
      {TypeKind::kDouble, "double", {}},
      {TypeKind::kString, "string", {}},
      {TypeKind::kBytes, "bytes", {}},
      {TypeKind::kDuration, "google.protobuf.Duration", {}},
      {TypeKind::kTimestamp, "google.protobuf.Timestamp", {}},
  }};
  return kTypes[static_cast<std::size_t>(kind)];
}

const Type& TypePool::keep(Type type) {
  for (const Type* param : type.params) type.weight += param->weight;
  if (type.weight > kWeightMax) {
    overflowed_ = true;
    return simple_type(TypeKind::kDyn);
  }
  return types_.emplace_back(std::move(type));
}

const Type& TypePool::list(const Type& element) {
  return keep({TypeKind::kList, "list", {&element}});
}
const Type& TypePool::map(const Type& key, const Type& value) {
  return keep({TypeKind::kMap, "map", {&key, &value}});
}
const Type& TypePool::optional(const Type& value) {
  return keep({TypeKind::kOpaque, "optional_type", {&value}});
}
const Type& TypePool::type_of(const Type& type) {
  return keep({TypeKind::kType, "type", {&type}});
}
const Type& TypePool::opaque(std::string_view name) {
  return keep({TypeKind::kOpaque, name, {}});
}
const Type& TypePool::structure(std::string_view name) {
  return keep({TypeKind::kStruct, name, {}});
}
const Type& TypePool::param(std::string_view name) {
  return keep({TypeKind::kParam, name, {}});
}
const Type& TypePool::variable(std::int32_t number) {
  return keep({TypeKind::kParam, "", {}, number});
}
const Type& TypePool::with_params(const Type& like, std::vector<const Type*> params) {
  return keep({like.kind, like.name, std::move(params)});
}

}  // namespace gang::cel
