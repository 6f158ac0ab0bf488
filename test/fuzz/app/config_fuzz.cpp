// Configuration texts: refused with a message that names the file, or every option within limits.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/config.h"
#include "gang/base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = gang::app::parse_config(gang::app::Config{}, text, "f.yaml");
  if (!config) {
    CHECK(config.error().message.starts_with("f.yaml:"));
    return 0;
  }
  CHECK(gang::app::check_config(*config));
  CHECK(config->binder.writes_in_flight_max >= 1);
  CHECK(config->binder.writes_in_flight_max <= 200);
  CHECK(config->scheduler.scheduler_name == config->binder.scheduler_name);
  CHECK(config->scheduler.repair_deadline >= std::chrono::seconds(1));
  return 0;
}
