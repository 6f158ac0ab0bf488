// Answers allocation problems with gang::engine, in the form of test/oracle/devices.
//
// Input lines: "feature NAME", "without NAME" for one that is on by default, "node JSON", "slice
// JSON", "class JSON", "held JSON", "claim JSON", and "solve" at the end of a problem. Output: one
// JSON document for each problem.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <string>

#include "engine/device_allocator.h"
#include "gang/api/claim_write.h"
#include "gang/api/json.h"
#include "gang/cluster/device_selectors.h"

namespace gang::engine {
namespace {

constexpr std::int64_t kStepsMax = 2'000'000;
constexpr std::int64_t kSelectorStepsMax = 1'000'000'000;

/// One problem; see the head of the file.
class Problem final : public cluster::DevicePool::Names {
 public:
  /// False when the line is no such line.
  bool add(const std::string& verb, const std::string& rest);
  std::string solve();

 private:
  cluster::DeviceId id_of(const api::ResourceSlice& slice, const api::Device& device) override {
    return id_of(slice.driver, slice.pool, device.name);
  }
  std::vector<cluster::UnseenDevice> held_beside(const cluster::DevicePool& pool) const override;
  cluster::DeviceId id_of(const std::string& driver, const std::string& pool,
                          const std::string& device) {
    const auto next = cluster::DeviceId{static_cast<std::uint32_t>(ids_.size())};
    return ids_.try_emplace(driver + '/' + pool + '/' + device, next).first->second;
  }
  bool set_feature(const std::string& name, bool value);
  void hold(const api::ResourceClaim& claim);

  cluster::DeviceFeatures features_{.strict_no_execute = false};
  std::map<std::string, cluster::DeviceId> ids_;
  api::Node node_;
  std::vector<cluster::SlicePtr> slices_;
  std::vector<std::shared_ptr<const api::DeviceClass>> classes_;
  std::vector<std::unique_ptr<api::ResourceClaim>> claims_;
  cluster::DeviceUsage usage_;
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

void Problem::hold(const api::ResourceClaim& claim) {
  for (const api::DeviceResult& result : claim.allocation->results) {
    usage_.add(id_of(result.driver, result.pool, result.device), result,
               features_.consumable_capacity);
  }
}

std::vector<cluster::UnseenDevice> Problem::held_beside(const cluster::DevicePool& pool) const {
  std::vector<cluster::UnseenDevice> unseen;
  for (const auto& [name, id] : ids_) {
    if (!name.starts_with(pool.driver() + '/' + pool.name() + '/')) continue;
    const bool is_seen =
        std::ranges::find(pool.devices(), id, &cluster::PoolDevice::id) != pool.devices().end();
    if (!is_seen && usage_.find(id) != nullptr) unseen.push_back({.name = name, .id = id});
  }
  return unseen;
}

bool Problem::add(const std::string& verb, const std::string& rest) {
  if (verb == "feature" || verb == "without") return set_feature(rest, verb == "feature");
  if (verb == "node") {
    node_ = *api::decode_node(rest);
  } else if (verb == "slice") {
    slices_.push_back(
        std::make_shared<const api::ResourceSlice>(*api::decode_resource_slice(rest)));
  } else if (verb == "class") {
    classes_.push_back(std::make_shared<const api::DeviceClass>(*api::decode_device_class(rest)));
  } else if (verb == "held") {
    hold(*api::decode_resource_claim(rest));
  } else if (verb == "claim") {
    claims_.push_back(std::make_unique<api::ResourceClaim>(*api::decode_resource_claim(rest)));
  } else {
    return false;
  }
  return true;
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
  std::map<std::string, cluster::DevicePool::Parts> parts;
  for (const cluster::SlicePtr& slice : slices_) {
    parts[slice->driver + '/' + slice->pool].slices.push_back(slice);
  }
  std::vector<std::unique_ptr<cluster::DevicePool>> pools;
  std::vector<const cluster::DevicePool*> views;
  for (const auto& [name, of_pool] : parts) {
    pools.push_back(std::make_unique<cluster::DevicePool>(of_pool, features_, *this));
    views.push_back(pools.back().get());
  }
  cluster::DeviceClasses classes;
  for (const auto& one : classes_) classes[one->meta.key.name] = one;
  std::vector<const api::ResourceClaim*> claims;
  for (const auto& one : claims_) claims.push_back(one.get());
  cluster::NodeInfo info;
  info.name = node_.meta.key.name;
  info.labels = node_.meta.labels;
  info.optional_node_operations = node_.optional_node_operations;
  const Result<DeviceNode> node = device_node_of(info, views);
  if (!node) return answer_of({.step = {DeviceStep::End::kFatal, node.error().message}});
  cluster::CelSelectors selectors;
  AskAnswers answers;
  SelectorBudget budget(kSelectorStepsMax);
  const DeviceInputs inputs{.features = features_,
                            .classes = classes,
                            .selectors = selectors,
                            .answers = answers,
                            .budget = budget,
                            .as_upstream = true};
  DeviceLedger ledger(usage_, features_);
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
