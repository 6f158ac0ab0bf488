// What gang::cel says of device selectors, in the form in which the oracle (main.go) says what
// Kubernetes says: JSON documents in, one a line, JSON answers out. With `--time N` the answers are
// how long N evaluations take, as the oracle's with the same option (time.go).
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cel/lists.h"
#include "cel/objects.h"
#include "cel/text_of.h"
#include "gang/api/quantity.h"
#include "gang/cel/program.h"

namespace gang::cel {
namespace {

using nlohmann::json;

template <class T>
std::vector<T> list_of(const json& values) {
  std::vector<T> read;
  for (const json& value : values) read.push_back(value.get<T>());
  return read;
}

std::vector<Version> versions_of(const json& values) {
  std::vector<Version> read;
  for (const json& value : values) read.push_back({value.get<std::string>()});
  return read;
}

AttributeValue attribute_of(const json& attribute) {
  if (attribute.contains("ints")) return list_of<std::int64_t>(attribute["ints"]);
  if (attribute.contains("bools")) return list_of<bool>(attribute["bools"]);
  if (attribute.contains("strings")) return list_of<std::string>(attribute["strings"]);
  if (attribute.contains("versions")) return versions_of(attribute["versions"]);
  if (attribute.contains("int")) return attribute["int"].get<std::int64_t>();
  if (attribute.contains("bool")) return attribute["bool"].get<bool>();
  if (attribute.contains("string")) return attribute["string"].get<std::string>();
  if (attribute.contains("version")) return Version{attribute["version"].get<std::string>()};
  return std::monostate{};
}

DeviceSource device_of(const json& document) {
  DeviceSource source;
  source.driver = document.value("driver", "");
  source.allow_multiple_allocations = document.value("allowMultipleAllocations", false);
  const json attributes = document.value("attributes", json::object());
  for (const auto& [name, attribute] : attributes.items()) {
    source.attributes.emplace_back(name, attribute_of(attribute));
  }
  const json capacities = document.value("capacity", json::object());
  for (const auto& [name, capacity] : capacities.items()) {
    const auto quantity = api::Quantity::parse(capacity["value"].get<std::string>());
    if (quantity) source.capacity.emplace_back(name, *quantity);
  }
  return source;
}

// One scalar in the form of the API, or null.
json attribute_json(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return {{"bool", value.as_bool()}};
    case Kind::kInt:
      return {{"int", value.as_int()}};
    case Kind::kString:
      return {{"string", std::string(value.as_text())}};
    case Kind::kType:
      return {{"string", std::string(value.as_text())}};
    case Kind::kSemver:
      return {{"version", text_of(value)}};
    default:
      return nullptr;
  }
}

json value_json(const Value& value) {
  if (!value.is(Kind::kList)) return attribute_json(value);
  json plural = json::object();
  for (std::int64_t i = 0; i < list_size(value); ++i) {
    const json item = attribute_json(list_item(value, i));
    if (item.is_null()) return nullptr;
    const auto member = item.begin();
    plural[member.key() + "s"].push_back(member.value());
  }
  return plural.size() == 1 ? plural : json(nullptr);
}

json answer(const json& question, Scratch& scratch) {
  json said = json::object();
  const Result<Program> program = Program::compile(question["expression"].get<std::string>());
  if (!program) {
    said["compileError"] = program.error().message;
    return said;
  }
  said["estimate"] = std::to_string(program->cost_estimate());
  const Device device(device_of(question["device"]));
  const Match match = program->matches(device, scratch);
  said["cost"] = std::to_string(match.cost);
  if (match.selected) {
    said["value"] = *match.selected;
    return said;
  }
  said["error"] = match.selected.error().message;
  std::uint64_t cost = 0;
  const Value value = program->run(device, scratch, cost);
  const json shown = value.is_error() ? json(nullptr) : value_json(value);
  if (!shown.is_null()) said["value"] = shown;
  return said;
}

// Nanoseconds of one call, the mean of `count`.
double nanoseconds(long count, const std::function<void()>& call) {
  const auto begun = std::chrono::steady_clock::now();
  for (long i = 0; i < count; ++i) call();
  const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begun;
  return taken.count() / static_cast<double>(count);
}

// A device is read once and judged by many selectors: `time` is a judgement alone, `time_read` one
// of a device that is read for it, as upstream reads it each time.
json times(const json& question, Scratch& scratch, long count) {
  const std::string expression = question["expression"].get<std::string>();
  std::uint64_t compile_work = 0;
  const double compile_time =
      nanoseconds(1, [&] { (void)Program::compile(expression, {}, &compile_work); });
  const Result<Program> program = Program::compile(expression);
  const json compiling = {{"time_compile", compile_time}, {"work_compile", compile_work}};
  if (!program) {
    json said = compiling;
    said["error"] = program.error().message;
    return said;
  }
  const DeviceSource source = device_of(question["device"]);
  const Device device(source);
  Match match;
  const double time = nanoseconds(count, [&] { match = program->matches(device, scratch); });
  json said = compiling;
  said.update({{"time", time}, {"work", scratch.work()}, {"cost", match.cost}});
  if (!match.selected) {
    said["error"] = match.selected.error().message;
    return said;
  }
  said["value"] = *match.selected;
  said["time_read"] =
      nanoseconds(count, [&] { match = program->matches(Device(source), scratch); });
  return said;
}

}  // namespace
}  // namespace gang::cel

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const bool is_timed = argc == 3 && std::string_view(argv[1]) == "--time";
  const long count = is_timed ? std::strtol(argv[2], nullptr, 10) : 0;
  gang::cel::Scratch scratch;
  for (std::string line; std::getline(std::cin, line);) {
    const auto question = nlohmann::json::parse(line);
    const auto said = is_timed ? gang::cel::times(question, scratch, count)
                               : gang::cel::answer(question, scratch);
    std::cout << said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  }
  return 0;
}
