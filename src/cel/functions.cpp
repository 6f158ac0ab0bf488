#include "cel/functions.h"

#include <array>
#include <map>

namespace gang::cel {

Builtin find_builtin(std::string_view overload) {
  static const std::map<std::string_view, Builtin> kBuiltins = [] {
    std::map<std::string_view, Builtin> all;
    for (const std::span<const NamedBuiltin> table :
         {conversion_builtins(), text_builtins(), list_builtins(), collection_builtins(),
          time_builtins(), quantity_builtins(), semver_builtins(), network_builtins(),
          url_builtins(), named_format_builtins(), regex_builtins()}) {
      for (const NamedBuiltin& builtin : table) all.emplace(builtin.overload, builtin.call);
    }
    return all;
  }();
  const auto found = kBuiltins.find(overload);
  return found == kBuiltins.end() ? nullptr : found->second;
}

}  // namespace gang::cel
