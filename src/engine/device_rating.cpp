#include "engine/device_rating.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace gang::engine {
namespace {

using Nano = api::Quantity::Nano;

constexpr std::int32_t kWhole = 1'000;
/// NUMA nodes count before PCIe roots.
constexpr std::int32_t kRootsMax = 1'000;

std::int32_t size_of(const ChosenDevice& one) {
  const cluster::PoolDevice& device = *one.candidate.device;
  std::int32_t most = 0;
  for (const cluster::CounterUse& use : device.counters) {
    const auto& declared = one.candidate.pool->counters()[use.counter].declared;
    most = std::max(most, share_of(use.amount, declared));
  }
  for (const auto& [name, amount] : one.capacity) {
    const api::DeviceCapacity* whole = api::find_named(device.device->capacity, name);
    if (whole != nullptr) most = std::max(most, share_of(amount, whole->value));
  }
  const bool is_part = !device.counters.empty() || !one.capacity.empty();
  return is_part ? most : kWhole;
}

std::int32_t waits_of(const ChosenDevice& one, const AvoidedDevices& avoided) {
  if (one.candidate.device->device->binding_conditions.empty()) return 0;
  return avoided.pools.contains(one.candidate.pool) ? 2 : 1;
}

/// Values of an attribute among the devices; 0 where none has it.
std::int32_t count_of(const std::vector<const ChosenDevice*>& devices, const char* attribute) {
  std::vector<const api::AttributeValue*> values;
  values.reserve(devices.size());
  for (const ChosenDevice* one : devices) {
    const api::Device& device = *one->candidate.device->device;
    const auto* value = api::find_named(device.attributes, attribute);
    const bool is_last = value == nullptr || (!values.empty() && *values.back() == *value);
    if (!is_last) values.push_back(value);
  }
  const auto value_of = [](const api::AttributeValue* value) -> const auto& {
    return *value;
  };
  std::ranges::sort(values, {}, value_of);
  const auto repeated = std::ranges::unique(values, {}, value_of);
  return static_cast<std::int32_t>(values.size() - repeated.size());
}

std::int32_t spread_of(const std::vector<const ChosenDevice*>& devices) {
  if (devices.size() < 2) return 0;
  std::int32_t nodes = count_of(devices, kNumaNode);
  std::int32_t roots = count_of(devices, kPcieRoot);
  // Where they are is not told: each may be at a place of its own.
  if (nodes == 0 && roots == 0) nodes = roots = static_cast<std::int32_t>(devices.size());
  return std::max(0, nodes - 1) * kRootsMax + std::clamp(roots - 1, 0, kRootsMax - 1);
}

/// Binary digits of a number; 0 below one.
std::int32_t digits_of(Nano number) {
  if (number <= 0) return 0;
  const auto high = static_cast<std::uint64_t>(number >> 64U);
  const auto low = static_cast<std::uint64_t>(number);
  return static_cast<std::int32_t>(high > 0 ? 64 + std::bit_width(high) : std::bit_width(low));
}

}  // namespace

std::int32_t share_of(const api::Quantity& part, const api::Quantity& whole) {
  const Nano unit = whole.nano() / kWhole;
  if (unit <= 0) return 0;
  return static_cast<std::int32_t>(std::clamp<Nano>(part.nano() / unit, 0, kWhole));
}

std::int32_t amount_of(const api::Device& device) {
  if (!device.consumes_counters.empty()) return 0;
  std::int32_t digits = 0;
  for (const auto& [name, capacity] : device.capacity) {
    digits += digits_of(capacity.value.nano());
  }
  return digits;
}

MemberRating rating_of(const AvoidedDevices& avoided, const std::vector<PreparedClaim>& claims,
                       const std::vector<std::vector<ChosenDevice>>& chosen) {
  MemberRating rating;
  for (const PreparedClaim& claim : claims) {
    for (const PreparedRequest& request : claim.requests) {
      if (!request.has_alternatives()) continue;
      rating.preference += kAlternativesMax - static_cast<std::int32_t>(request.selected);
    }
  }
  std::size_t count = 0;
  for (const std::vector<ChosenDevice>& of_claim : chosen) count += of_claim.size();
  std::vector<const ChosenDevice*> devices;
  devices.reserve(count);
  for (const std::vector<ChosenDevice>& of_claim : chosen) {
    for (const ChosenDevice& one : of_claim) devices.push_back(&one);
  }
  for (const ChosenDevice* one : devices) {
    rating.waits += waits_of(*one, avoided);
    rating.size += size_of(*one);
    rating.amount += amount_of(*one->candidate.device->device);
  }
  rating.spread = spread_of(devices);
  return rating;
}

}  // namespace gang::engine
