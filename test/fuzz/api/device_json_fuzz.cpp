// The JSON decoders of devices and claims. The first byte of the input chooses what is decoded.
//
// Properties: no crash; a decoded object has a usable name; maps are sorted and their names unique;
// an allocation that is written is read back as one that is written the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gang/api/claim_write.h"
#include "gang/api/json.h"
#include "gang/base/check.h"

namespace {

template <class Map>
void check_sorted(const Map& map) {
  for (std::size_t i = 1; i < map.size(); ++i) CHECK(map[i - 1].first < map[i].first);
}

template <class Decoded>
bool has_name(const Decoded& decoded) {
  if (!decoded) {
    CHECK(!decoded.error().message.empty());
    return false;
  }
  CHECK(!decoded->meta.key.name.empty());
  return true;
}

void check_slice(std::string_view json) {
  const auto slice = gang::api::decode_resource_slice(json);
  if (!has_name(slice)) return;
  for (const gang::api::Device& device : slice->devices) {
    check_sorted(device.attributes);
    check_sorted(device.capacity);
    for (const auto& consumed : device.consumes_counters) check_sorted(consumed.counters);
  }
  for (const auto& set : slice->shared_counters) check_sorted(set.counters);
}

void check_claim(std::string_view json) {
  const auto claim = gang::api::decode_resource_claim(json);
  if (!has_name(claim) || !claim->allocation) return;
  for (const auto& result : claim->allocation->results) check_sorted(result.consumed_capacity);
  const std::string written = gang::api::encode_allocation(*claim->allocation);
  const auto again = gang::api::decode_resource_claim(
      R"({"metadata":{"name":"a"},"status":{"allocation":)" + written + "}}");
  CHECK(again);
  if (!again->meta.unreadable.empty() || !claim->meta.unreadable.empty()) return;
  CHECK(again->allocation);
  CHECK(gang::api::encode_allocation(*again->allocation) == written);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view json(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      check_slice(json);
      break;
    case 1:
      check_claim(json);
      break;
    case 2:
      has_name(gang::api::decode_resource_claim_template(json));
      break;
    case 3:
      has_name(gang::api::decode_device_class(json));
      break;
    default:
      has_name(gang::api::decode_device_taint_rule(json));
      break;
  }
  return 0;
}
