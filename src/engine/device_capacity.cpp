#include "engine/device_capacity.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "gang/base/result.h"

namespace gang::engine {
namespace {

using api::CapacityRange;
using api::DeviceCapacity;
using api::Quantity;
using api::RequestPolicy;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr const char* kNotRepresentable =
    "capacity request cannot be represented in the device's range arithmetic";
constexpr const char* kNegative = "capacity value is negative";

/// The value in milli-units when that loses nothing.
std::optional<std::int64_t> exact_milli(const Quantity& quantity) {
  const std::int64_t milli = quantity.milli_value();
  if (Quantity::from_milli(milli) != quantity) return std::nullopt;
  return milli;
}

/// Whether the grid is counted in milli-units: all of it fits them and a step is at least 1m.
bool uses_milli(const CapacityRange& range, bool fractional) {
  if (!fractional) return false;
  for (const auto* end : {&range.min, &range.max, &range.step}) {
    if (*end && !exact_milli(**end)) return false;
  }
  return !range.step || *exact_milli(*range.step) >= 1;
}

/// The grid of a range in one unit.
struct Grid {
  std::int64_t min = 0;
  std::int64_t step = 0;
};

/// min + ceil((wanted - min) / step) * step, or nothing past the range of 64 bits.
std::optional<std::int64_t> round_up(std::int64_t wanted, const Grid& grid) {
  std::int64_t added = 0;
  if (grid.step <= 0 || __builtin_sub_overflow(wanted, grid.min, &added)) return std::nullopt;
  const std::int64_t steps = added / grid.step + (added % grid.step != 0 ? 1 : 0);
  std::int64_t rounded = 0;
  if (__builtin_mul_overflow(steps, grid.step, &rounded)) return std::nullopt;
  if (__builtin_add_overflow(rounded, grid.min, &rounded)) return std::nullopt;
  return rounded;
}

Quantity from_milli(std::int64_t milli, api::QuantityFormat format) {
  if (milli % 1000 == 0) return Quantity::from_units(milli / 1000, format);
  return Quantity::from_milli(milli);
}

/// REQUIRES: the range has a minimum.
Result<Quantity> round_to_range(const Quantity& wanted, const CapacityRange& range,
                                bool fractional) {
  if (wanted < *range.min) return *range.min;
  if (!range.step) return wanted;
  const api::QuantityFormat format = range.step->format();
  if (uses_milli(range, fractional)) {
    const std::optional<std::int64_t> milli = exact_milli(wanted);
    if (!milli) return fail(Code::kInvalidArgument, kNotRepresentable);
    const auto rounded = round_up(*milli, {range.min->milli_value(), range.step->milli_value()});
    if (!rounded) return fail(Code::kInvalidArgument, kNotRepresentable);
    return from_milli(*rounded, format);
  }
  if (wanted > Quantity::from_units(kMax)) return fail(Code::kInvalidArgument, kNotRepresentable);
  const auto rounded = round_up(wanted.value(), {range.min->value(), range.step->value()});
  if (!rounded) return fail(Code::kInvalidArgument, kNotRepresentable);
  return Quantity::from_units(*rounded, format);
}

Quantity round_to_values(const Quantity& wanted, const std::vector<Quantity>& values) {
  for (const Quantity& value : values) {
    if (wanted <= value) return value;
  }
  return wanted;
}

/// `wanted` is null when the request does not name the capacity.
Result<Quantity> amount_for(const Quantity* wanted, const DeviceCapacity& capacity,
                            bool fractional) {
  const RequestPolicy* policy = capacity.policy.get();
  if (wanted == nullptr) {
    return policy != nullptr && policy->default_value ? *policy->default_value : capacity.value;
  }
  if (policy == nullptr) return *wanted;
  if (policy->valid_range && policy->valid_range->min) {
    return round_to_range(*wanted, *policy->valid_range, fractional);
  }
  return round_to_values(*wanted, policy->valid_values);
}

bool is_on_grid(const Quantity& amount, const CapacityRange& range, bool fractional) {
  if (!range.step) return true;
  const Quantity min = range.min.value_or(Quantity());
  Grid grid{min.value(), range.step->value()};
  std::int64_t value = amount.value();
  if (uses_milli(range, fractional)) {
    const std::optional<std::int64_t> milli = exact_milli(amount);
    if (!milli) return false;
    grid = {min.milli_value(), range.step->milli_value()};
    value = *milli;
  }
  std::int64_t above = 0;
  if (grid.step <= 0 || __builtin_sub_overflow(value, grid.min, &above)) return false;
  return above % grid.step == 0;
}

bool obeys(const Quantity& amount, const RequestPolicy* policy, bool fractional) {
  if (policy == nullptr || (policy->default_value && amount == *policy->default_value)) return true;
  if (policy->valid_range) {
    if (policy->valid_range->max && amount > *policy->valid_range->max) return false;
    return is_on_grid(amount, *policy->valid_range, fractional);
  }
  return policy->valid_values.empty() ||
         std::ranges::find(policy->valid_values, amount) != policy->valid_values.end();
}

bool names_unknown_capacity(const api::QuantityMap& wanted, const api::Device& device) {
  return std::ranges::any_of(wanted, [&](const auto& entry) {
    return api::find_named(device.capacity, entry.first) == nullptr;
  });
}

CapacityCharge fatal(const std::string& name, const std::string& why) {
  return {.end = CapacityCharge::End::kFatal, .message = "capacity \"" + name + "\": " + why};
}

}  // namespace

CapacityCharge charge_for(const api::QuantityMap& wanted, const api::Device& device,
                          const api::QuantityMap& used, bool fractional) {
  CapacityCharge charge;
  if (names_unknown_capacity(wanted, device)) return {.end = CapacityCharge::End::kSkip};
  // All amounts come first: whether the request can be met at all must not depend on the order.
  for (const auto& [name, capacity] : device.capacity) {
    const Result<Quantity> amount = amount_for(api::find_named(wanted, name), capacity, fractional);
    if (!amount) return fatal(name, amount.error().message);
    if (amount->is_negative()) return fatal(name, kNegative);
    charge.amounts.emplace_back(name, *amount);
  }
  for (std::size_t i = 0; i < charge.amounts.size(); ++i) {
    const auto& [name, capacity] = device.capacity[i];
    Quantity total = charge.amounts[i].second;
    if (!obeys(total, capacity.policy.get(), fractional))
      return {.end = CapacityCharge::End::kSkip};
    if (const Quantity* taken = api::find_named(used, name)) total += *taken;
    if (total > capacity.value) return {.end = CapacityCharge::End::kSkip};
  }
  return charge;
}

}  // namespace gang::engine
