#include "cel/lexer.h"

#include <algorithm>
#include <array>

namespace gang::cel {
namespace {

constexpr std::array<std::string_view, 26> kSymbols = {
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(",
    ")",  ".",  ",",  "-",  "!",  "?",  ":", "+", "*", "/", "%", "=", "&"};
constexpr std::size_t kSymbolCount = 24;  // "=" and "&" alone are none

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_octal(char c) {
  return c >= '0' && c <= '7';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

template <class Predicate>
std::size_t run(std::string_view text, std::size_t from, Predicate predicate) {
  while (from < text.size() && predicate(text[from])) ++from;
  return from;
}

// How long the escape sequence at the backslash is; 0 where it is none.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return 0;
  constexpr std::string_view kPlain = "abfnrtv\"'\\?`";
  const char c = text[1];
  if (kPlain.find(c) != std::string_view::npos) return 2;
  std::size_t digits = 0;
  if (c == 'x' || c == 'X') digits = 2;
  if (c == 'u') digits = 4;
  if (c == 'U') digits = 8;
  if (digits > 0) return run(text.substr(0, 2 + digits), 2, is_hex) == 2 + digits ? 2 + digits : 0;
  const bool octal =
      c >= '0' && c <= '3' && text.size() >= 4 && is_octal(text[2]) && is_octal(text[3]);
  return octal ? 4 : 0;
}

// The length of a literal that `quote` opens and closes; 0 where it does not end.
std::size_t quoted_length(std::string_view text, std::string_view quote, bool raw) {
  const bool one_line = quote.size() == 1;
  std::size_t at = quote.size();
  while (at < text.size()) {
    if (text.substr(at).starts_with(quote)) return at + quote.size();
    if (one_line && (text[at] == '\n' || text[at] == '\r')) return 0;
    const bool escape = !raw && text[at] == '\\';
    const std::size_t step = escape ? escape_length(text.substr(at)) : 1;
    if (step == 0) return 0;
    at += step;
  }
  return 0;
}

std::size_t string_length(std::string_view text) {
  const bool raw = !text.empty() && (text[0] == 'r' || text[0] == 'R');
  const std::size_t prefix = raw ? 1 : 0;
  const std::string_view body = text.substr(prefix);
  if (body.empty() || (body[0] != '"' && body[0] != '\'')) return 0;
  std::size_t longest = quoted_length(body, body.substr(0, 1), raw);
  const std::string_view triple = body[0] == '"' ? R"(""")" : "'''";
  if (body.starts_with(triple)) longest = std::max(longest, quoted_length(body, triple, raw));
  return longest == 0 ? 0 : longest + prefix;
}

std::size_t exponent_end(std::string_view text, std::size_t from) {
  if (from >= text.size() || (text[from] != 'e' && text[from] != 'E')) return from;
  std::size_t digits = from + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  const std::size_t end = run(text, digits, is_digit);
  return end > digits ? end : from;
}

Token number(std::string_view text) {
  const auto is_suffix = [&](std::size_t at) {
    return at < text.size() && (text[at] == 'u' || text[at] == 'U');
  };
  if (text.starts_with("0x")) {
    const std::size_t end = run(text, 2, is_hex);
    if (end > 2 && is_suffix(end)) return {TokenKind::kUint, text.substr(0, end + 1)};
    if (end > 2) return {TokenKind::kInt, text.substr(0, end)};
  }
  const std::size_t whole = run(text, 0, is_digit);
  std::size_t end = whole;
  if (whole < text.size() && text[whole] == '.') {
    const std::size_t fraction = run(text, whole + 1, is_digit);
    if (fraction > whole + 1) end = fraction;
  }
  end = exponent_end(text, end);
  if (end > whole) return {TokenKind::kDouble, text.substr(0, end)};
  if (is_suffix(whole)) return {TokenKind::kUint, text.substr(0, whole + 1)};
  return {TokenKind::kInt, text.substr(0, whole)};
}

Token word(std::string_view text) {
  const std::size_t prefix = text[0] == 'b' || text[0] == 'B' ? 1 : 0;
  if (const std::size_t size = string_length(text.substr(prefix)); size > 0) {
    return {prefix > 0 ? TokenKind::kBytes : TokenKind::kString, text.substr(0, prefix + size)};
  }
  const std::size_t end = run(text, 0, [](char c) { return is_letter(c) || is_digit(c); });
  const std::string_view name = text.substr(0, end);
  const bool keyword = name == "in" || name == "true" || name == "false" || name == "null";
  return {keyword ? TokenKind::kSymbol : TokenKind::kIdentifier, name};
}

Token symbol(std::string_view text) {
  const auto* const end = kSymbols.begin() + kSymbolCount;
  const auto* const found =
      std::find_if(kSymbols.begin(), end, [&](std::string_view s) { return text.starts_with(s); });
  if (found == end) return {TokenKind::kEnd, {}};
  return {TokenKind::kSymbol, text.substr(0, found->size())};
}

Token escaped_identifier(std::string_view text) {
  const std::size_t end = run(text, 1, [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '/' || c == ' ';
  });
  if (end == 1 || end >= text.size() || text[end] != '`') return {TokenKind::kEnd, {}};
  return {TokenKind::kEscapedIdentifier, text.substr(0, end + 1)};
}

Token one_token(std::string_view text) {
  const char c = text[0];
  if (is_digit(c) || (c == '.' && text.size() > 1 && is_digit(text[1]))) return number(text);
  if (is_letter(c)) return word(text);
  if (c == '`') return escaped_identifier(text);
  if (c == '"' || c == '\'') {
    return {string_length(text) > 0 ? TokenKind::kString : TokenKind::kEnd,
            text.substr(0, string_length(text))};
  }
  return symbol(text);
}

// Behind white space and comments.
std::size_t skip(std::string_view text, std::size_t from) {
  while (true) {
    from = run(text, from, is_space);
    if (!text.substr(from).starts_with("//")) return from;
    from = run(text, from, [](char c) { return c != '\n'; });
  }
}

}  // namespace

std::vector<Token> tokenize(std::string_view source, std::vector<Issue>& issues) {
  std::vector<Token> tokens;
  std::size_t at = skip(source, 0);
  while (at < source.size()) {
    Token token = one_token(source.substr(at));
    token.offset = static_cast<std::uint32_t>(at);
    if (token.kind == TokenKind::kEnd) {
      issues.push_back({token.offset, "Syntax error: token recognition error at: '" +
                                          std::string(source.substr(at, 1)) + "'"});
      at = skip(source, at + 1);
      continue;
    }
    at = skip(source, at + token.text.size());
    tokens.push_back(token);
  }
  tokens.push_back({TokenKind::kEnd, {}, static_cast<std::uint32_t>(source.size())});
  return tokens;
}

}  // namespace gang::cel
