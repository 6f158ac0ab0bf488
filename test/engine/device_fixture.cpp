#include "device_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gang/api/json.h"

namespace gang::engine {
namespace {

template <class T>
T readable(Result<T> decoded) {
  EXPECT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(decoded->meta.unreadable, "");
  return *std::move(decoded);
}

std::string text_of(const api::Allocation& allocation) {
  std::string text;
  for (const api::DeviceResult& result : allocation.results) {
    if (!text.empty()) text += ' ';
    text += result.request + '=' + result.pool + '/' + result.device;
  }
  return text;
}

std::string text_of(const DeviceAllocation& result) {
  switch (result.step.end) {
    case DeviceStep::End::kYes:
      break;
    case DeviceStep::End::kNo:
    case DeviceStep::End::kTooMany:
      return "no";
    case DeviceStep::End::kNode:
      return "node: " + result.step.message;
    case DeviceStep::End::kFatal:
      return "fatal: " + result.step.message;
    case DeviceStep::End::kLimit:
      return "limit: " + result.step.message;
  }
  std::string text;
  for (const api::Allocation& allocation : result.allocations) {
    text += (text.empty() ? "" : "; ") + text_of(allocation);
  }
  return text;
}

}  // namespace

cluster::Selected TableSelectors::judge(const cluster::DeviceQuestion& question,
                                        std::int64_t& steps_left) {
  using End = cluster::Selected::End;
  const auto& [expression, driver, device] = question;
  if (steps_left <= 0) return {End::kNotAsked, ""};
  --steps_left;
  if (expression == "true") return {End::kYes, ""};
  if (expression == "nonsense") return {End::kCompileError, "no sense"};
  if (expression == "broken") return {End::kRuntimeError, "no such key: x"};
  const std::size_t at = expression.find("==");
  const api::AttributeValue* value =
      attribute_of(device, driver, driver + "/" + expression.substr(0, at));
  const bool is_equal =
      value != nullptr && *value == api::AttributeValue(expression.substr(at + 2));
  return {is_equal ? End::kYes : End::kNo, ""};
}

const cluster::Derived& TableSelectors::derive(const cluster::DeviceQuestion& question,
                                               std::int64_t& steps_left) {
  using End = cluster::Derived::End;
  const auto& [expression, driver, device] = question;
  derived_ = {.end = End::kNotAsked, .value = {}, .message = {}};
  if (steps_left <= 0) return derived_;
  --steps_left;
  const api::AttributeValue* own = attribute_of(device, driver, driver + "/" + expression);
  derived_ = {.end = End::kValue, .value = std::string("none"), .message = {}};
  if (own != nullptr) derived_.value = *own;
  if (expression == "nonsense") derived_ = {End::kCompileError, {}, "no sense"};
  if (expression == "broken") derived_ = {End::kRuntimeError, {}, "no such key: x"};
  return derived_;
}

DeviceWorld::DeviceWorld() {
  device_class("gpu", R"("selectors":[{"cel":{"expression":"true"}}])");
}

DeviceWorld& DeviceWorld::slice(const std::string& name, const std::string& spec) {
  slices_.push_back(std::make_shared<const api::ResourceSlice>(readable(api::decode_resource_slice(
      R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + "}}"))));
  return *this;
}

DeviceWorld& DeviceWorld::local(const std::string& devices) {
  return slice("n1-d", R"("driver":"d","pool":{"name":"n1","resourceSliceCount":1},
      "nodeName":"n1","devices":[)" +
                           devices + "]");
}

DeviceWorld& DeviceWorld::rule(const std::string& spec) {
  rules_.push_back(std::make_shared<const api::DeviceTaintRule>(readable(
      api::decode_device_taint_rule(R"({"metadata":{"name":"r"},"spec":{)" + spec + "}}"))));
  return *this;
}

DeviceWorld& DeviceWorld::device_class(const std::string& name, const std::string& spec) {
  classes_.push_back(std::make_shared<const api::DeviceClass>(readable(api::decode_device_class(
      R"({"metadata":{"name":")" + name + R"("},"spec":{)" + spec + "}}"))));
  return *this;
}

DeviceWorld& DeviceWorld::claim(const std::string& devices) {
  const std::string name = "c" + std::to_string(claims_.size());
  claims_.push_back(std::make_unique<api::ResourceClaim>(
      readable(api::decode_resource_claim(R"({"metadata":{"namespace":"ns","name":")" + name +
                                          R"("},"spec":{"devices":{)" + devices + "}}}"))));
  return *this;
}

DeviceWorld& DeviceWorld::held(const std::string& pool, const std::string& device,
                               const std::string& more) {
  const auto claim = readable(api::decode_resource_claim(
      R"({"metadata":{"name":"held"},"status":{"allocation":{"devices":{"results":[{"driver":"d")" +
      more + "}]}}}}"));
  usage_.add(id_of("d/" + pool + "/" + device), claim.allocation->results[0],
             features.consumable_capacity);
  return *this;
}

cluster::DeviceId DeviceWorld::id_of(const std::string& name) {
  return ids_.try_emplace(name, cluster::DeviceId{static_cast<std::uint32_t>(ids_.size())})
      .first->second;
}

cluster::DeviceId DeviceWorld::id_of(const api::ResourceSlice& slice, const api::Device& device) {
  return id_of(slice.driver + "/" + slice.pool + "/" + device.name);
}

cluster::DevicePool::NameFacts DeviceWorld::settle(const cluster::DevicePool& pool,
                                                   const cluster::DevicePool* /*before*/) {
  cluster::DevicePool::NameFacts facts;
  std::set<cluster::DeviceId> shown;
  for (const cluster::PartPtr& part : pool.parts()) {
    for (const cluster::PoolDevice& device : part->devices) {
      facts.are_unique &= shown.insert(device.id).second;
    }
  }
  for (const auto& [name, id] : ids_) {
    if (!name.starts_with(pool.driver() + "/" + pool.name() + "/")) continue;
    const bool is_held = usage_.find(id) != nullptr;
    if (is_held && !shown.contains(id)) facts.unseen.push_back({.name = name, .id = id});
  }
  return facts;
}

std::vector<std::unique_ptr<cluster::DevicePool>> DeviceWorld::make_pools() {
  std::map<std::string, cluster::DevicePool::Parts> by_name;
  for (const cluster::SlicePtr& slice : slices_) {
    by_name[slice->driver + "/" + slice->pool].slices.push_back(slice);
  }
  std::vector<std::unique_ptr<cluster::DevicePool>> pools;
  for (auto& [name, parts] : by_name) {
    parts.rules = rules_;
    pools.push_back(std::make_unique<cluster::DevicePool>(parts, features, *this));
  }
  return pools;
}

std::string DeviceWorld::allocate() {
  const auto pools = make_pools();
  std::vector<const cluster::DevicePool*> views;
  for (const auto& pool : pools) views.push_back(pool.get());
  cluster::DeviceClasses classes;
  for (const auto& one : classes_) classes[one->meta.key.name] = one;
  std::vector<const api::ResourceClaim*> claims;
  for (const auto& one : claims_) claims.push_back(one.get());

  cluster::NodeInfo info;
  info.name = "n1";
  info.labels = labels;
  info.optional_node_operations = node_declares_optional_operations;
  const Result<DeviceNode> node = device_node_of(info, views);
  if (!node) return "fatal: " + node.error().message;
  TableSelectors selectors;
  AskAnswers answers;
  SelectorBudget budget(selector_steps_max);
  const DeviceInputs inputs{.features = features,
                            .classes = classes,
                            .selectors = selectors,
                            .answers = answers,
                            .budget = budget,
                            .as_upstream = as_upstream};
  DeviceLedger ledger(usage_, features);
  DeviceAttempt attempt{.inputs = inputs, .ledger = ledger, .steps_left = steps_max};
  DeviceAllocation result = allocate_on_node(attempt, *node, claims);
  EXPECT_TRUE(result.step.is_yes() || ledger.checkpoint() == 0) << "a failed search left marks";
  allocations_ = std::move(result.allocations);
  result.allocations = allocations_;
  return text_of(result);
}

}  // namespace gang::engine
