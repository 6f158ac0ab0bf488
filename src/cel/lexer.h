// From the text of an expression to tokens: the longest match wins, as in the language's grammar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gang::cel {

/// Kinds of tokens. Operators and keywords are kSymbol with their text.
enum class TokenKind : std::uint8_t {
  kEnd,
  kSymbol,
  kIdentifier,
  kEscapedIdentifier,  ///< `like this`
  kInt,
  kUint,
  kDouble,
  kString,
  kBytes,
};

/// A token: its text lies in the source. `offset` counts bytes.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::uint32_t offset = 0;
};

/// A complaint about a place of the source.
struct Issue {
  std::uint32_t offset = 0;
  std::string message;
};

/// The tokens up to kEnd; what no token begins with becomes an issue and is left out.
[[nodiscard]] std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues);

}  // namespace gang::cel
