#include "device_gang_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "engine/table_cache.h"
#include "gang/api/json.h"

namespace gang::engine {
namespace {

std::string text_of(const api::Allocation& allocation) {
  std::vector<std::string> devices;
  for (const api::DeviceResult& result : allocation.results) {
    devices.push_back(result.pool + "/" + result.device);
  }
  std::ranges::sort(devices);
  std::string text;
  for (const std::string& device : devices) text += (text.empty() ? "" : " ") + device;
  return text;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

api::Device object_of(const TestDevice& device) {
  api::Device made{.name = device.name};
  if (!device.model.empty()) made.attributes = {{"model", device.model}};
  // What only tells devices apart for people.
  made.attributes.emplace_back("uuid", "id-" + device.pool + "-" + device.name);
  made.allow_multiple_allocations = device.capacity > 0;
  if (device.waits) made.binding_conditions = {"ready"};
  if (device.capacity > 0) {
    made.capacity = {{"size", {.value = api::Quantity::from_units(device.capacity)}}};
  }
  if (!device.chip.empty()) {
    made.consumes_counters.push_back(
        {.counter_set = device.chip,
         .counters = {{"size", api::Quantity::from_units(device.size)}}});
  }
  return made;
}

api::NodeSelector on(const std::string& node) {
  return {{{.expressions = {}, .fields = {{"metadata.name", "In", {node}}}}}};
}

}  // namespace

GangDeviceWorld& GangDeviceWorld::node(const std::string& name, int slots) {
  slots_[name] = slots;
  return *this;
}

GangDeviceWorld& GangDeviceWorld::device(TestDevice device) {
  devices_.push_back(std::move(device));
  return *this;
}

void GangDeviceWorld::free_all_but_one_of_a_chip() {
  std::set<std::string> chips;
  for (TestDevice& device : devices_) {
    if (!device.is_held || device.chip.empty()) continue;
    device.is_held = chips.insert(device.pool + "/" + device.chip).second;
  }
}

std::size_t GangDeviceWorld::claim(TestClaim claim) {
  claims_.push_back(std::move(claim));
  return claims_.size() - 1;
}

GangDeviceWorld& GangDeviceWorld::member(std::vector<std::size_t> claims) {
  members_.push_back(std::move(claims));
  return *this;
}

cluster::DeviceId GangDeviceWorld::id_of(const std::string& name) {
  return ids_.try_emplace(name, cluster::DeviceId{static_cast<std::uint32_t>(ids_.size())})
      .first->second;
}

cluster::DeviceId GangDeviceWorld::id_of(const api::ResourceSlice& slice,
                                         const api::Device& device) {
  return id_of(slice.pool + "/" + device.name);
}

void GangDeviceWorld::make_pools() {
  std::map<std::string, api::ResourceSlice> slices;
  std::map<std::string, api::ResourceSlice> chips;
  for (const TestDevice& device : devices_) {
    api::ResourceSlice& slice = slices[device.pool];
    slice.meta.key.name = device.pool;
    slice.driver = "d";
    slice.pool = device.pool;
    slice.pool_slice_count = 1;
    slice.place.all_nodes = !slots_.contains(device.pool);
    if (!slice.place.all_nodes) slice.place.node_name = device.pool;
    slice.devices.push_back(object_of(device));
    if (device.is_held) hold(device);
    if (device.chip.empty()) continue;
    std::vector<api::CounterSet>& sets = chips[device.pool].shared_counters;
    if (std::ranges::find(sets, device.chip, &api::CounterSet::name) != sets.end()) continue;
    sets.push_back(
        {.name = device.chip, .counters = {{"size", api::Quantity::from_units(kChipSize)}}});
  }
  for (auto& [name, slice] : slices) {
    cluster::DevicePool::Parts parts;
    if (const auto counted = chips.find(name); counted != chips.end()) {
      api::ResourceSlice counters = slice;
      counters.meta.key.name = name + "-counters";
      counters.devices.clear();
      counters.shared_counters = counted->second.shared_counters;
      slice.pool_slice_count = counters.pool_slice_count = 2;
      parts.slices.push_back(std::make_shared<const api::ResourceSlice>(counters));
    }
    parts.slices.push_back(std::make_shared<const api::ResourceSlice>(slice));
    pools_.push_back(std::make_unique<cluster::DevicePool>(parts, features_, *this));
  }
}

/// All of it, also of a device that many can use.
void GangDeviceWorld::hold(const TestDevice& device) {
  api::DeviceResult held;
  if (device.capacity > 0) {
    held.share_id = "held";
    held.consumed_capacity = {{"size", api::Quantity::from_units(device.capacity)}};
  }
  usage_.add(id_of(device.pool + "/" + device.name), held, true);
}

api::DeviceAsk GangDeviceWorld::ask_for(int count, const std::string& model, int amount) const {
  api::DeviceAsk ask{.class_name = "gpu", .count = count};
  if (!model.empty()) ask.selectors.push_back({"model==" + model});
  if (uses_shares()) ask.capacity = {{"size", api::Quantity::from_units(amount)}};
  return ask;
}

std::vector<cluster::GangClaim> GangDeviceWorld::make_claims() const {
  std::vector<cluster::GangClaim> made;
  for (const TestClaim& claim : claims_) {
    api::ResourceClaim object;
    object.meta.key = {"ns", "c" + std::to_string(made.size())};
    const api::DeviceAsk ask = ask_for(claim.count, claim.model, claim.amount);
    api::DeviceRequest& request = object.spec.requests.emplace_back();
    request.name = "r";
    if (claim.else_count == 0) {
      request.exactly = ask;
    } else {
      request.first_available = {ask, ask_for(claim.else_count, claim.else_model, claim.amount)};
      request.first_available[0].name = "a";
      request.first_available[1].name = "b";
    }
    cluster::GangClaim& one = made.emplace_back();
    one.key = object.meta.key;
    one.of_group = claim.of_group;
    one.claim = std::make_shared<const api::ResourceClaim>(object);
    if (claim.held_by.empty()) continue;
    const std::string pool = claim.held_by.substr(0, claim.held_by.find('/'));
    api::Allocation held;
    held.results.push_back({.request = "r", .pool = pool});
    if (slots_.contains(pool)) held.node_selector = on(pool);
    one.allocation = std::make_shared<const api::Allocation>(held);
  }
  return made;
}

std::string GangDeviceWorld::run(std::int32_t need) {
  TestCluster cluster;
  for (const auto& [name, slots] : slots_) {
    cluster.add(test::node(name).cpu(std::to_string(slots)));
  }
  cluster.add(test::pod_group("g").min(need));
  for (std::size_t i = 0; i < members_.size(); ++i) {
    cluster.add(test::pod("m" + std::to_string(i)).group("g").cpu("1").build());
  }
  make_pools();
  const auto claims = make_claims();
  const cluster::Gang gang = cluster.gang("g");
  std::vector<DeviceMember> members;
  for (std::size_t i = 0; i < gang.members.size(); ++i) {
    const auto number = static_cast<std::size_t>(std::stoi(gang.members[i].key.name.substr(1)));
    members.push_back({.index = number, .class_index = 0, .claims = members_[number]});
  }

  const auto snapshot = cluster.state.snapshot();
  const Options options;
  PlannerStats stats;
  TableCache tables(options);
  tables.begin(*snapshot);
  Draft draft;
  draft.begin(*snapshot,
              {{.table = tables.current(*snapshot, {.pod_class = gang.classes.at(0)}, stats),
                .member_count = static_cast<std::int32_t>(members.size())}});
  api::DeviceClass device_class;
  device_class.meta.key.name = "gpu";
  const cluster::DeviceClasses classes{
      {"gpu", std::make_shared<const api::DeviceClass>(device_class)}};
  TableSelectors selectors;
  AskAnswers answers;
  SelectorBudget budget(selector_steps_max);
  const DeviceInputs inputs{.features = features_,
                            .classes = classes,
                            .selectors = selectors,
                            .answers = answers,
                            .budget = budget,
                            .avoided = avoided()};
  const DeviceStage stage{.inputs = inputs, .usage = usage_, .pools_of = [&](const std::string&) {
                            std::vector<const cluster::DevicePool*> pools;
                            for (const auto& pool : pools_) pools.push_back(pool.get());
                            return pools;
                          }};
  DeviceDraft devices(stage, claims, steps_max);
  std::vector<DeviceKind> kinds = device_kinds(members, claims);
  ExtendedClaims extended(draft);
  DeviceGangSearch search(draft, devices, extended, kinds);
  end_ = search.run(need);
  keep(search, devices, *snapshot);
  draft.end();
  if (end_.end != SearchEnd::kPlaced) return "";
  std::string text;
  for (const auto& [member, node] : nodes_) {
    text += (text.empty() ? "m" : " m") + std::to_string(member) + "=" + node;
  }
  return text;
}

void GangDeviceWorld::keep(const DeviceGangSearch& search, const DeviceDraft& devices,
                           const cluster::Snapshot& snapshot) {
  for (const DevicePick& pick : search.picks()) {
    nodes_[pick.member->index] = snapshot.node(snapshot.by_name()[pick.rank])->name;
  }
  for (std::size_t i = 0; i < claims_.size(); ++i) {
    if (const api::Allocation* allocation = devices.decided(i)) given_[i] = text_of(*allocation);
  }
}

std::string GangDeviceWorld::problem() const {
  for (const auto& [claim, text] : given_) {
    const std::vector<std::string> names = words_of(text);
    if (std::ranges::adjacent_find(names) != names.end()) return "twice in one claim: " + text;
    if (!may_have(claims_[claim], names))
      return text + " is not for claim " + std::to_string(claim);
  }
  if (std::string overused = overuse(); !overused.empty()) return overused;
  std::map<std::string, int> used;
  for (const auto& [member, node] : nodes_) {
    if (++used[node] > slots_.at(node)) return node + " has no room";
    for (const std::size_t claim : members_[member]) {
      if (!serves(claim, node))
        return "a member on " + node + " lacks claim " + std::to_string(claim);
    }
  }
  return "";
}

std::string GangDeviceWorld::overuse() const {
  std::map<std::string, int> of_device;
  std::map<std::string, int> of_chip;
  for (const TestDevice& device : devices_) {
    if (device.is_held) of_chip[device.pool + "/" + device.chip] += device.size;
  }
  for (const auto& [claim, text] : given_) {
    for (const std::string& name : words_of(text)) {
      const TestDevice& device = *find(name);
      int& used = of_device[name];
      if (used == 0) of_chip[device.pool + "/" + device.chip] += device.size;
      used += asked_of(device, claims_[claim]);
      if (used > std::max(1, device.capacity)) return name + " is given too often";
    }
  }
  for (const auto& [chip, used] : of_chip) {
    if (used > kChipSize) return "chip " + chip + " is given too often";
  }
  return "";
}

AvoidedDevices GangDeviceWorld::avoided() const {
  AvoidedDevices avoided;
  for (const TestDevice& device : devices_) {
    if (!device.is_avoided) continue;
    avoided.devices.insert(ids_.at(device.pool + "/" + device.name));
    for (const auto& pool : pools_) {
      if (pool->name() == device.pool) avoided.pools.insert(pool.get());
    }
  }
  return avoided;
}

const TestDevice* GangDeviceWorld::find(const std::string& name) const {
  const auto device = std::ranges::find_if(
      devices_, [&](const TestDevice& one) { return one.pool + "/" + one.name == name; });
  return device == devices_.end() ? nullptr : &*device;
}

bool GangDeviceWorld::uses_shares() const {
  return std::ranges::all_of(devices_, [](const TestDevice& one) { return one.capacity > 0; });
}

bool GangDeviceWorld::may_have(const TestClaim& claim,
                               const std::vector<std::string>& names) const {
  const auto count = static_cast<int>(names.size());
  const auto are_all = [&](const std::string& model) {
    return std::ranges::all_of(names, [&](const std::string& name) {
      const TestDevice* device = find(name);
      const bool is_free = device != nullptr && !device->is_held && !device->is_avoided;
      return is_free && (model.empty() || model == device->model);
    });
  };
  return (count == claim.count && are_all(claim.model)) ||
         (count == claim.else_count && are_all(claim.else_model));
}

bool GangDeviceWorld::serves(std::size_t claim, const std::string& node) const {
  const bool is_old = !claims_[claim].held_by.empty();
  if (!is_old && !given_.contains(claim)) return false;
  return std::ranges::all_of(words_of(is_old ? claims_[claim].held_by : given_.at(claim)),
                             [&](const std::string& name) {
                               const std::string pool = name.substr(0, name.find('/'));
                               return !slots_.contains(pool) || pool == node;
                             });
}

}  // namespace gang::engine
