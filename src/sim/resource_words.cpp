#include "sim/resource_words.h"

namespace gang::sim {

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
  return quantity;
}

}  // namespace gang::sim
