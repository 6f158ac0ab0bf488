// Intents as they are found in ConfigMaps, which anybody may have edited. The first byte of the
// input chooses where the rest stands: as it is, packed, or as what should be packed bytes.
//
// Properties: no crash; what cannot be read says why and is known by its name alone; what can be
// read is of one namespace, and is the same after it was written again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/gzip.h"
#include "gang/api/intent.h"
#include "gang/base/base64.h"
#include "gang/base/check.h"

namespace {

using gang::api::ConfigMap;

ConfigMap map_of(std::uint8_t choice, std::string_view text) {
  ConfigMap map;
  map.meta.key = {"ns", "intent-u"};
  switch (choice % 3) {
    case 0:
      map.data["intent"] = text;
      break;
    case 1:
      map.data["intent.gz"] = gang::encode_base64(gang::api::pack_gzip(text));
      break;
    default:
      map.data["intent.gz"] = gang::encode_base64(text);
      break;
  }
  return map;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto stored = gang::api::stored_intent_from(map_of(data[0], text));
  CHECK(stored.intent.gang_uid.text == "u");
  if (!stored.problem.empty()) return 0;
  for (const auto& claim : stored.intent.claims) {
    CHECK(claim.claim.name_space == stored.intent.gang.name_space);
  }
  const auto again = gang::api::intent_from(to_config_map(stored.intent, "ns"));
  CHECK(again && *again == stored.intent);
  return 0;
}
