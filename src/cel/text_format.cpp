#include "cel/text_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "cel/lists.h"
#include "cel/maps.h"
#include "cel/number_text.h"
#include "cel/text_of.h"
#include "cel/type_names.h"
#include "cel/utf8.h"

namespace gang::cel {
namespace {

constexpr int kDefaultPrecision = 6;
constexpr int kPrecisionMax = 1'000'000;  // upstream has none; more would only burn memory

std::string fixed(double value, int precision) {
  std::string text(static_cast<std::size_t>(precision) + 330, '\0');
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value,
                                            std::chars_format::fixed, precision);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string special(double value) {
  if (std::isnan(value)) return "NaN";
  return value > 0 ? "\xE2\x88\x9E" : "-\xE2\x88\x9E";  // the sign of infinity
}

// 1,234,567.891
std::string grouped(double value, int precision) {
  if (!std::isfinite(value)) return special(value);
  std::string text = fixed(value, precision);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  std::size_t end = std::min(text.find('.'), text.size());
  while (end > first + 3) {
    end -= 3;
    text.insert(end, ",");
  }
  return text;
}

// 1.5 times ten to the 03, in raised digits.
std::string scientific(double value) {
  if (!std::isfinite(value)) return special(value);
  constexpr std::array<std::string_view, 10> kRaised = {
      "\xE2\x81\xB0", "\xC2\xB9",     "\xC2\xB2",     "\xC2\xB3",     "\xE2\x81\xB4",
      "\xE2\x81\xB5", "\xE2\x81\xB6", "\xE2\x81\xB7", "\xE2\x81\xB8", "\xE2\x81\xB9"};
  std::string text(40, '\0');
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value,
                                            std::chars_format::scientific, kDefaultPrecision);
  text.resize(static_cast<std::size_t>(end - text.data()));
  const std::size_t e = text.find('e');
  std::string out = text.substr(0, e) + "\xC3\x97" + "10";
  if (text[e + 1] == '-') out += "\xE2\x81\xBB";
  for (const char c : text.substr(e + 2)) out += kRaised[static_cast<std::size_t>(c - '0')];
  return out;
}

// Spaces before the text up to so many code points.
std::string padded(const std::string& text, std::uint64_t width) {
  const std::uint64_t size = code_point_count(text);
  return size < width ? std::string(width - size, ' ') + text : text;
}

template <class T>
std::string digits(T value, int base) {
  std::array<char, 70> text{};
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value, base);
  return {text.data(), end};
}

std::string hex_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits(byte >> 4U, 16) + digits(byte & 0xFU, 16);
  }
  return out;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
  return text;
}

// As Go's %q.
std::string go_quoted(std::string_view text) {
  constexpr std::string_view kPlain = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kEscaped = "abfnrtv\\\"";
  std::string out = "\"";
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text.substr(at));
    const char c = text[at];
    const std::size_t escape = kPlain.find(c);
    if (!point.valid || (point.value < 0x20 && escape == std::string_view::npos) || c == 0x7F) {
      out += "\\x" + hex_bytes(text.substr(at, 1));
    } else if (escape != std::string_view::npos) {
      out += '\\';
      out += kEscaped[escape];
    } else {
      out += text.substr(at, point.size);
    }
    at += point.size;
  }
  return out + "\"";
}

// Shows one argument; the error, if any, is kept.
class Shower {
 public:
  explicit Shower(Frame& frame) : frame_(frame) {}

  std::string error;

  std::string show(const FormatClause& clause, const Value& value) {
    switch (clause.letter) {
      case 's':
        return string(value);
      case 'f':
      case 'e':
        return real(clause, value);
      default:
        return whole(clause.letter, value);
    }
  }

 private:
  std::string wrong(char letter, const Value& value) {
    if (error.empty()) error = format_type_error(letter, type_name(value));
    return "";
  }

  std::string string(const Value& value) {
    switch (value.kind()) {
      case Kind::kNull:
        return "null";
      case Kind::kList:
        return list(value);
      case Kind::kMap:
        return map(value);
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kUint:
      case Kind::kDouble:
      case Kind::kString:
      case Kind::kDuration:
      case Kind::kTimestamp:
      case Kind::kType:
        return text_of(value);
      case Kind::kBytes:
        if (is_utf8(value.as_text())) return text_of(value);
        if (error.empty()) error = "could not convert argument to string";
        return "";
      default:
        return wrong('s', value);
    }
  }

  // As an element of a list or map.
  std::string nested(const Value& value) {
    if (!frame_.spend(4)) return "";
    switch (value.kind()) {
      case Kind::kString:
        if (!frame_.spend(value.extent())) return "";
        return go_quoted(value.as_text());
      case Kind::kBytes:
        return "b" + go_quoted(string(value));
      case Kind::kDouble: {
        const double real = value.as_double();
        if (std::isnan(real)) return "\"NaN\"";
        if (std::isinf(real)) return real > 0 ? "\"+Inf\"" : "\"-Inf\"";
        return fixed(real, kDefaultPrecision);
      }
      case Kind::kTimestamp:
        return "timestamp(" + go_quoted(text_of(value)) + ")";
      case Kind::kDuration:
        return "duration(" + go_quoted(text_of(value)) + ")";
      case Kind::kType:
        return "type(" + text_of(value) + ")";
      case Kind::kNull:
      case Kind::kBool:
      case Kind::kInt:
      case Kind::kUint:
      case Kind::kList:
      case Kind::kMap:
        return string(value);
      default:
        if (error.empty()) error = "no formatting function for " + std::string(type_name(value));
        return "";
    }
  }

  std::string list(const Value& value) {
    std::string out = "[";
    for (std::int64_t i = 0; i < list_size(value) && frame_.has_room(out.size()); ++i) {
      if (i > 0) out += ", ";
      out += nested(list_item(value, i));
    }
    return out + "]";
  }

  std::string map(const Value& value) {
    const MapObject& entries = value.as<MapObject>();
    std::vector<std::pair<std::string, std::string>> shown;
    for (std::int64_t i = 0; i < entries.size && !frame_.is_cancelled; ++i) {
      const Value& key = entries.entries[i].key;
      const bool is_key =
          key.is(Kind::kString) || key.is(Kind::kBool) || key.is(Kind::kInt) || key.is(Kind::kUint);
      if (!is_key && error.empty()) {
        error = "no formatting function for map key of type " + std::string(type_name(key));
      }
      shown.emplace_back(nested(key), nested(entries.entries[i].value));
    }
    std::ranges::stable_sort(shown, {}, &std::pair<std::string, std::string>::first);
    std::string out = "{";
    for (const auto& [key, text] : shown) out += (out.size() > 1 ? ", " : "") + key + ":" + text;
    return out + "}";
  }

  std::string real(const FormatClause& clause, const Value& value) {
    std::optional<double> number;
    if (value.is(Kind::kDouble)) number = value.as_double();
    if (value.is(Kind::kString)) {
      for (const std::string_view name : {"NaN", "Infinity", "-Infinity"}) {
        if (value.as_text() == name) number = parse_double(name);
      }
    }
    if (!number) return wrong(clause.letter, value);
    const int precision = clause.precision.value_or(kDefaultPrecision);
    const bool has_room = frame_.has_room(static_cast<std::uint64_t>(precision));
    if (!has_room || !frame_.spend(80 + static_cast<std::uint64_t>(precision) / 4)) return "";
    if (*number == 0) number = 0;  // upstream shows no sign
    if (clause.letter == 'f') return grouped(*number, precision);
    // Upstream takes the precision of %e for a width.
    return padded(scientific(*number), static_cast<std::uint64_t>(precision));
  }

  std::string whole(char letter, const Value& value) {
    const int base = letter == 'd' ? 10 : letter == 'b' ? 2 : letter == 'o' ? 8 : 16;
    std::string out;
    if (value.is(Kind::kInt)) {
      out = digits(value.as_int(), base);
    } else if (value.is(Kind::kUint)) {
      out = digits(value.as_uint(), base);
    } else if (value.is(Kind::kBool) && letter == 'b') {
      out = value.as_bool() ? "1" : "0";
    } else if ((value.is(Kind::kString) || value.is(Kind::kBytes)) && base == 16) {
      out = hex_bytes(value.as_text());
    } else {
      return wrong(letter, value);
    }
    return letter == 'X' ? upper(out) : out;
  }

  Frame& frame_;
};

// The clause behind a percent sign at the front of `rest`, or an error text.
std::string take_clause(std::string_view& rest, FormatClause& clause) {
  const auto failed = [](std::string why) { return "could not parse formatting clause: " + why; };
  if (rest.starts_with('.')) {
    const std::size_t end = rest.find_first_not_of("0123456789", 1);
    if (end == std::string_view::npos) {
      return failed("error while parsing precision: could not find end of precision specifier");
    }
    int precision = 0;
    const auto [stop, failure] = std::from_chars(rest.data() + 1, rest.data() + end, precision);
    if (end == 1 || failure != std::errc() || precision > kPrecisionMax) {
      return failed("error while parsing precision: error while converting precision to integer");
    }
    clause.precision = precision;
    rest.remove_prefix(end);
  }
  constexpr std::string_view kLetters = "sdfebxXo";
  clause.letter = rest[0];
  if (kLetters.find(clause.letter) == std::string_view::npos) {
    return failed("unrecognized formatting clause \"" + std::string(1, clause.letter) + "\"");
  }
  rest.remove_prefix(1);
  return "";
}

}  // namespace

std::string format_type_error(char letter, std::string_view type) {
  std::string text;
  switch (letter) {
    case 's':
      text =
          "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
          "types, durations, and timestamps";
      break;
    case 'd':
      text = "decimal clause can only be used on integers";
      break;
    case 'f':
      text = "fixed-point clause can only be used on doubles";
      break;
    case 'e':
      text = "scientific clause can only be used on doubles";
      break;
    case 'b':
      text = "only integers and bools can be formatted as binary";
      break;
    case 'o':
      text = "octal clause can only be used on integers";
      break;
    default:
      text = "only integers, byte buffers, and strings can be formatted as hex";
      break;
  }
  return text + ", was given " + std::string(type);
}

std::string read_format(std::string_view format, std::string& text, const ClauseSink& clause) {
  while (!format.empty()) {
    if (format[0] != '%' || format.starts_with("%%")) {
      text += format[0];
      format.remove_prefix(format[0] == '%' ? 2 : 1);
      continue;
    }
    format.remove_prefix(1);
    FormatClause read;
    // An argument must be there before anything else is complained about.
    if (format.empty()) {
      read.letter = '\0';
    } else if (std::string error = take_clause(format, read); !error.empty()) {
      read.letter = '\0';
      const std::string missing = clause(read);
      return missing.empty() ? error : missing;
    }
    if (std::string error = clause(read); !error.empty()) return error;
    if (read.letter == '\0') return "unexpected end of string";
  }
  return "";
}

Value format_text(Frame& frame, std::string_view format, const Value& args) {
  std::string out;
  std::int64_t next = 0;
  Shower shower(frame);
  const std::string error =
      read_format(format, out, [&](const FormatClause& clause) -> std::string {
        if (next >= list_size(args)) return "index " + std::to_string(next) + " out of range";
        if (clause.letter == '\0') return "";
        const std::size_t before = out.size();
        out += shower.show(clause, list_item(args, next));
        ++next;
        const bool fits = frame.has_room(out.size()) && frame.spend(4 + (out.size() - before) / 4);
        if (!fits) return "too large";
        return shower.error.empty() ? "" : "error during formatting: " + shower.error;
      });
  if (frame.is_cancelled) return Frame::cancelled();
  return error.empty() ? frame.string(out) : frame.fail(error);
}

}  // namespace gang::cel
