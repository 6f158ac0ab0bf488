// Regular expressions of RE2's syntax. Only regex_re2.cpp knows the library.
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Work of looking at so many bytes: each may lead to a state that is new, made of all the
  /// instructions of the pattern.
  [[nodiscard]] std::uint64_t work_on(std::size_t bytes) const {
    return 1 + bytes * (kStepsMin + size()) / kStepsMin / kStepsMin;
  }

 protected:
  /// Instructions of the compiled pattern.
  [[nodiscard]] virtual std::uint64_t size() const = 0;

 private:
  static constexpr std::uint64_t kStepsMin = 4;
};

/// What came of a pattern. Movable.
struct CompiledRegex {
  std::unique_ptr<Regex> regex;  ///< null where the pattern is none
  std::string error;             ///< why it is none
  std::uint64_t work = 0;        ///< that compiling it took
};

/// What all constant patterns of one expression may take.
inline constexpr std::uint64_t kPatternsWorkMax = 1'000'000;

[[nodiscard]] CompiledRegex compile_regex(std::string_view pattern);

}  // namespace gang::cel
