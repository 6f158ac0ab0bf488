// Device selectors of any bytes, compiled and evaluated on a small device.
//
// Properties: no crash and no hang; what is refused has a text; a repeated evaluation says the
// same; what costs more than allowed ends with that error.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/check.h"
#include "gang/cel/program.h"

namespace {

using gang::cel::Match;

gang::cel::Device small_device() {
  gang::cel::DeviceSource source{.driver = "dra.example.com", .allow_multiple_allocations = true};
  source.attributes = {{"model", std::string("A100")},
                       {"index", std::int64_t{5}},
                       {"ready", true},
                       {"version", gang::cel::Version{"1.2.3"}},
                       {"ints", std::vector<std::int64_t>{3, 1, 2}},
                       {"other.com/models", std::vector<std::string>{"x", "y"}}};
  source.capacity = {{"memory", *gang::api::Quantity::parse("40Gi")}};
  return gang::cel::Device(source);
}

void check_match(const Match& match, std::uint64_t cost_max) {
  if (!match.selected) CHECK(!match.selected.error().message.empty());
  if (match.cost <= cost_max) return;
  const bool gave_up =
      !match.selected && match.selected.error().code == gang::Code::kResourceExhausted;
  CHECK(gave_up);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const gang::cel::Device device = small_device();
  static gang::cel::Scratch scratch;
  const gang::cel::ProgramOptions options;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto program = gang::cel::Program::compile(text, options);
  if (!program) {
    CHECK(program.error().code == gang::Code::kInvalidArgument);
    CHECK(!program.error().message.empty());
    return 0;
  }
  const Match match = program->matches(device, scratch);
  check_match(match, options.cost_max);
  const Match again = program->matches(device, scratch);
  const bool same = again.cost == match.cost && again.selected == match.selected;
  CHECK(same);
  return 0;
}
