// Scenario texts: what is read is written back as text that reads the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/base/check.h"
#include "sim/scenario_parser.h"

namespace {

using gang::sim::Block;
using gang::sim::Command;

constexpr gang::sim::Range kRange{-3, 70'000};

void check_command(const std::string& line) {
  const auto command = Command::parse(line);
  if (!command) return;
  CHECK(!command->verb().empty());
  // A range makes up to 100,000 names: a few of them are enough here.
  for (std::size_t i = 0; i < command->words().size() && i < 3; ++i) {
    const auto names = gang::sim::expand_names(command->words()[i]);
    CHECK(!names || !names->empty());
  }
  for (const auto& [key, value] : command->options()) {
    CHECK(command->option(key) != nullptr);
    const auto number = command->number(key, kRange.low, kRange);
    CHECK(!number || (*number >= kRange.low && *number <= kRange.high));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto scenario = gang::sim::parse_scenario(text);
  if (!scenario) {
    CHECK(!scenario.error().message.empty());
    return 0;
  }
  std::vector<std::vector<std::string>> outputs;
  for (const Block& block : scenario->blocks) {
    check_command(block.command);
    outputs.push_back(block.expected);
  }
  const std::string written = gang::sim::format_scenario(*scenario, outputs);
  const auto again = gang::sim::parse_scenario(written);
  CHECK(again);
  CHECK(again->blocks.size() == scenario->blocks.size());
  CHECK(gang::sim::format_scenario(*again, outputs) == written);
  return 0;
}
