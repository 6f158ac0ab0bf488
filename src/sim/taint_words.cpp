#include "sim/taint_words.h"

#include "sim/name_rules.h"

namespace gang::sim {

Result<TaintWords> parse_taint_words(const std::string& text, const char* effects) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return fail(Code::kInvalidArgument,
                "taint=" + text + " has no effect; write key=value:Effect, " + "with " + effects);
  }
  const std::string left = text.substr(0, colon);
  const std::size_t equals = left.find('=');
  TaintWords words{left.substr(0, equals),
                   equals == std::string::npos ? "" : left.substr(equals + 1),
                   text.substr(colon + 1)};
  GANG_TRY_VOID(check_key("taint=", words.key));
  GANG_TRY_VOID(check_value("taint=" + words.key, words.value));
  return words;
}

}  // namespace gang::sim
