#include "gang/api/names.h"

#include <algorithm>

namespace gang::api {

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/// One piece of a name between dots, of any length.
bool is_dns_piece(std::string_view text) {
  if (text.empty() || !is_lower_alnum(text.front()) || !is_lower_alnum(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

/// The part of a key after its domain, and a value that is not empty.
bool is_label_word(std::string_view text) {
  if (text.empty() || text.size() > kLabelMax) return false;
  if (!is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return std::ranges::all_of(
      text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

}  // namespace

bool is_dns_name(std::string_view text) {
  if (text.size() > kNameMax) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_dns_piece(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_dns_label(std::string_view text) {
  return text.size() <= kLabelMax && is_dns_piece(text);
}

bool is_qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_label_word(text);
  return is_dns_name(text.substr(0, slash)) && is_label_word(text.substr(slash + 1));
}

bool is_label_value(std::string_view text) {
  return text.empty() || is_label_word(text);
}

}  // namespace gang::api
