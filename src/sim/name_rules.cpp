#include "sim/name_rules.h"

#include <string>

#include "gang/api/names.h"
#include "gang/base/utf8.h"

namespace gang::sim {

namespace {

/// The most bytes of a wrong text that a message repeats.
constexpr std::size_t kShownMax = 80;

/// The text in quotes; of a long one the beginning and its length, which may be what is wrong.
std::string quoted(std::string_view text) {
  if (text.size() <= kShownMax) return "\"" + std::string(text) + "\"";
  return "\"" + std::string(cut_text(text, kShownMax)) + "...\" of " + std::to_string(text.size()) +
         " characters";
}

tl::unexpected<Error> refuse(std::string_view field, std::string_view text, const char* mend) {
  return fail(Code::kInvalidArgument, std::string(field) + ": " + quoted(text) + " " + mend);
}

}  // namespace

Result<void> check_name(std::string_view field, std::string_view name) {
  if (api::is_dns_name(name)) return {};
  return refuse(field, name,
                "is no name in Kubernetes; write at most 253 of a-z, 0-9, \"-\" and \".\", like "
                "train-0");
}

Result<void> check_namespace(std::string_view field, std::string_view name) {
  if (api::is_dns_label(name)) return {};
  return refuse(field, name,
                "is no namespace; write at most 63 of a-z, 0-9 and \"-\", like team-a");
}

Result<void> check_key(std::string_view field, std::string_view key) {
  if (api::is_qualified_name(key)) return {};
  return refuse(field, key,
                "is no key; write at most 63 letters, digits, \"-\", \"_\" and \".\", like pool or "
                "example.com/pool");
}

Result<void> check_value(std::string_view field, std::string_view value) {
  if (api::is_label_value(value)) return {};
  return refuse(field, value,
                "is no value of a label or taint; write at most 63 letters, digits, \"-\", \"_\" "
                "and \".\"");
}

}  // namespace gang::sim
