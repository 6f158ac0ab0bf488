// Manifests: no crash and no endless expansion; every object has a usable name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gang/base/check.h"
#include "sim/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto manifest = gang::sim::parse_manifest(text);
  if (!manifest) {
    CHECK(!manifest.error().message.empty());
    return 0;
  }
  for (const gang::sim::ManifestObject& loaded : manifest->objects) {
    CHECK(!meta_of(loaded.object).key.name.empty());
  }
  return 0;
}
