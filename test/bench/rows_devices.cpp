#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/rows.h"
#include "engine/device_allocator.h"
#include "gang/api/json.h"
#include "gang/cluster/device_selectors.h"
#include "gang/engine/options.h"

namespace gang::bench {

namespace {

constexpr int kDevices = 64;
constexpr int kWanted = 8;
constexpr const char* kDriver = "gpu.example.com";
constexpr const char* kSelector =
    R"(device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100" )"
    R"(&& device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0)";

/// A node's slice; every second device is one that the selector wants.
std::shared_ptr<const api::ResourceSlice> slice() {
  std::string devices;
  for (int i = 0; i < kDevices; ++i) {
    devices += fmt::format(
        R"({}{{"name":"gpu-{}","attributes":{{"model":{{"string":"{}"}},"index":{{"int":{}}}}},)"
        R"("capacity":{{"memory":{{"value":"80Gi"}}}}}})",
        i > 0 ? "," : "", i, i % 2 == 0 ? "A100" : "H100", i);
  }
  return std::make_shared<const api::ResourceSlice>(*api::decode_resource_slice(
      fmt::format(R"({{"metadata":{{"name":"s"}},"spec":{{"driver":"{}","pool":{{"name":"n1",)"
                  R"("resourceSliceCount":1}},"nodeName":"n1","devices":[{}]}}}})",
                  kDriver, devices)));
}

/// What the selector says, written by hand.
bool is_wanted(const std::string& driver, const api::Device& device, const api::Quantity& least) {
  if (driver != kDriver) return false;
  const api::AttributeValue* model = api::find_named(device.attributes, "model");
  const auto* text = model == nullptr ? nullptr : std::get_if<std::string>(model);
  const api::DeviceCapacity* memory = api::find_named(device.capacity, "memory");
  return text != nullptr && *text == "H100" && memory != nullptr && memory->value >= least;
}

/// The names of the wanted devices, at most `count` of them, in order.
std::vector<std::string> wanted(const api::ResourceSlice& slice, std::size_t count) {
  const api::Quantity least = *api::Quantity::parse("40Gi");
  std::vector<std::string> names;
  for (const api::Device& device : slice.devices) {
    if (names.size() < count && is_wanted(slice.driver, device, least)) {
      names.push_back(device.name);
    }
  }
  return names;
}

std::vector<std::string> selected(cluster::DeviceSelectors& selectors,
                                  const api::ResourceSlice& slice) {
  std::vector<std::string> names;
  for (const api::Device& device : slice.devices) {
    std::int64_t steps_left = engine::Options().selector_steps_max;
    const cluster::Selected said = selectors.judge({kSelector, slice.driver, device}, steps_left);
    if (said.end == cluster::Selected::End::kYes) names.push_back(device.name);
  }
  return names;
}

void measure_selector(Run& run) {
  const auto devices = slice();
  Pairs first;
  Pairs cached;
  for (int i = 0; i < (run.smoke ? 20 : 500); ++i) {
    cluster::CelSelectors selectors;
    std::vector<std::string> ours;
    std::vector<std::string> again;
    std::vector<std::string> by_hand;
    first.ours.push_back(microseconds([&] { ours = selected(selectors, *devices); }));
    cached.ours.push_back(microseconds([&] { again = selected(selectors, *devices); }));
    const double plain = microseconds([&] { by_hand = wanted(*devices, kDevices); });
    first.reference.push_back(plain);
    cached.reference.push_back(plain);
    run.expect(ours == by_hand && again == by_hand, "selected devices");
  }
  const std::string name = fmt::format("selector on {} devices", kDevices);
  run.rows.push_back(row_of(name + ", first", first, "by hand"));
  run.rows.push_back(row_of(name + ", cached", cached, "by hand"));
}

/// A node with its devices and a claim for some of them. Everything but the attempt is made once.
class DeviceProblem final : public cluster::DevicePool::Names {
 public:
  DeviceProblem()
      : slice_(slice()),
        pool_({.slices = {slice_}, .rules = {}}, features_, *this),
        node_(*engine::device_node(facts_, {&pool_})),
        claim_(*api::decode_resource_claim(fmt::format(
            R"({{"metadata":{{"name":"c","namespace":"ns"}},"spec":{{"devices":{{"requests":[)"
            R"({{"name":"r","exactly":{{"deviceClassName":"gpu","count":{}}}}}]}}}}}})",
            kWanted))) {
    api::DeviceClass gpu;
    gpu.meta.key.name = "gpu";
    gpu.selectors = {{.expression = kSelector}};
    classes_["gpu"] = std::make_shared<const api::DeviceClass>(gpu);
  }

  /// The names of the devices that one attempt gives to the claim.
  std::vector<std::string> allocate() {
    engine::SelectorBudget budget(engine::Options().selector_steps_max);
    const engine::DeviceInputs inputs{.features = features_,
                                      .classes = classes_,
                                      .selectors = selectors_,
                                      .answers = answers_,
                                      .budget = budget};
    engine::DeviceLedger ledger(usage_, features_);
    engine::DeviceAttempt attempt{.inputs = inputs, .ledger = ledger, .steps_left = 100'000};
    const auto found = engine::allocate_on_node(attempt, node_, {&claim_});
    std::vector<std::string> names;
    for (const api::Allocation& one : found.allocations) {
      for (const api::DeviceResult& result : one.results) names.push_back(result.device);
    }
    return names;
  }

  [[nodiscard]] const api::ResourceSlice& devices() const { return *slice_; }

 private:
  cluster::DeviceId id_of(const api::ResourceSlice&, const api::Device&) override {
    return cluster::DeviceId{next_++};
  }
  cluster::DevicePool::NameFacts settle(const cluster::DevicePool&,
                                        const cluster::DevicePool*) override {
    return {};
  }

  std::uint32_t next_ = 0;
  cluster::DeviceFeatures features_;
  const std::string node_name_ = "n1";
  const api::StringMap labels_;
  const api::NodeFacts facts_{node_name_, labels_};
  std::shared_ptr<const api::ResourceSlice> slice_;
  cluster::DevicePool pool_;
  engine::DeviceNode node_;
  cluster::DeviceClasses classes_;
  api::ResourceClaim claim_;
  cluster::DeviceUsage usage_;
  cluster::CelSelectors selectors_;
  engine::AskAnswers answers_;
};

void measure_allocation(Run& run) {
  DeviceProblem problem;
  Pairs pairs;
  for (int i = 0; i < (run.smoke ? 20 : 500); ++i) {
    std::vector<std::string> ours;
    std::vector<std::string> by_hand;
    pairs.ours.push_back(microseconds([&] { ours = problem.allocate(); }));
    pairs.reference.push_back(microseconds([&] { by_hand = wanted(problem.devices(), kWanted); }));
    run.expect(ours.size() == kWanted && ours == by_hand, "allocated devices");
  }
  run.rows.push_back(
      row_of(fmt::format("allocation of {} of {} devices", kWanted, kDevices), pairs, "by hand"));
}

}  // namespace

void measure_devices(Run& run) {
  measure_selector(run);
  measure_allocation(run);
}

}  // namespace gang::bench
