#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "cel/functions.h"
#include "cel/lists.h"
#include "cel/text_format.h"
#include "cel/text_of.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;

Value out_of_range(Frame& frame, std::int64_t index) {
  return frame.fail("index out of range: " + std::to_string(index));
}

std::int64_t length(std::string_view text) {
  return static_cast<std::int64_t>(code_point_count(text));
}

// Whether there is work left for reading this text once.
bool may_read(Frame& frame, std::string_view text) {
  return frame.spend(1 + text.size() / 16);
}

// The same for looking for a part in it, whose bytes may be compared at each place.
bool may_search(Frame& frame, std::string_view text, std::string_view part) {
  return frame.spend(1 + text.size() * (16 + part.size()) / 32);
}

std::string_view slice(std::string_view text, std::int64_t from, std::int64_t to) {
  const std::size_t begin = offset_of(text, static_cast<std::uint64_t>(from));
  return text.substr(begin, offset_of(text.substr(begin), static_cast<std::uint64_t>(to - from)));
}

Value contains(Frame& frame, Args args) {
  if (!may_search(frame, args[0].as_text(), args[1].as_text())) return Frame::cancelled();
  return Value::boolean(args[0].as_text().find(args[1].as_text()) != std::string_view::npos);
}
Value starts_with(Frame&, Args args) {
  return Value::boolean(args[0].as_text().starts_with(args[1].as_text()));
}
Value ends_with(Frame&, Args args) {
  return Value::boolean(args[0].as_text().ends_with(args[1].as_text()));
}

Value char_at(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  const std::int64_t index = args[1].as_int();
  if (!may_read(frame, text)) return Frame::cancelled();
  const std::int64_t size = length(text);
  if (index < 0 || index > size) return out_of_range(frame, index);
  return index == size ? Value::string("") : Value::string(slice(text, index, index + 1));
}

// Where `part` begins at or behind code point `offset`; -1 where it does not.
Value index_of(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  const std::int64_t offset = args.size() > 2 ? args[2].as_int() : 0;
  if (!may_search(frame, text, part)) return Frame::cancelled();
  if (offset < 0) return out_of_range(frame, offset);
  const std::int64_t size = length(text);
  if (part.empty()) return Value::integer(std::min(offset, size));
  if (offset >= size) return Value::integer(-1);
  const std::size_t from = offset_of(text, static_cast<std::uint64_t>(offset));
  const std::size_t at = text.find(part, from);
  return Value::integer(at == std::string_view::npos ? -1 : length(text.substr(0, at)));
}

// Where `part` begins at or before code point `offset`; -1 where it does not.
Value last_index_of(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  if (!may_search(frame, text, part)) return Frame::cancelled();
  const std::int64_t size = length(text);
  if (args.size() == 2 && part.empty()) return Value::integer(size);
  if (args.size() == 2 && text.size() < part.size()) return Value::integer(-1);
  const std::int64_t offset = args.size() > 2 ? args[2].as_int() : size - 1;
  if (offset < 0) return out_of_range(frame, offset);
  if (part.empty()) return Value::integer(std::min(offset, size));
  if (offset >= size) return Value::integer(-1);
  const std::size_t at = text.rfind(part, offset_of(text, static_cast<std::uint64_t>(offset)));
  return Value::integer(at == std::string_view::npos ? -1 : length(text.substr(0, at)));
}

template <char kFrom, char kTo>
Value change_case(Frame& frame, Args args) {
  std::string text(args[0].as_text());
  for (char& c : text) {
    if (c >= kFrom && c <= kFrom + 25) c = static_cast<char>(c - kFrom + kTo);
  }
  return frame.string(text);
}

// Replaces at most `limit` times, always where limit is negative; an empty part is found before
// every code point and at the end. False: too large.
bool replace_into(Frame& frame, Args args, std::int64_t limit, std::string& out) {
  const std::string_view text = args[0].as_text();
  const std::string_view part = args[1].as_text();
  std::size_t at = 0;
  for (std::int64_t done = 0; limit < 0 || done < limit; ++done) {
    std::size_t found = part.empty() ? at : text.find(part, at);
    if (part.empty() && done > 0) {
      if (at >= text.size()) break;
      found = at + decode(text.substr(at)).size;
    }
    if (found == std::string_view::npos || !frame.spend(1 + args[2].extent() / 16)) break;
    out.append(text.substr(at, found - at)).append(args[2].as_text());
    if (!frame.has_room(out.size())) return false;
    at = found + part.size();
  }
  out.append(text.substr(at));
  return !frame.is_cancelled;
}

Value replace(Frame& frame, Args args) {
  const std::int64_t limit = args.size() > 3 ? args[3].as_int() : -1;
  if (!may_search(frame, args[0].as_text(), args[1].as_text())) return Frame::cancelled();
  std::string out;
  if (!replace_into(frame, args, limit, out)) return Frame::cancelled();
  return frame.string(out);
}

Value split(Frame& frame, Args args) {
  std::string_view text = args[0].as_text();
  const std::string_view separator = args[1].as_text();
  const std::int64_t limit = args.size() > 2 ? args[2].as_int() : -1;
  if (!may_search(frame, text, separator)) return Frame::cancelled();
  std::vector<Value> parts;
  if (limit == 0) return new_list(frame, parts);
  const auto may_cut = [&] {
    return (limit < 0 || static_cast<std::int64_t>(parts.size()) + 1 < limit) && frame.spend(1);
  };
  if (separator.empty()) {
    while (may_cut() && !text.empty()) {
      const std::uint32_t size = decode(text).size;
      if (size == text.size()) break;
      parts.push_back(Value::string(text.substr(0, size)));
      text.remove_prefix(size);
    }
    if (!text.empty()) parts.push_back(Value::string(text));
    return new_list(frame, parts);
  }
  for (std::size_t at = text.find(separator); may_cut() && at != std::string_view::npos;
       at = text.find(separator)) {
    parts.push_back(Value::string(text.substr(0, at)));
    text.remove_prefix(at + separator.size());
  }
  parts.push_back(Value::string(text));
  return new_list(frame, parts);
}

Value substring(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  const std::int64_t start = args[1].as_int();
  if (!may_read(frame, text)) return Frame::cancelled();
  const std::int64_t size = length(text);
  const std::int64_t end = args.size() > 2 ? args[2].as_int() : size;
  if (args.size() > 2 && start > end) {
    return frame.fail("invalid substring range. start: " + std::to_string(start) +
                      ", end: " + std::to_string(end));
  }
  if (start < 0 || start > size) return out_of_range(frame, start);
  if (end < 0 || end > size) return out_of_range(frame, end);
  return Value::string(slice(text, start, end));
}

bool is_white(char32_t c) {
  switch (c) {
    case 0x20:
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return (c >= 0x09 && c <= 0x0D) || (c >= 0x2000 && c <= 0x200A);
  }
}

Value trim(Frame& frame, Args args) {
  const std::string_view text = args[0].as_text();
  if (!frame.spend(1 + text.size() / 4)) return Frame::cancelled();
  std::size_t begin = text.size();
  std::size_t end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text.substr(at));
    if (!is_white(point.value)) {
      begin = std::min(begin, at);
      end = at + point.size;
    }
    at += point.size;
  }
  return Value::string(begin < end ? text.substr(begin, end - begin) : text.substr(0, 0));
}

Value join(Frame& frame, Args args) {
  const std::string_view separator = args.size() > 1 ? args[1].as_text() : "";
  std::string out;
  for (std::int64_t i = 0; i < list_size(args[0]); ++i) {
    const Value item = list_item(args[0], i);
    if (i > 0) out += separator;
    if (!item.is(Kind::kString)) return frame.fail("join: invalid input: " + text_of(item));
    out += item.as_text();
    if (!frame.spend(1 + item.extent() / 16) || !frame.has_room(out.size()))
      return Frame::cancelled();
  }
  return frame.string(out);
}

Value quote(Frame& frame, Args args) {
  constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kEscaped = "abfnrtv\\\"";
  if (!frame.spend(args[0].extent())) return Frame::cancelled();
  std::string out = "\"";
  for (const char c : repaired(args[0].as_text())) {
    const std::size_t at = kPlain.find(c);
    if (at != std::string_view::npos) {
      out += '\\';
      out += kEscaped[at];
    } else {
      out += c;
    }
  }
  return frame.string(out + "\"");
}

Value format(Frame& frame, Args args) {
  return format_text(frame, args[0].as_text(), args[1]);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"contains_string", contains},
    {"starts_with_string", starts_with},
    {"ends_with_string", ends_with},
    {"string_char_at_int", char_at},
    {"string_index_of_string", index_of},
    {"string_index_of_string_int", index_of},
    {"string_last_index_of_string", last_index_of},
    {"string_last_index_of_string_int", last_index_of},
    {"string_lower_ascii", change_case<'A', 'a'>},
    {"string_upper_ascii", change_case<'a', 'A'>},
    {"string_replace_string_string", replace},
    {"string_replace_string_string_int", replace},
    {"string_split_string", split},
    {"string_split_string_int", split},
    {"string_substring_int", substring},
    {"string_substring_int_int", substring},
    {"string_trim", trim},
    {"list_join", join},
    {"list_join_string", join},
    {"strings_quote", quote},
    {"string_format", format},
});

}  // namespace

std::span<const NamedBuiltin> text_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
