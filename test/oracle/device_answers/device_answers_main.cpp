// Answers allocation problems with gang::engine, in the form of test/oracle/devices.
//
// Input lines: "feature NAME", "without NAME" for one that is on by default, then in any order
// "node JSON", "slice JSON", "rule JSON", "class JSON", "held JSON", "claim JSON", and "solve" at
// the end of a problem. Output: one JSON document for each problem. All but claims to allocate is
// told to a ClusterState as a watch tells it.
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "engine/device_allocator.h"
#include "gang/api/claim_write.h"
#include "gang/api/json.h"
#include "gang/cluster/cluster_state.h"
#include "gang/cluster/device_selectors.h"

namespace gang::engine {
namespace {

constexpr std::int64_t kStepsMax = 2'000'000;
constexpr std::int64_t kSelectorStepsMax = 1'000'000'000;

/// One problem; see the head of the file.
class Problem {
 public:
  /// False when the line is no such line.
  bool add(const std::string& verb, const std::string& rest);
  std::string solve();

 private:
  bool set_feature(const std::string& name, bool value);
  /// A view is made after each object, so that later ones change pools that are built.
  void tell(api::Kind kind, const std::string& json);

  cluster::DeviceFeatures features_{.strict_no_execute = false};
  std::optional<cluster::ClusterState> state_;  ///< since the first object
  std::vector<std::unique_ptr<api::ResourceClaim>> claims_;
};

bool Problem::set_feature(const std::string& name, bool value) {
  const std::pair<const char*, bool*> known[] = {
      {"AdminAccess", &features_.admin_access},
      {"PrioritizedList", &features_.prioritized_list},
      {"PartitionableDevices", &features_.partitionable_devices},
      {"DeviceTaints", &features_.device_taints},
      {"DeviceBindingAndStatus", &features_.binding_conditions},
      {"ConsumableCapacity", &features_.consumable_capacity},
      {"FractionalCapacityRange", &features_.fractional_capacity_range},
      {"ListTypeAttributes", &features_.list_type_attributes},
      {"CompatibilityGroups", &features_.compatibility_groups},
      {"OptionalNodeOperations", &features_.optional_node_operations},
      {"DerivedAttributes", &features_.derived_attributes}};
  for (const auto& [one, flag] : known) {
    if (name != one) continue;
    *flag = value;
    return true;
  }
  return false;
}

void Problem::tell(api::Kind kind, const std::string& json) {
  if (!state_) state_.emplace("oracle", features_);
  state_->apply({.type = api::DeltaType::kAdded,
                 .kind = kind,
                 .resource_version = {},
                 .object = *api::decode_object(kind, json)});
  static_cast<void>(state_->snapshot());
}

bool Problem::add(const std::string& verb, const std::string& rest) {
  if (verb == "feature" || verb == "without") {
    return !state_ && set_feature(rest, verb == "feature");
  }
  if (verb == "claim") {
    claims_.push_back(std::make_unique<api::ResourceClaim>(*api::decode_resource_claim(rest)));
    return true;
  }
  const std::pair<const char*, api::Kind> kinds[] = {{"node", api::Kind::kNode},
                                                     {"slice", api::Kind::kResourceSlice},
                                                     {"rule", api::Kind::kDeviceTaintRule},
                                                     {"class", api::Kind::kDeviceClass},
                                                     {"held", api::Kind::kResourceClaim}};
  for (const auto& [one, kind] : kinds) {
    if (verb != one) continue;
    tell(kind, rest);
    return true;
  }
  return false;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string answer_of(const DeviceAllocation& result) {
  const char* const ends[] = {"yes", "no", "no", "node", "fatal", "limit"};
  std::string text = std::string(R"({"end":")") + ends[static_cast<int>(result.step.end)] +
                     R"(","message":)" + quoted(result.step.message) + R"(,"allocations":[)";
  for (std::size_t i = 0; i < result.allocations.size(); ++i) {
    text += (i > 0 ? "," : "") + api::encode_allocation(result.allocations[i]);
  }
  return text + "]}";
}

std::string Problem::solve() {
  const auto snapshot = state_->snapshot();
  const cluster::DeviceView& view = *snapshot->devices();
  std::vector<const api::ResourceClaim*> claims;
  for (const auto& one : claims_) claims.push_back(one.get());
  const cluster::NodeInfo& info = *snapshot->node(snapshot->by_name().front());
  const Result<DeviceNode> node = device_node_of(info, view.pools_of(info.name));
  if (!node) return answer_of({.step = {DeviceStep::End::kFatal, node.error().message}});
  cluster::CelSelectors selectors;
  AskAnswers answers;
  SelectorBudget budget(kSelectorStepsMax);
  const DeviceInputs inputs{.features = features_,
                            .classes = view.classes(),
                            .selectors = selectors,
                            .answers = answers,
                            .budget = budget,
                            .as_upstream = true};
  DeviceLedger ledger(view.usage(), features_);
  DeviceAttempt attempt{.inputs = inputs, .ledger = ledger, .steps_left = kStepsMax};
  return answer_of(allocate_on_node(attempt, *node, claims));
}

}  // namespace
}  // namespace gang::engine

int main() {
  std::string line;
  gang::engine::Problem* problem = nullptr;
  std::unique_ptr<gang::engine::Problem> owned;
  while (std::getline(std::cin, line)) {
    if (!owned) owned = std::make_unique<gang::engine::Problem>();
    problem = owned.get();
    if (line == "solve") {
      std::cout << problem->solve() << '\n';
      owned.reset();
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space != line.npos && problem->add(line.substr(0, space), line.substr(space + 1))) continue;
    std::fprintf(stderr, "device-answers: not a line of a problem: %s\n", line.c_str());
    return 2;
  }
  return 0;
}
