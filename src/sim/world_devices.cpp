// devices, republish, device, rule: ResourceSlices and DeviceTaintRules from options.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/name_rules.h"
#include "sim/taint_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

constexpr Range kDeviceCount{1, 128};

/// What the options say of the devices of one slice.
struct DeviceWords {
  std::string driver;
  std::string prefix;  ///< devices are called prefix-0, prefix-1, ...
  int count = 0;
  api::Device model;
};

bool is_version(const std::string& text) {
  return std::ranges::count(text, '.') == 2 &&
         text.find_first_not_of("0123456789.") == std::string::npos;
}

/// true and false are bools, whole numbers ints, 1.2.3 a version, everything else a string.
api::AttributeValue attribute_value(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const std::optional<int> number = parse_number(text)) return std::int64_t{*number};
  if (is_version(text)) return api::Version{text};
  return text;
}

Result<api::DeviceTaint> parse_device_taint(const std::string& text) {
  GANG_TRY(TaintWords words, parse_taint_words(text, "NoSchedule, NoExecute or None"));
  api::DeviceTaint taint{.key = std::move(words.key), .value = std::move(words.value)};
  if (words.effect == "None") return taint;
  if (words.effect != "NoSchedule" && words.effect != "NoExecute") {
    return fail(Code::kInvalidArgument, "taint=" + text + ": \"" + words.effect +
                                            "\" is no effect; write NoSchedule, NoExecute or None");
  }
  taint.effect = words.effect == "NoSchedule" ? api::DeviceTaintEffect::kNoSchedule
                                              : api::DeviceTaintEffect::kNoExecute;
  return taint;
}

Result<void> apply_option(DeviceWords& words, const Command& command, const std::string& key,
                          const std::string& value) {
  const std::string suffix = key.substr(key.find('.') + 1);
  if (key == "driver") {
    GANG_TRY_VOID(check_name("driver=", value));
    words.driver = value;
  } else if (key == "taint") {
    GANG_TRY(api::DeviceTaint taint, parse_device_taint(value));
    words.model.taints.push_back(std::move(taint));
  } else if (key.starts_with("attribute.")) {
    words.model.attributes.emplace_back(suffix, attribute_value(value));
  } else if (key.starts_with("capacity.")) {
    Result<api::Quantity> amount = api::Quantity::parse(value);
    if (!amount) return in_context(key + "=" + value, std::move(amount).error());
    words.model.capacity.emplace_back(suffix, api::DeviceCapacity{.value = *amount});
  } else if (words.prefix.empty()) {
    GANG_TRY_VOID(check_namespace("device", key));
    GANG_TRY(words.count, command.number(key, 0, kDeviceCount));
    words.prefix = key;
  } else {
    return fail(Code::kInvalidArgument, key + "= is a second kind of devices beside " +
                                            words.prefix + "=; write another command for it");
  }
  return {};
}

Result<DeviceWords> device_words(const Command& command) {
  DeviceWords words;
  for (const auto& [key, value] : command.options()) {
    GANG_TRY_VOID(apply_option(words, command, key, value));
  }
  std::ranges::sort(words.model.attributes, {}, [](const auto& entry) { return entry.first; });
  std::ranges::sort(words.model.capacity, {}, [](const auto& entry) { return entry.first; });
  if (words.driver.empty() || words.prefix.empty()) {
    return fail(Code::kInvalidArgument,
                std::string(words.driver.empty() ? "driver=" : "the count of devices") +
                    " is missing; write: " + command.verb() + " NODE gpu=2 driver=gpu.example.com");
  }
  return words;
}

void set_devices(api::ResourceSlice& slice, const DeviceWords& words) {
  slice.devices.clear();
  for (int i = 0; i < words.count; ++i) {
    api::Device device = words.model;
    device.name = words.prefix + "-" + std::to_string(i);
    slice.devices.push_back(std::move(device));
  }
}

api::ResourceSlice new_slice(const api::ObjectKey& node, const DeviceWords& words) {
  api::ResourceSlice slice;
  slice.meta.key.name = node.name + "-" + words.driver;
  slice.driver = words.driver;
  slice.pool = node.name;
  slice.pool_generation = 1;
  slice.pool_slice_count = 1;
  slice.place.node_name = node.name;
  set_devices(slice, words);
  return slice;
}

std::string devices_line(const DeviceWords& words, std::size_t nodes) {
  return std::to_string(words.count * static_cast<int>(nodes)) + " " + words.prefix;
}

bool apply_taints(api::Device& device, const std::vector<api::DeviceTaint>& taints,
                  const std::vector<std::string>& untaints) {
  const std::vector<api::DeviceTaint> before = device.taints;
  std::erase_if(device.taints, [&](const api::DeviceTaint& taint) {
    return std::ranges::find(untaints, taint.key) != untaints.end();
  });
  device.taints.insert(device.taints.end(), taints.begin(), taints.end());
  return device.taints != before;
}

}  // namespace

Result<Lines> make_devices(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<api::ObjectKey> nodes, named_objects(command, 0, "node"));
  GANG_TRY(const DeviceWords words, device_words(command));
  std::vector<api::ResourceSlice> slices;
  for (const api::ObjectKey& node : nodes) {
    if (cluster.node(node.name) == nullptr) return is_not_there(cluster, "node", node);
    slices.push_back(new_slice(node, words));
    const api::ObjectKey& key = slices.back().meta.key;
    if (!cluster.contains(api::Kind::kResourceSlice, key)) continue;
    return is_there("slice", key, "write: republish " + node.name);
  }
  for (api::ResourceSlice& slice : slices) cluster.put(std::move(slice));
  return Lines{devices_line(words, nodes.size())};
}

Result<Lines> republish_devices(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<api::ObjectKey> nodes, named_objects(command, 0, "node"));
  std::optional<DeviceWords> words;
  if (!command.options().empty()) {
    GANG_TRY(words, device_words(command));
  }
  std::vector<api::ResourceSlice> slices;
  for (const api::ObjectKey& node : nodes) {
    const std::size_t before = slices.size();
    for (const auto& [key, slice] : cluster.all<api::ResourceSlice>()) {
      if (slice.pool != node.name || (words && slice.driver != words->driver)) continue;
      slices.push_back(slice);
      ++slices.back().pool_generation;
      if (words) set_devices(slices.back(), *words);
    }
    if (slices.size() > before) continue;
    return fail(Code::kNotFound,
                "node " + node.name + " has no such devices; make them with: devices " + node.name);
  }
  for (api::ResourceSlice& slice : slices) cluster.put(slice);
  return Lines{std::to_string(slices.size()) + (slices.size() == 1 ? " slice" : " slices")};
}

Result<Lines> change_device(SimCluster& cluster, const Command& command) {
  std::vector<api::DeviceTaint> taints;
  std::vector<std::string> untaints;
  for (const auto& [key, value] : command.options()) {
    if (key == "untaint") untaints.push_back(value);
    if (key == "untaint") continue;
    GANG_TRY(api::DeviceTaint taint, parse_device_taint(value));
    taints.push_back(std::move(taint));
  }
  std::vector<api::ResourceSlice> changed;
  for (const auto& [key, slice] : cluster.all<api::ResourceSlice>()) {
    api::ResourceSlice copy = slice;
    bool is_changed = false;
    for (api::Device& device : copy.devices) {
      const bool is_named = command.has_word(slice.pool + "/" + device.name);
      if (is_named && apply_taints(device, taints, untaints)) is_changed = true;
    }
    if (is_changed) changed.push_back(std::move(copy));
  }
  if (changed.empty()) {
    return fail(Code::kNotFound,
                "no device of that name changes; write POOL/DEVICE, like n1/gpu-0, with a new "
                "taint=key:NoSchedule or an untaint=key that it has");
  }
  for (api::ResourceSlice& slice : changed) cluster.put(std::move(slice));
  return Lines{"changed"};
}

Result<Lines> make_rule(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_objects(command, 0, "rule"));
  const std::string* taint = command.option("taint");
  if (taint == nullptr) {
    return fail(Code::kInvalidArgument, "taint= is missing; write taint=key:NoSchedule");
  }
  api::DeviceTaintRule rule;
  GANG_TRY(rule.taint, parse_device_taint(*taint));
  api::DeviceTaintSelector selector;
  const auto part = [&](const char* key) -> std::optional<std::string> {
    const std::string* value = command.option(key);
    return value == nullptr ? std::nullopt : std::optional<std::string>(*value);
  };
  selector.driver = part("driver");
  selector.pool = part("pool");
  selector.device = part("device");
  if (command.has_word("all") || selector != api::DeviceTaintSelector{}) rule.selector = selector;
  for (const api::ObjectKey& key : keys) {
    if (cluster.contains(api::Kind::kDeviceTaintRule, key)) {
      return is_there("rule", key, "delete it");
    }
  }
  for (const api::ObjectKey& key : keys) {
    rule.meta.key = key;
    cluster.put(rule);
  }
  return Lines{"rule " + keys.front().name + (keys.size() > 1 ? " ..." : "")};
}

}  // namespace gang::sim
