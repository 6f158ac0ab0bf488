// Regular expressions of RE2's syntax. Only regex_re2.cpp knows the library.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace gang::cel {

/// A compiled pattern; linear in time and bounded in memory whatever the pattern. Immutable.
class Regex {
 public:
  virtual ~Regex() = default;
  /// Whether it is found anywhere in the text.
  [[nodiscard]] virtual bool is_in(std::string_view text) const = 0;
  /// The leftmost match at or behind byte `from`; false where there is none.
  [[nodiscard]] virtual bool find(std::string_view text, std::size_t from,
                                  std::string_view& found) const = 0;
};

/// Null and a text in `error` where the pattern is none.
[[nodiscard]] std::unique_ptr<Regex> compile_regex(std::string_view pattern, std::string& error);

}  // namespace gang::cel
