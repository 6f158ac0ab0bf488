#include "gang/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <atomic>
#include <memory>

#include "base/log_line.h"

namespace gang::log {
namespace {

constexpr const char* kTextPattern = "%Y-%m-%dT%H:%M:%S.%eZ %v";
constexpr const char* kJsonPattern = R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";

std::atomic<Format> record_format{Format::kText};

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarn:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

/// The one logger: synchronous, to stderr. Never destroyed, so that threads may log until the end.
spdlog::logger& logger() {
  static auto* const instance = [] {
    auto* made = new spdlog::logger("gang", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(kTextPattern, spdlog::pattern_time_type::utc);
    made->set_level(spdlog::level::info);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

}  // namespace

void configure(Level level, Format format) {
  record_format = format;
  logger().set_pattern(format == Format::kJson ? kJsonPattern : kTextPattern,
                       spdlog::pattern_time_type::utc);
  logger().set_level(to_spdlog(level));
}

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  const spdlog::level::level_enum wanted = to_spdlog(level);
  if (level == Level::kOff || !logger().should_log(wanted)) return;
  const std::string line = record_format == Format::kJson ? json_members(level, message, fields)
                                                          : text_line(level, message, fields);
  logger().log(wanted, spdlog::string_view_t(line));
}

}  // namespace gang::log
