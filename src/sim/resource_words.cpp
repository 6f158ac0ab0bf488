#include "sim/resource_words.h"

#include "gang/api/resources.h"
#include "sim/name_rules.h"

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

Result<api::Quantity> parse_amount(const std::string& option, const std::string& resource,
                                   const std::string& value) {
  GANG_TRY_VOID(check_key(option + "=", resource));
  Result<api::Quantity> quantity = api::Quantity::parse(value);
  const std::string where = option + "=" + value;
  if (!quantity) return in_context(where, std::move(quantity).error());
  GANG_TRY_VOID(check_amount(where, resource, *quantity));
  return quantity;
}

Result<void> check_amount(const std::string& where, const std::string& resource,
                          const api::Quantity& amount) {
  if (amount.is_negative()) {
    return fail(Code::kInvalidArgument, where + " is below 0; write 0 or more");
  }
  const bool is_counted = resource == "pods" || api::is_extended(resource);
  if (is_counted && amount.nano() % kNanoPerUnit != 0) {
    return fail(Code::kInvalidArgument, where + " divides what is counted; write a whole number");
  }
  return {};
}

std::string amount_text(std::string_view resource, std::int64_t count) {
  if (resource == "cpu") return api::Quantity::from_milli(count).text();
  const bool is_bytes =
      resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  const auto format = is_bytes ? api::QuantityFormat::kBinarySI : api::QuantityFormat::kDecimalSI;
  return api::Quantity::from_units(count, format).text();
}

}  // namespace gang::sim
