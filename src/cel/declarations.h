// What an expression may name: the variable `device`, types, functions with their overloads.
#pragma once

#include <string_view>
#include <vector>

#include "cel/declaration_rows.h"
#include "cel/types.h"

namespace gang::cel {

/// One signature of a function.
struct Overload {
  std::string_view function;
  std::string_view id;
  CallStyle style = CallStyle::kGlobal;
  std::vector<const Type*> args;
  const Type* result = nullptr;
  bool is_generic = false;  ///< names type parameters
};

/// The function of this name, or null. Its overloads stand in the order in which they are tried.
[[nodiscard]] const std::vector<Overload>* find_function(std::string_view name);

/// The type that a name stands for as a value (`int`, `net.IP`), or null.
[[nodiscard]] const Type* find_type_value(std::string_view name);

/// The type of `device` and of its fields; null where it has no such field.
[[nodiscard]] const Type& device_type();
[[nodiscard]] const Type* device_field(std::string_view field);

}  // namespace gang::cel
