#include "cel/text_of.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "cel/civil_time.h"
#include "cel/type_names.h"

namespace gang::cel {
namespace {

std::string chars(double value, std::chars_format format) {
  std::string text(400, '\0');
  const auto [end, failure] = std::to_chars(text.data(), text.data() + text.size(), value, format);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

std::string padded(std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

std::string fraction(std::uint32_t nanoseconds) {
  if (nanoseconds == 0) return "";
  std::string digits = padded(nanoseconds, 9);
  digits.erase(digits.find_last_not_of('0') + 1);
  return "." + digits;
}

}  // namespace

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (value == 0) return std::signbit(value) ? "-0" : "0";
  // Shortest digits; an exponent below 1e-4 and from 1e6 on.
  const std::string scientific = chars(value, std::chars_format::scientific);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  return exponent < -4 || exponent >= 6 ? scientific : chars(value, std::chars_format::fixed);
}

std::string duration_text(std::int64_t nanoseconds) {
  // As Go: whole seconds and the rest are added as doubles.
  const double seconds = static_cast<double>(nanoseconds / 1'000'000'000) +
                         static_cast<double>(nanoseconds % 1'000'000'000) / 1e9;
  if (seconds == 0) return "0s";
  return chars(seconds, std::chars_format::fixed) + "s";
}

std::string timestamp_text(const Value& timestamp) {
  const CivilTime at = civil_time(timestamp.as_int() + timestamp.zone() * 60);
  std::string text = padded(at.year, 4) + "-" + padded(at.month, 2) + "-" + padded(at.day, 2) +
                     "T" + padded(at.hour, 2) + ":" + padded(at.minute, 2) + ":" +
                     padded(at.second, 2) + fraction(timestamp.extent());
  const int zone = timestamp.zone();
  if (zone == 0) return text + "Z";
  const int minutes = std::abs(zone);
  return text + (zone < 0 ? "-" : "+") + padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2);
}

std::string semver_text(const SemverObject& version) {
  std::string text = std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
                     std::to_string(version.patch);
  if (!version.prerelease.empty()) text += "-" + std::string(version.prerelease);
  if (!version.build.empty()) text += "+" + std::string(version.build);
  return text;
}

std::string text_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kString:
    case Kind::kBytes:
    case Kind::kType:
    case Kind::kError:
      return std::string(value.as_text());
    case Kind::kBool:
      return value.as_bool() ? "true" : "false";
    case Kind::kInt:
      return std::to_string(value.as_int());
    case Kind::kUint:
      return std::to_string(value.as_uint());
    case Kind::kDouble:
      return double_text(value.as_double());
    case Kind::kDuration:
      return duration_text(value.as_int());
    case Kind::kTimestamp:
      return timestamp_text(value);
    case Kind::kSemver:
      return semver_text(value.as<SemverObject>());
    default:
      return std::string(type_name(value));
  }
}

}  // namespace gang::cel
