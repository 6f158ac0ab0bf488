#include <array>
#include <optional>
#include <string>

#include "cel/comparison.h"
#include "cel/functions.h"
#include "cel/semver.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

std::optional<SemverObject> read(Frame& frame, Args args, std::string& why) {
  if (!frame.spend(1 + args[0].extent() / 2)) return std::nullopt;
  if (args.size() < 2 || !args[1].as_bool()) {
    return parse_semver(args[0].as_text(), frame.arena, why);
  }
  const std::optional<std::string> text = normalized_semver(args[0].as_text());
  why = "short version cannot contain PreRelease/Build meta data";
  return text ? parse_semver(*text, frame.arena, why) : std::nullopt;
}

Value parse(Frame& frame, Args args) {
  std::string why;
  const std::optional<SemverObject> version = read(frame, args, why);
  if (!version) return frame.fail(why);
  return Value::object(Kind::kSemver, frame.arena.make<SemverObject>(*version));
}
Value is_semver(Frame& frame, Args args) {
  std::string why;
  return Value::boolean(read(frame, args, why).has_value());
}

int order(Frame& frame, Args args) {
  return compare_semver(frame, args[0].as<SemverObject>(), args[1].as<SemverObject>());
}
Value is_greater_than(Frame& frame, Args args) {
  return Value::boolean(order(frame, args) > 0);
}
Value is_less_than(Frame& frame, Args args) {
  return Value::boolean(order(frame, args) < 0);
}
Value compare_to(Frame& frame, Args args) {
  return Value::integer(order(frame, args));
}

template <std::uint64_t SemverObject::*kPart>
Value part(Frame&, Args args) {
  return Value::integer(static_cast<std::int64_t>(args[0].as<SemverObject>().*kPart));
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"string_to_semver", parse},
    {"string_bool_to_semver", parse},
    {"is_semver_string", is_semver},
    {"is_semver_string_bool", is_semver},
    {"semver_is_greater_than", is_greater_than},
    {"semver_is_less_than", is_less_than},
    {"semver_compare_to", compare_to},
    {"semver_major", part<&SemverObject::major>},
    {"semver_minor", part<&SemverObject::minor>},
    {"semver_patch", part<&SemverObject::patch>},
});

}  // namespace

std::span<const NamedBuiltin> semver_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
