// What functions do: implementations by overload, and the operators that serve every overload.
#pragma once

#include <span>
#include <string_view>

#include "cel/frame.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// Computes a result from arguments whose types fit; errors are results.
using Builtin = Value (*)(Frame& frame, std::span<const Value> args);

/// An implementation under the name of its overload.
struct NamedBuiltin {
  std::string_view overload;
  Builtin call;
};

/// An implementation that serves all overloads of a function; `accepts` asks the first argument.
struct Operator {
  std::string_view function;
  Builtin call;
  bool (*accepts)(const Value& first);
};

/// Null where the function is not done by one operator, or the overload has no implementation.
[[nodiscard]] const Operator* find_operator(std::string_view function);
[[nodiscard]] Builtin find_builtin(std::string_view overload);

// The tables that find_builtin() searches, one a file.
[[nodiscard]] std::span<const NamedBuiltin> conversion_builtins();
[[nodiscard]] std::span<const NamedBuiltin> text_builtins();
[[nodiscard]] std::span<const NamedBuiltin> list_builtins();
[[nodiscard]] std::span<const NamedBuiltin> collection_builtins();
[[nodiscard]] std::span<const NamedBuiltin> time_builtins();
[[nodiscard]] std::span<const NamedBuiltin> quantity_builtins();
[[nodiscard]] std::span<const NamedBuiltin> semver_builtins();
[[nodiscard]] std::span<const NamedBuiltin> network_builtins();
[[nodiscard]] std::span<const NamedBuiltin> url_builtins();
[[nodiscard]] std::span<const NamedBuiltin> named_format_builtins();
[[nodiscard]] std::span<const NamedBuiltin> regex_builtins();

}  // namespace gang::cel
