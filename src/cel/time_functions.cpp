// Getters of timestamps and durations. Zones are UTC or offsets: names of places need files.
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>

#include "cel/civil_time.h"
#include "cel/functions.h"

namespace gang::cel {
namespace {

using Args = std::span<const Value>;
using Getter = std::int64_t (*)(const CivilTime&, std::uint32_t nanoseconds);

std::optional<int> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "+02:30", "-08:00", "UTC", "": seconds east of UTC.
std::optional<std::int64_t> zone_offset(std::string_view zone) {
  if (zone.empty() || zone == "UTC") return 0;
  const std::size_t colon = zone.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<int> hours = number(zone.substr(0, colon));
  const std::optional<int> minutes = number(zone.substr(colon + 1));
  if (!hours || !minutes || *minutes < 0 || *minutes > 59) return std::nullopt;
  if (*hours < -100000 || *hours > 100000) return std::nullopt;
  return (*hours * 60 + (zone[0] == '-' ? -*minutes : *minutes)) * 60;
}

template <Getter kGetter>
Value get(Frame& frame, Args args) {
  std::int64_t offset = 0;
  if (args.size() > 1) {
    const std::optional<std::int64_t> zone = zone_offset(args[1].as_text());
    if (!zone) return frame.fail("unknown time zone " + std::string(args[1].as_text()));
    offset = *zone;
  }
  return Value::integer(kGetter(civil_time(args[0].as_int() + offset), args[0].extent()));
}

std::int64_t year(const CivilTime& t, std::uint32_t) {
  return t.year;
}
std::int64_t month(const CivilTime& t, std::uint32_t) {
  return t.month - 1;
}
std::int64_t day_of_year(const CivilTime& t, std::uint32_t) {
  return t.day_of_year;
}
std::int64_t day_of_month(const CivilTime& t, std::uint32_t) {
  return t.day - 1;
}
std::int64_t date(const CivilTime& t, std::uint32_t) {
  return t.day;
}
std::int64_t day_of_week(const CivilTime& t, std::uint32_t) {
  return t.day_of_week;
}
std::int64_t hours(const CivilTime& t, std::uint32_t) {
  return t.hour;
}
std::int64_t minutes(const CivilTime& t, std::uint32_t) {
  return t.minute;
}
std::int64_t seconds(const CivilTime& t, std::uint32_t) {
  return t.second;
}
std::int64_t milliseconds(const CivilTime&, std::uint32_t ns) {
  return ns / 1'000'000;
}

template <std::int64_t kUnit>
Value whole(Frame&, Args args) {
  return Value::integer(args[0].as_int() / kUnit);
}

constexpr std::array kBuiltins = std::to_array<NamedBuiltin>({
    {"timestamp_to_year", get<year>},
    {"timestamp_to_year_with_tz", get<year>},
    {"timestamp_to_month", get<month>},
    {"timestamp_to_month_with_tz", get<month>},
    {"timestamp_to_day_of_year", get<day_of_year>},
    {"timestamp_to_day_of_year_with_tz", get<day_of_year>},
    {"timestamp_to_day_of_month", get<day_of_month>},
    {"timestamp_to_day_of_month_with_tz", get<day_of_month>},
    {"timestamp_to_day_of_month_1_based", get<date>},
    {"timestamp_to_day_of_month_1_based_with_tz", get<date>},
    {"timestamp_to_day_of_week", get<day_of_week>},
    {"timestamp_to_day_of_week_with_tz", get<day_of_week>},
    {"timestamp_to_hours", get<hours>},
    {"timestamp_to_hours_with_tz", get<hours>},
    {"timestamp_to_minutes", get<minutes>},
    {"timestamp_to_minutes_with_tz", get<minutes>},
    {"timestamp_to_seconds", get<seconds>},
    {"timestamp_to_seconds_tz", get<seconds>},
    {"timestamp_to_milliseconds", get<milliseconds>},
    {"timestamp_to_milliseconds_with_tz", get<milliseconds>},
    {"duration_to_hours", whole<3'600'000'000'000>},
    {"duration_to_minutes", whole<60'000'000'000>},
    {"duration_to_seconds", whole<1'000'000'000>},
    {"duration_to_milliseconds", whole<1'000'000>},
});

}  // namespace

std::span<const NamedBuiltin> time_builtins() {
  return kBuiltins;
}

}  // namespace gang::cel
