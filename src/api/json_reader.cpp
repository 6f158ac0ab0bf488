#include "api/json_reader.h"

#include <charconv>
#include <system_error>

#include "gang/base/utf8.h"

namespace gang::api {
namespace {

constexpr std::size_t kQuotedBytesMax = 64;

/// The value as it is shown in a message.
std::string quoted(JsonView value) {
  if (value.is(JsonType::kString)) {
    return "\"" + std::string(cut_text(value.text(), kQuotedBytesMax)) + "\"";
  }
  if (value.is(JsonType::kNumber)) return std::string(cut_text(value.text(), kQuotedBytesMax));
  if (value.is(JsonType::kTrue)) return "true";
  if (value.is(JsonType::kFalse)) return "false";
  return value.is(JsonType::kArray) ? "a list" : "an object";
}

/// A text read as a whole number.
template <class Int>
struct ParsedWhole {
  bool is_whole = false;  ///< digits, with a minus or without
  bool fits = false;
  Int number = 0;
};

template <class Int>
ParsedWhole<Int> parse_whole(std::string_view text) {
  ParsedWhole<Int> parsed;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed.number);
  parsed.is_whole = error != std::errc::invalid_argument && end == text.data() + text.size();
  parsed.fits = parsed.is_whole && error == std::errc();
  return parsed;
}

}  // namespace

void JsonReader::refuse(JsonView field, std::string_view why) {
  if (problem_.empty()) problem_ = field.path() + ": " + std::string(why);
}

JsonView JsonReader::at(JsonView object, std::string_view key) {
  if (object.exists() && !object.is(JsonType::kObject)) {
    refuse(object, quoted(object) + " is not an object; write {...}");
  }
  return object[key];
}

JsonView JsonReader::first(JsonView list) {
  if (!list.exists()) return {};
  if (list.is(JsonType::kArray)) return list.first();
  refuse(list, quoted(list) + " is not a list; write [...]");
  return {};
}

std::string JsonReader::text(JsonView value) {
  if (!value.exists()) return {};
  if (value.is(JsonType::kString)) return std::string(value.text());
  refuse(value, quoted(value) + " is not a string; put it in quotes");
  return {};
}

bool JsonReader::flag(JsonView value) {
  if (!value.exists()) return false;
  if (value.is(JsonType::kTrue) || value.is(JsonType::kFalse)) return value.is(JsonType::kTrue);
  refuse(value, quoted(value) + " is not a boolean; write true or false");
  return false;
}

template <class Int>
Int JsonReader::whole_number(JsonView value, Int fallback) {
  if (!value.exists()) return fallback;
  const bool is_text = value.is(JsonType::kString);
  const bool is_number = value.is(JsonType::kNumber);
  const ParsedWhole<Int> parsed = parse_whole<Int>(is_text || is_number ? value.text() : "");
  if (is_number && parsed.fits) return parsed.number;
  const std::string form = "a whole number of " + std::to_string(8 * sizeof(Int)) + " bits";
  if (parsed.is_whole && is_text) {
    refuse(value, quoted(value) + " is text; remove the quotes");
  } else if (parsed.is_whole) {
    refuse(value, quoted(value) + " is out of range; write " + form);
  } else {
    refuse(value, quoted(value) + " is not " + form + "; write digits only");
  }
  return fallback;
}

std::int64_t JsonReader::int64(JsonView value, std::int64_t fallback) {
  return whole_number(value, fallback);
}

std::int32_t JsonReader::int32(JsonView value, std::int32_t fallback) {
  return whole_number(value, fallback);
}

std::optional<TimePoint> JsonReader::time(JsonView value) {
  if (!value.exists()) return std::nullopt;
  if (!value.is(JsonType::kString)) {
    refuse(value, quoted(value) + " is not a string; write a time like 2026-11-30T01:02:03Z");
    return std::nullopt;
  }
  const Result<TimePoint> parsed = parse_rfc3339(cut_text(value.text(), kQuotedBytesMax));
  if (parsed) return *parsed;
  refuse(value, parsed.error().message);
  return std::nullopt;
}

std::vector<std::string> JsonReader::texts(JsonView list) {
  std::vector<std::string> values;
  for (JsonView value = first(list); value.valid(); value = value.next()) {
    values.push_back(text(value));
  }
  return values;
}

std::optional<std::string> JsonReader::optional_text(JsonView object, std::string_view key) {
  const JsonView value = at(object, key);
  if (!value.exists()) return std::nullopt;
  return text(value);
}

StringMap JsonReader::string_map(JsonView object) {
  StringMap map;
  if (!object.exists()) return map;
  if (!object.is(JsonType::kObject)) {
    refuse(object, quoted(object) + " is not an object; write {...}");
    return map;
  }
  for (JsonView value = object.first(); value.valid(); value = value.next()) {
    map.emplace_back(value.key(), text(value));
  }
  sort_named(map);
  return map;
}

std::optional<Quantity> JsonReader::quantity(JsonView value, std::string& why) {
  if (!value.is(JsonType::kString) && !value.is(JsonType::kNumber)) {
    why = quoted(value) +
          " is not a quantity; write a number with an optional suffix like 500m or 2Gi";
    return std::nullopt;
  }
  const Result<Quantity> parsed = Quantity::parse(value.text());
  if (parsed) return *parsed;
  why = parsed.error().message;
  return std::nullopt;
}

ResourceList JsonReader::resources(JsonView object) {
  ResourceList list;
  if (!object.exists()) return list;
  if (!object.is(JsonType::kObject)) {
    refuse(object, quoted(object) + " is not an object; write {...}");
    return list;
  }
  for (JsonView value = object.first(); value.valid(); value = value.next()) {
    std::string why;
    if (!value.exists()) {
      list.set(value.key(), Quantity());
    } else if (const auto amount = quantity(value, why)) {
      list.set(value.key(), *amount);
    } else {
      refuse(value, why);
    }
  }
  return list;
}

}  // namespace gang::api
