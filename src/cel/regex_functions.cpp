#include <array>
#include <string>
#include <vector>

#include "cel/functions.h"
#include "cel/lists.h"
#include "cel/regex.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

// The pattern of a call: compiled beforehand where it is constant, else now into `made`.
const Regex* pattern_of(Frame& frame, Args args, CompiledRegex& made) {
  if (frame.regex != nullptr) return frame.regex;
  made = compile_regex(args[1].as_text());
  return frame.spend(made.work) ? made.regex.get() : nullptr;
}

Value failed(Frame& frame, const CompiledRegex& made) {
  return frame.is_cancelled ? Frame::cancelled() : frame.fail("Illegal regex: " + made.error);
}

Value find(Frame& frame, Args args) {
  CompiledRegex made;
  const Regex* regex = pattern_of(frame, args, made);
  if (regex == nullptr) return failed(frame, made);
  if (!frame.spend(regex->work_on(args[0].extent()))) return Frame::cancelled();
  std::string_view found;
  return Value::string(regex->find(args[0].as_text(), 0, found) ? found : "");
}

// Matches from left to right that do not overlap; an empty one right behind another does not count.
bool find_each(Frame& frame, const Regex& regex, std::string_view text, std::int64_t limit,
               std::vector<Value>& matches) {
  std::size_t end_before = std::string_view::npos;
  for (std::size_t at = 0; at <= text.size();) {
    if (limit >= 0 && static_cast<std::int64_t>(matches.size()) >= limit) break;
    if (!frame.spend(regex.work_on(text.size() - at))) return false;
    std::string_view found;
    if (!regex.find(text, at, found)) break;
    const auto begin = static_cast<std::size_t>(found.data() - text.data());
    const std::size_t end = begin + found.size();
    if (!found.empty() || begin != end_before) matches.push_back(Value::string(found));
    end_before = end;
    if (end > at) {
      at = end;
    } else {
      at += at < text.size() ? decode(text.substr(at)).size : 1;
    }
  }
  return true;
}

Value find_all(Frame& frame, Args args) {
  CompiledRegex made;
  const Regex* regex = pattern_of(frame, args, made);
  if (regex == nullptr) return failed(frame, made);
  const std::int64_t limit = args.size() > 2 ? args[2].as_int() : -1;
  std::vector<Value> matches;
  if (!find_each(frame, *regex, args[0].as_text(), limit, matches)) return Frame::cancelled();
  return new_list(frame, matches);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"string_find_string", find},
    {"string_find_all_string", find_all},
    {"string_find_all_string_int", find_all},
});

}  // namespace

std::span<const NamedBuiltin> regex_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
