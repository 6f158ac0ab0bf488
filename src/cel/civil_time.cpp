#include "cel/civil_time.h"

#include <array>
#include <limits>

namespace gang::cel {
namespace {

constexpr std::int64_t kDay = 86400;

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

bool is_leap(std::int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Days from 1970-01-01; the year is counted from March so that the leap day is its last.
std::int64_t days_from_epoch(std::int64_t year, int month, int day) {
  const std::int64_t shifted = month <= 2 ? year - 1 : year;
  const std::int64_t era = floor_div(shifted, 400);
  const std::int64_t of_era = shifted - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// Takes exactly `count` digits.
bool take_number(std::string_view& text, std::size_t count, int& number) {
  if (text.size() < count) return false;
  number = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return true;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// ".5" or ",5": nanoseconds; more digits than nine are cut.
bool take_fraction(std::string_view& text, std::uint32_t& nanoseconds) {
  if (text.empty() || (text[0] != '.' && text[0] != ',')) return true;
  if (text.size() < 2 || text[1] < '0' || text[1] > '9') return false;
  text.remove_prefix(1);
  std::uint32_t unit = 100'000'000;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    nanoseconds += unit * static_cast<std::uint32_t>(text[0] - '0');
    unit /= 10;
    text.remove_prefix(1);
  }
  return true;
}

// "Z" or "+02:00": minutes east.
bool take_zone(std::string_view& text, int& zone) {
  zone = 0;
  if (take(text, 'Z')) return true;
  const bool west = text.starts_with('-');
  int hours = 0;
  int minutes = 0;
  if (!west && !text.starts_with('+')) return false;
  text.remove_prefix(1);
  if (!take_number(text, 2, hours) || !take(text, ':') || !take_number(text, 2, minutes))
    return false;
  if (hours > 24 || minutes > 60) return false;
  zone = (hours * 60 + minutes) * (west ? -1 : 1);
  return true;
}

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1000},
                                         {"\xC2\xB5s", 1000},  // micro sign
                                         {"\xCE\xBCs", 1000},  // Greek mu
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};
constexpr std::uint64_t kDurationLimit = std::uint64_t{1} << 63U;

// Digits in front of a point; empty on overflow.
std::optional<std::uint64_t> take_whole(std::string_view& text) {
  std::uint64_t value = 0;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    if (value > kDurationLimit / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(text[0] - '0');
    if (value > kDurationLimit) return std::nullopt;
    text.remove_prefix(1);
  }
  return value;
}

// Digits behind the point, as many as fit, with their scale.
void take_decimals(std::string_view& text, std::uint64_t& digits, double& scale) {
  bool full = false;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    if (full) continue;
    const std::uint64_t next = digits * 10 + static_cast<std::uint64_t>(text[0] - '0');
    if (digits > (kDurationLimit - 1) / 10 || next > kDurationLimit) {
      full = true;
      continue;
    }
    digits = next;
    scale *= 10;
  }
}

// One "1.5h" of a duration; empty where it is none or too long.
std::optional<std::uint64_t> take_part(std::string_view& text) {
  const std::size_t before = text.size();
  std::optional<std::uint64_t> whole = take_whole(text);
  if (!whole) return std::nullopt;
  bool has_digits = text.size() != before;
  std::uint64_t decimals = 0;
  double scale = 1;
  if (take(text, '.')) {
    const std::size_t from = text.size();
    take_decimals(text, decimals, scale);
    has_digits = has_digits || text.size() != from;
  }
  if (!has_digits) return std::nullopt;
  const std::size_t end = std::min(text.find_first_of(".0123456789"), text.size());
  const std::string_view name = text.substr(0, end);
  text.remove_prefix(end);
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    if (*whole > kDurationLimit / unit.nanoseconds) return std::nullopt;
    std::uint64_t value = *whole * unit.nanoseconds;
    if (decimals > 0) {
      value += static_cast<std::uint64_t>(static_cast<double>(decimals) *
                                          (static_cast<double>(unit.nanoseconds) / scale));
    }
    if (value > kDurationLimit) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

}  // namespace

CivilTime civil_time(std::int64_t unix_seconds) {
  const std::int64_t days = floor_div(unix_seconds, kDay);
  const std::int64_t rest = unix_seconds - days * kDay;
  const std::int64_t shifted = days + 719468;
  const std::int64_t era = floor_div(shifted, 146097);
  const std::int64_t of_era = shifted - era * 146097;
  const std::int64_t year_of_era =
      (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * of_year + 2) / 153;
  CivilTime at;
  at.day = static_cast<int>(of_year - (153 * month_from_march + 2) / 5 + 1);
  at.month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  at.year = year_of_era + era * 400 + (at.month <= 2 ? 1 : 0);
  at.hour = static_cast<int>(rest / 3600);
  at.minute = static_cast<int>(rest / 60 % 60);
  at.second = static_cast<int>(rest % 60);
  at.day_of_week = static_cast<int>(((days + 4) % 7 + 7) % 7);
  at.day_of_year = static_cast<int>(days - days_from_epoch(at.year, 1, 1));
  return at;
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::optional<std::uint64_t> part = take_part(text);
    if (!part) return std::nullopt;
    total += *part;
    if (total > kDurationLimit) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(0 - total);
  if (total > kDurationLimit - 1) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::optional<Value> parse_timestamp(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int zone = 0;
  std::uint32_t nanoseconds = 0;
  const bool shaped = take_number(text, 4, year) && take(text, '-') &&
                      take_number(text, 2, month) && take(text, '-') && take_number(text, 2, day) &&
                      take(text, 'T');
  // Go accepts hours of one digit, too.
  const bool timed = shaped && (take_number(text, 2, hour) || take_number(text, 1, hour)) &&
                     take(text, ':') && take_number(text, 2, minute) && take(text, ':') &&
                     take_number(text, 2, second) && take_fraction(text, nanoseconds) &&
                     take_zone(text, zone) && text.empty();
  if (!timed || month < 1 || month > 12 || day < 1 || day > days_in(year, month))
    return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t seconds =
      days_from_epoch(year, month, day) * kDay + hour * 3600 + minute * 60 + second - zone * 60;
  if (seconds < kUnixSecondsMin || seconds > kUnixSecondsMax) {
    return Value::error("timestamp overflow");
  }
  return Value::timestamp(seconds, nanoseconds, static_cast<std::int16_t>(zone));
}

}  // namespace gang::cel
