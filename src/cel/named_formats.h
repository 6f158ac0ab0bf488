// format.dns1123Label() and its like: named rules that strings are validated against.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gang::cel {

/// One rule. `problems` gives upstream's messages, none where the text is valid.
struct NamedFormat {
  std::string_view name;
  std::uint64_t regex_size = 0;  ///< for the cost of validate()
  std::vector<std::string> (*problems)(std::string_view text) = nullptr;
};

/// Null where there is no such format.
[[nodiscard]] const NamedFormat* find_format(std::string_view name);

}  // namespace gang::cel
