#include "sim/name_rules.h"

#include <algorithm>
#include <string>

namespace gang::sim {

namespace {

constexpr std::size_t kNameMax = 253;
constexpr std::size_t kLabelMax = 63;

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

/// One piece of a name between dots.
bool is_dns_label(std::string_view text) {
  if (text.empty() || !is_lower_alnum(text.front()) || !is_lower_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_dns_name(std::string_view text) {
  if (text.size() > kNameMax) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// The part of a key after its domain, and a value that is not empty.
bool is_label_word(std::string_view text) {
  if (text.empty() || text.size() > kLabelMax) return false;
  if (!is_alnum(text.front()) || !is_alnum(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

tl::unexpected<Error> refuse(std::string_view field, std::string_view text, const char* mend) {
  return fail(Code::kInvalidArgument,
              std::string(field) + ": \"" + std::string(text) + "\" " + mend);
}

}  // namespace

Result<void> check_name(std::string_view field, std::string_view name) {
  if (is_dns_name(name)) return {};
  return refuse(field, name,
                "is no name in Kubernetes; write at most 253 of a-z, 0-9, \"-\" and \".\", like "
                "train-0");
}

Result<void> check_namespace(std::string_view field, std::string_view name) {
  if (name.size() <= kLabelMax && is_dns_label(name)) return {};
  return refuse(field, name,
                "is no namespace; write at most 63 of a-z, 0-9 and \"-\", like team-a");
}

Result<void> check_key(std::string_view field, std::string_view key) {
  const std::size_t slash = key.find('/');
  const bool has_domain = slash != std::string_view::npos;
  const bool is_domain_good = !has_domain || is_dns_name(key.substr(0, slash));
  if (is_domain_good && is_label_word(has_domain ? key.substr(slash + 1) : key)) return {};
  return refuse(field, key,
                "is no key; write at most 63 letters, digits, \"-\", \"_\" and \".\", like pool or "
                "example.com/pool");
}

Result<void> check_value(std::string_view field, std::string_view value) {
  if (value.empty() || is_label_word(value)) return {};
  return refuse(field, value,
                "is no value of a label or taint; write at most 63 letters, digits, \"-\", \"_\" "
                "and \".\"");
}

}  // namespace gang::sim
