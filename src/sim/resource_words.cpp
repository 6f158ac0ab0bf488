#include "sim/resource_words.h"

#include "gang/api/resources.h"

namespace gang::sim {

namespace {

constexpr std::int64_t kNanoPerUnit = 1'000'000'000;

}  // namespace

std::optional<std::string> resource_name(std::string_view key) {
  constexpr std::string_view kAny = "res.";
  if (key == "gpu") return std::string(kGpuResource);
  if (key == "cpu" || key == "memory" || key == "ephemeral-storage" || key == "pods") {
    return std::string(key);
  }
  if (key.starts_with("hugepages-")) return std::string(key);
  if (key.starts_with(kAny)) return std::string(key.substr(kAny.size()));
  return std::nullopt;
}

Result<api::Quantity> parse_amount(const std::string& key, const std::string& value) {
  Result<api::Quantity> quantity = api::Quantity::parse(value);
  if (!quantity) return in_context(key + "=" + value, std::move(quantity).error());
  if (quantity->is_negative()) {
    return fail(Code::kInvalidArgument, key + "=" + value + " is below 0; write 0 or more");
  }
  const bool is_counted = key == "pods" || api::is_extended(resource_name(key).value_or(""));
  if (is_counted && quantity->nano() % kNanoPerUnit != 0) {
    return fail(Code::kInvalidArgument,
                key + "=" + value + " divides what is counted; write a whole number");
  }
  return quantity;
}

}  // namespace gang::sim
