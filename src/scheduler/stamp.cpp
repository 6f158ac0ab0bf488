#include "scheduler/stamp.h"

#include <fmt/format.h>
#include <charconv>

namespace gang::scheduler {
namespace {

/// Takes "<key>=<value>" off the front of `text`, with the ";" behind it unless it is the last.
std::optional<std::string_view> take_field(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key) || text.size() <= key.size() || text[key.size()] != '=') {
    return std::nullopt;
  }
  text.remove_prefix(key.size() + 1);
  const std::size_t end = text.find(';');
  const std::string_view value = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (value.empty()) return std::nullopt;
  return value;
}

std::optional<std::int32_t> take_count(std::string_view& text, std::string_view key) {
  const auto field = take_field(text, key);
  if (!field) return std::nullopt;
  std::int32_t count = 0;
  const auto [end, error] = std::from_chars(field->data(), field->data() + field->size(), count);
  if (error != std::errc() || end != field->data() + field->size() || count < 0) {
    return std::nullopt;
  }
  return count;
}

}  // namespace

std::string Stamp::text() const {
  return fmt::format("round={};need={};minimum={};plan={}", round, need, minimum, plan);
}

std::optional<Stamp> parse_stamp(std::string_view text) {
  const auto round = take_field(text, "round");
  const auto need = take_count(text, "need");
  const auto minimum = take_count(text, "minimum");
  const auto plan = take_field(text, "plan");
  if (!round || !need || !minimum || !plan || !text.empty()) return std::nullopt;
  if (*minimum < 1 || *need > *minimum) return std::nullopt;
  return Stamp{std::string(*round), *need, *minimum, std::string(*plan)};
}

}  // namespace gang::scheduler
