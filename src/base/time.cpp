#include "gang/base/time.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <optional>

namespace gang {
namespace {

constexpr std::int64_t kNanosPerSecond = 1'000'000'000;
// Years whose every instant fits into 64-bit nanoseconds.
constexpr int kYearMin = 1678;
constexpr int kYearMax = 2261;

/// A civil time of day in UTC, split for printing.
struct Civil {
  std::chrono::year_month_day date;
  std::int64_t second_of_day = 0;
  std::int64_t nanos = 0;
};

Civil split(TimePoint time) {
  const auto days = std::chrono::floor<std::chrono::days>(time.time_since_epoch());
  const std::int64_t rest = (time.time_since_epoch() - Duration(days)).count();
  return {std::chrono::year_month_day(std::chrono::sys_days(days)), rest / kNanosPerSecond,
          rest % kNanosPerSecond};
}

std::string format_seconds(const Civil& civil) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(civil.date.year()),
                     static_cast<unsigned>(civil.date.month()),
                     static_cast<unsigned>(civil.date.day()), civil.second_of_day / 3600,
                     civil.second_of_day / 60 % 60, civil.second_of_day % 60);
}

/// Reads a text from left to right; every step says whether it succeeded.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }

  bool literal(char wanted) {
    if (peek() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// Exactly `digits` decimal digits.
  std::optional<int> number(std::size_t digits) {
    if (rest_.size() < digits) return std::nullopt;
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (rest_[i] < '0' || rest_[i] > '9') return std::nullopt;
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(digits);
    return value;
  }

  /// One to nine digits after a decimal point, as nanoseconds.
  std::optional<std::int64_t> fraction() {
    std::int64_t nanos = 0;
    std::int64_t unit = kNanosPerSecond / 10;
    std::size_t digits = 0;
    for (; peek() >= '0' && peek() <= '9'; ++digits, unit /= 10) {
      nanos += unit * (peek() - '0');
      rest_.remove_prefix(1);
    }
    if (digits == 0 || digits > 9) return std::nullopt;
    return nanos;
  }

 private:
  std::string_view rest_;
};

/// Seconds since 1970 of "YYYY-MM-DDTHH:MM:SS".
std::optional<std::int64_t> scan_seconds(Scanner& scan) {
  const auto year = scan.number(4);
  if (!year || !scan.literal('-')) return std::nullopt;
  const auto month = scan.number(2);
  if (!month || !scan.literal('-')) return std::nullopt;
  const auto day = scan.number(2);
  if (!day || !scan.literal('T')) return std::nullopt;
  const auto hour = scan.number(2);
  if (!hour || !scan.literal(':')) return std::nullopt;
  const auto minute = scan.number(2);
  if (!minute || !scan.literal(':')) return std::nullopt;
  const auto second = scan.number(2);
  if (!second) return std::nullopt;

  const std::chrono::year_month_day date(std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *year < kYearMin || *year > kYearMax) return std::nullopt;
  if (*hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86'400 + *hour * 3'600 + *minute * 60 + *second;
}

/// Offset from UTC in seconds: "Z", "+01:00", "-07:30".
std::optional<std::int64_t> scan_offset(Scanner& scan) {
  if (scan.literal('Z')) return 0;
  const int sign = scan.peek() == '-' ? -1 : 1;
  if (!scan.literal('+') && !scan.literal('-')) return std::nullopt;
  const auto hour = scan.number(2);
  if (!hour || !scan.literal(':')) return std::nullopt;
  const auto minute = scan.number(2);
  if (!minute || *hour > 23 || *minute > 59) return std::nullopt;
  return sign * (*hour * 3'600 + *minute * 60);
}

std::optional<TimePoint> scan_rfc3339(std::string_view text) {
  Scanner scan(text);
  const auto seconds = scan_seconds(scan);
  if (!seconds) return std::nullopt;
  std::int64_t nanos = 0;
  if (scan.literal('.')) {
    const auto fraction = scan.fraction();
    if (!fraction) return std::nullopt;
    nanos = *fraction;
  }
  const auto offset = scan_offset(scan);
  if (!offset || !scan.done()) return std::nullopt;
  // The year limits leave more room than any offset can take.
  return TimePoint(Duration((*seconds - *offset) * kNanosPerSecond + nanos));
}

/// A unit of durations; the list is from large to small.
struct Unit {
  std::string_view name;
  std::int64_t nanos;
};
constexpr std::array<Unit, 6> kUnits = {{{"h", 3'600 * kNanosPerSecond},
                                         {"m", 60 * kNanosPerSecond},
                                         {"s", kNanosPerSecond},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1}}};

std::optional<std::int64_t> unit_nanos(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.nanos;
  }
  return std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<Duration> scan_duration(std::string_view text) {
  std::int64_t total = 0;
  std::int64_t unit_before = std::numeric_limits<std::int64_t>::max();
  std::size_t at = 0;
  while (at < text.size()) {
    std::int64_t count = 0;
    const std::size_t digits_begin = at;
    for (; at < text.size() && is_digit(text[at]); ++at) {
      if (__builtin_mul_overflow(count, 10, &count)) return std::nullopt;
      if (__builtin_add_overflow(count, text[at] - '0', &count)) return std::nullopt;
    }
    const bool has_leading_zero = at > digits_begin + 1 && text[digits_begin] == '0';
    if (at == digits_begin || has_leading_zero) return std::nullopt;
    const std::size_t unit_begin = at;
    while (at < text.size() && !is_digit(text[at])) ++at;
    const auto nanos = unit_nanos(text.substr(unit_begin, at - unit_begin));
    if (!nanos || *nanos >= unit_before) return std::nullopt;
    unit_before = *nanos;
    if (__builtin_mul_overflow(count, *nanos, &count)) return std::nullopt;
    if (__builtin_add_overflow(total, count, &total)) return std::nullopt;
  }
  if (text.empty()) return std::nullopt;
  return Duration(total);
}

}  // namespace

std::string format_rfc3339(TimePoint time) {
  return format_seconds(split(time)) + "Z";
}

std::string format_rfc3339_micro(TimePoint time) {
  const Civil civil = split(time);
  return fmt::format("{}.{:06}Z", format_seconds(civil), civil.nanos / 1'000);
}

Result<TimePoint> parse_rfc3339(std::string_view text) {
  if (const auto time = scan_rfc3339(text)) return *time;
  return fail(Code::kInvalidArgument,
              fmt::format("\"{}\" is not a time; write RFC 3339 like 2026-11-30T01:02:03Z", text));
}

Result<Duration> parse_duration(std::string_view text) {
  if (const auto duration = scan_duration(text)) return *duration;
  return fail(Code::kInvalidArgument,
              fmt::format("\"{}\" is not a duration; write whole numbers with the units h, m, s, "
                          "ms, us or ns like 1h30m or 250ms",
                          text));
}

std::string format_duration(Duration duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string text;
  if (rest < 0) text = "-";
  for (const Unit& unit : kUnits) {
    const std::int64_t count = rest / unit.nanos;
    rest %= unit.nanos;
    if (count != 0) text += fmt::format("{}{}", count < 0 ? -count : count, unit.name);
  }
  return text;
}

}  // namespace gang
