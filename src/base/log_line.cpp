#include "base/log_line.h"

#include <fmt/format.h>

#include <iterator>

#include "gang/base/utf8.h"

namespace gang::log {
namespace {

std::string_view cut(std::string_view text) {
  if (text.size() <= kValueBytesMax) return text;
  std::size_t end = kValueBytesMax;
  while (end > kValueBytesMax - 4 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

/// Appends one code point. Everything that a terminal or a line reader acts on is escaped: C0, DEL,
/// C1 and the Unicode line and paragraph separators.
void append_code_point(std::string& out, std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (lead == '"' || lead == '\\') {
    out += '\\';
    out += sequence;
  } else if (lead == '\n') {
    out += "\\n";
  } else if (lead == '\t') {
    out += "\\t";
  } else if (lead < 0x20 || lead == 0x7F) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", lead);
  } else if (lead == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(sequence[1]));
  } else if (sequence == "\xE2\x80\xA8" || sequence == "\xE2\x80\xA9") {
    out += sequence.back() == '\xA8' ? "\\u2028" : "\\u2029";
  } else {
    out += sequence;
  }
}

bool needs_quotes(std::string_view escaped_value) {
  return escaped_value.empty() || escaped_value.find_first_of(" =\\") != std::string_view::npos;
}

}  // namespace

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kDebug:
      return "debug";
    case Level::kInfo:
      return "info";
    case Level::kWarn:
      return "warn";
    case Level::kError:
      return "error";
    case Level::kOff:
      return "off";
  }
  return "off";
}

std::string escaped(std::string_view text) {
  std::string out;
  std::string_view rest = cut(text);
  out.reserve(rest.size());
  while (!rest.empty()) {
    const std::size_t length = utf8_length(rest);
    if (length == 0) {
      out += "\\ufffd";
      rest.remove_prefix(1);
    } else {
      append_code_point(out, rest.substr(0, length));
      rest.remove_prefix(length);
    }
  }
  return out;
}

std::string text_line(Level level, std::string_view message, std::initializer_list<Field> fields) {
  std::string line = fmt::format("{:<5} {}", level_name(level), escaped(message));
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    const std::string value = escaped(field.value);
    line += ' ';
    line += escaped(field.key);
    line += '=';
    line += needs_quotes(value) ? '"' + value + '"' : value;
  }
  return line;
}

std::string json_members(Level level, std::string_view message,
                         std::initializer_list<Field> fields) {
  std::string members =
      fmt::format(R"("level":"{}","message":"{}")", level_name(level), escaped(message));
  for (const Field& field : fields) {
    if (field.value.empty()) continue;
    fmt::format_to(std::back_inserter(members), R"(,"{}":"{}")", escaped(field.key),
                   escaped(field.value));
  }
  return members;
}

}  // namespace gang::log
