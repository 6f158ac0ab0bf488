#include "cel/named_formats.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "cel/civil_time.h"
#include "cel/functions.h"
#include "cel/lists.h"
#include "cel/url.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;
using Problems = std::vector<std::string>;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_lower_alnum(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

// [a-z0-9]([-a-z0-9]*[a-z0-9])?
bool is_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

bool is_subdomain(std::string_view text) {
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

// ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]
bool is_name_part(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string too_long(int length) {
  return "must be no more than " + std::to_string(length) + " bytes";
}

// A prefix may end in a dash, which the name behind it makes valid.
std::string masked(std::string_view text) {
  std::string whole(text);
  if (whole.size() > 1 && whole.back() == '-') whole.back() = 'a';
  return whole;
}

Problems label_problems(std::string_view text, bool is_prefix) {
  Problems problems;
  const std::string whole = is_prefix ? masked(text) : std::string(text);
  if (whole.size() > 63) problems.push_back(too_long(63));
  if (!is_label(whole)) {
    const bool dotted = is_subdomain(whole);
    problems.push_back(
        dotted ? "must not contain dots"
               : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
                 "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
                 "'123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')");
  }
  return problems;
}

Problems subdomain_problems(std::string_view text, bool is_prefix) {
  Problems problems;
  const std::string whole = is_prefix ? masked(text) : std::string(text);
  if (whole.size() > 253) problems.push_back(too_long(253));
  if (!is_subdomain(whole)) {
    problems.emplace_back(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
        "used "
        "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
  return problems;
}

Problems dns1035_problems(std::string_view text, bool is_prefix) {
  Problems problems;
  const std::string whole = is_prefix ? masked(text) : std::string(text);
  if (whole.size() > 63) problems.push_back(too_long(63));
  if (!is_label(whole) || !is_lower(whole[0])) {
    problems.emplace_back(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
        "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
        "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')");
  }
  return problems;
}

Problems name_part_problems(std::string_view text) {
  Problems problems;
  if (text.empty()) problems.emplace_back("name part must be non-empty");
  if (text.size() > 63) problems.push_back("name part " + too_long(63));
  if (!is_name_part(text)) {
    problems.emplace_back(
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and "
        "end "
        "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
        "for "
        "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
  }
  return problems;
}

Problems qualified_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return name_part_problems(text);
  const std::string_view prefix = text.substr(0, slash);
  const std::string_view name = text.substr(slash + 1);
  if (name.find('/') != std::string_view::npos) {
    return {
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must "
        "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
        "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
        "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  Problems problems;
  if (prefix.empty()) {
    problems.emplace_back("prefix part must be non-empty");
  } else {
    for (const std::string& problem : subdomain_problems(prefix, false)) {
      problems.push_back("prefix part " + problem);
    }
  }
  std::ranges::move(name_part_problems(name), std::back_inserter(problems));
  return problems;
}

Problems label_value(std::string_view text) {
  Problems problems;
  if (text.size() > 63) problems.push_back(too_long(63));
  if (!text.empty() && !is_name_part(text)) {
    problems.emplace_back(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value', "
        " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
  }
  return problems;
}

Problems uri(std::string_view text) {
  std::string why;
  if (parse_request_url(text, why)) return {};
  return {"parse \"" + std::string(text) + "\": " + why};
}

bool is_uuid(std::string_view text) {
  for (const std::size_t group : {8, 4, 4, 4, 12}) {
    if (group != 8 && text.starts_with('-')) text.remove_prefix(1);
    if (text.size() < group) return false;
    for (const char c : text.substr(0, group)) {
      if (!is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'f')) return false;
    }
    text.remove_prefix(group);
  }
  return text.empty();
}
Problems uuid(std::string_view text) {
  return is_uuid(text) ? Problems{} : Problems{"does not match the UUID format"};
}

bool is_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return false;
  const std::size_t end = std::min(text.find('='), text.size());
  if (text.size() - end > 2) return false;
  const bool padded = std::ranges::all_of(text.substr(end), [](char c) { return c == '='; });
  return padded && std::ranges::all_of(text.substr(0, end),
                                       [](char c) { return is_alnum(c) || c == '+' || c == '/'; });
}
Problems byte(std::string_view text) {
  return is_base64(text) ? Problems{} : Problems{"invalid base64"};
}

bool is_date(std::string_view text) {
  if (text.size() != 10) return false;
  const std::optional<Value> read = parse_timestamp(std::string(text) + "T12:00:00Z");
  return read.has_value();
}
Problems date(std::string_view text) {
  return is_date(text) ? Problems{} : Problems{"invalid date"};
}

// "z" or "+02:00".
bool is_zone(std::string_view text) {
  if (text == "z") return true;
  return text.size() == 6 && (text[0] == '+' || text[0] == '-') && is_digit(text[1]) &&
         is_digit(text[2]) && text[3] == ':' && is_digit(text[4]) && is_digit(text[5]);
}

// HH:MM:SS, a fraction behind any one byte, and a zone; in lower case.
bool is_time(std::string_view text) {
  if (text.size() < 9 || text[2] != ':' || text[5] != ':') return false;
  for (const std::size_t at : {0, 1, 3, 4, 6, 7}) {
    if (!is_digit(text[at])) return false;
  }
  if (text.substr(0, 2) > "23" || text.substr(3, 2) > "59" || text.substr(6, 2) > "59")
    return false;
  text.remove_prefix(8);
  if (is_zone(text)) return true;
  const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
  return end > 1 && text[0] != '\n' && is_zone(text.substr(end));
}

Problems datetime(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  const std::size_t t = lower.find('t');
  const bool valid = text.size() >= 4 && t != std::string::npos && is_date(lower.substr(0, t)) &&
                     is_time(lower.substr(t + 1, lower.find('t', t + 1) - t - 1));
  return valid ? Problems{} : Problems{"invalid datetime"};
}

constexpr std::array kFormats = std::to_array<NamedFormat>({
    {"dns1123Label", 30, [](std::string_view t) { return label_problems(t, false); }},
    {"dns1123Subdomain", 60, [](std::string_view t) { return subdomain_problems(t, false); }},
    {"dns1035Label", 30, [](std::string_view t) { return dns1035_problems(t, false); }},
    {"qualifiedName", 60, qualified_name},
    {"dns1123LabelPrefix", 30, [](std::string_view t) { return label_problems(t, true); }},
    {"dns1123SubdomainPrefix", 60, [](std::string_view t) { return subdomain_problems(t, true); }},
    {"dns1035LabelPrefix", 30, [](std::string_view t) { return dns1035_problems(t, true); }},
    {"labelValue", 40, label_value},
    {"uri", 1103, uri},
    {"uuid", 70, uuid},
    {"byte", 84, byte},
    {"date", 71, date},
    {"datetime", 71, datetime},
});

Value as_value(const NamedFormat& format) {
  return Value::object(Kind::kNamedFormat, &format);
}

template <std::size_t kIndex>
Value constant(Frame&, Args) {
  return as_value(kFormats[kIndex]);
}

Value named(Frame& frame, Args args) {
  const NamedFormat* format = find_format(args[0].as_text());
  if (format == nullptr) return Value::object(Kind::kOptional, nullptr);
  return Value::object(Kind::kOptional, frame.arena.make<Value>(as_value(*format)));
}

Value validate(Frame& frame, Args args) {
  const std::string_view text = args[1].as_text();
  if (!frame.spend(1 + text.size() / 8)) return Frame::cancelled();
  std::vector<Value> items;
  for (const std::string& problem : args[0].as<NamedFormat>().problems(text)) {
    items.push_back(Value::string(frame.arena.copy(problem)));
  }
  if (items.empty()) return Value::object(Kind::kOptional, nullptr);
  const Value list = make_list(frame.arena, items);
  return Value::object(Kind::kOptional, frame.arena.make<Value>(list));
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"format.dns1123Label", constant<0>},
    {"format.dns1123Subdomain", constant<1>},
    {"format.dns1035Label", constant<2>},
    {"format.qualifiedName", constant<3>},
    {"format.dns1123LabelPrefix", constant<4>},
    {"format.dns1123SubdomainPrefix", constant<5>},
    {"format.dns1035LabelPrefix", constant<6>},
    {"format.labelValue", constant<7>},
    {"format.uri", constant<8>},
    {"format.uuid", constant<9>},
    {"format.byte", constant<10>},
    {"format.date", constant<11>},
    {"format.datetime", constant<12>},
    {"format-named", named},
    {"format-validate", validate},
});

}  // namespace

const NamedFormat* find_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &NamedFormat::name);
  return found == kFormats.end() ? nullptr : &*found;
}

std::span<const NamedBuiltin> named_format_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
