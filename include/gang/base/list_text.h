// Lists in sentences: the first few by name, and how many more there are. Stateless; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gang {

/// Parts of a list that are named.
inline constexpr std::size_t kListedMax = 3;

/// What stands between the parts, and before and after the number of those that are not named.
struct ListWords {
  std::string_view between = ", ";
  std::string_view more = " and ";  ///< before "2 more"
  std::string_view what = "";       ///< after it, such as " nodes"
};

/// "a, b, c and 2 more"; "" of none.
[[nodiscard]] std::string list_text(const std::vector<std::string>& parts, ListWords words = {});

}  // namespace gang
