#include "cel/semver.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <vector>

namespace gang::cel {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_numeric(std::string_view text) {
  return std::ranges::all_of(text, is_digit);
}
bool is_identifier(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

/// `name`: in upstream's words, which begins a sentence with it.
bool read_number(std::string_view text, std::string name, std::uint64_t& number, std::string& why) {
  if (!is_numeric(text)) {
    why = "Invalid character(s) found in " + name + " number \"" + std::string(text) + "\"";
    return false;
  }
  if (text.size() > 1 && text[0] == '0') {
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    why = name + " number must not contain leading zeroes \"" + std::string(text) + "\"";
    return false;
  }
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc() && end == text.data() + text.size()) return true;
  why = "strconv.ParseUint: parsing \"" + std::string(text) +
        "\": " + (text.empty() ? "invalid syntax" : "value out of range");
  return false;
}

std::vector<std::string_view> split(std::string_view text, char at, std::size_t limit) {
  std::vector<std::string_view> parts;
  while (parts.size() + 1 < limit) {
    const std::size_t found = text.find(at);
    if (found == std::string_view::npos) break;
    parts.push_back(text.substr(0, found));
    text.remove_prefix(found + 1);
  }
  parts.push_back(text);
  return parts;
}

bool is_prerelease(std::string_view text, std::string& why) {
  for (const std::string_view part : split(text, '.', SIZE_MAX)) {
    why = "Invalid prerelease \"" + std::string(part) + "\"";
    std::uint64_t number = 0;
    if (part.empty() || !is_identifier(part)) return false;
    if (!is_numeric(part)) continue;
    if (part.size() > 1 && part[0] == '0') {
      why = "Numeric PreRelease version must not contain leading zeroes \"" + std::string(part) +
            "\"";
      return false;
    }
    if (!read_number(part, "prerelease", number, why)) return false;
  }
  return true;
}

bool is_build(std::string_view text, std::string& why) {
  why = "Invalid build meta data \"" + std::string(text) + "\"";
  return std::ranges::all_of(split(text, '.', SIZE_MAX), [](std::string_view part) {
    return !part.empty() && is_identifier(part);
  });
}

}  // namespace

std::optional<SemverObject> parse_semver(std::string_view text, Arena& arena, std::string& why) {
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) {
    why = text.empty() ? "Version string empty" : "No Major.Minor.Patch elements found";
    return std::nullopt;
  }
  SemverObject version;
  std::string_view patch = text.substr(second + 1);
  const std::size_t plus = patch.find('+');
  const bool has_build = plus != std::string_view::npos;
  const std::string_view build = has_build ? patch.substr(plus + 1) : "";
  patch = patch.substr(0, plus);
  const std::size_t minus = patch.find('-');
  const bool has_prerelease = minus != std::string_view::npos;
  const std::string_view prerelease = has_prerelease ? patch.substr(minus + 1) : "";
  patch = patch.substr(0, minus);
  if (!read_number(text.substr(0, first), "major", version.major, why)) return std::nullopt;
  const std::string_view minor = text.substr(first + 1, second - first - 1);
  if (!read_number(minor, "minor", version.minor, why)) return std::nullopt;
  if (!read_number(patch, "patch", version.patch, why)) return std::nullopt;
  if (has_prerelease && !is_prerelease(prerelease, why)) return std::nullopt;
  if (has_build && !is_build(build, why)) return std::nullopt;
  version.prerelease = arena.copy(prerelease);
  version.build = arena.copy(build);
  return version;
}

std::optional<std::string> normalized_semver(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (std::string_view part : split(text, '.', 3)) {
    std::string kept(part);
    if (part.size() > 1) {
      part.remove_prefix(std::min(part.find_first_not_of('0'), part.size()));
      kept = std::string(part);
      if (part.empty() || !is_digit(part[0])) kept = "0" + kept;
    }
    parts.push_back(std::move(kept));
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos)
    return std::nullopt;
  while (parts.size() < 3) parts.emplace_back("0");
  return parts[0] + "." + parts[1] + "." + parts[2];
}

}  // namespace gang::cel
