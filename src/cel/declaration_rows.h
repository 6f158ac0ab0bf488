// Which functions there are, as rows of text: name, overload, style, types of arguments and result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace gang::cel {

/// f(x) or x.f().
enum class CallStyle : std::uint8_t { kGlobal, kMember };
inline constexpr CallStyle kGlobal = CallStyle::kGlobal;
inline constexpr CallStyle kMember = CallStyle::kMember;

/// One overload; rows of one function stand in the order in which upstream tries them. Capital
/// letters are type parameters.
struct DeclarationRow {
  std::string_view function;
  std::string_view overload;
  CallStyle style;
  std::string_view args;
  std::string_view result;
};

[[nodiscard]] std::span<const DeclarationRow> base_rows();
[[nodiscard]] std::span<const DeclarationRow> library_rows();

}  // namespace gang::cel
