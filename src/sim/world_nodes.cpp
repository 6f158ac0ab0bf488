// nodes and node: Node objects from options.
#include <algorithm>
#include <map>

#include "sim/resource_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

std::string at_least_one(const char* what) {
  return std::string("no ") + what + " is named; write the names after the verb";
}

Result<api::TaintEffect> taint_effect(const std::string& text) {
  if (text == "NoSchedule") return api::TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return api::TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return api::TaintEffect::kNoExecute;
  return fail(
      Code::kInvalidArgument,
      "\"" + text + "\" is no taint effect; write NoSchedule, PreferNoSchedule or NoExecute");
}

/// "key=value:Effect" or "key:Effect".
Result<api::Taint> parse_taint(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return fail(Code::kInvalidArgument, "taint=" + text + " has no effect; write key=value:Effect");
  }
  GANG_TRY(const api::TaintEffect effect, taint_effect(text.substr(colon + 1)));
  const std::string left = text.substr(0, colon);
  const std::size_t equals = left.find('=');
  api::Taint taint;
  taint.key = left.substr(0, equals);
  taint.value = equals == std::string::npos ? "" : left.substr(equals + 1);
  taint.effect = effect;
  return taint;
}

void set_label(api::StringMap& labels, const std::string& key, const std::string& value) {
  const auto at = std::find_if(labels.begin(), labels.end(),
                               [&](const auto& label) { return label.first == key; });
  if (at == labels.end()) {
    labels.emplace_back(key, value);
  } else {
    at->second = value;
  }
  std::sort(labels.begin(), labels.end());
}

Result<void> apply_option(api::Node& node, const std::string& key, const std::string& value) {
  if (key == "taint") {
    GANG_TRY(api::Taint taint, parse_taint(value));
    node.taints.push_back(std::move(taint));
  } else if (key == "untaint") {
    std::erase_if(node.taints, [&](const api::Taint& taint) { return taint.key == value; });
  } else if (const std::optional<std::string> resource = resource_name(key)) {
    GANG_TRY(const api::Quantity quantity, parse_amount(key, value));
    node.allocatable.set(*resource, quantity);
  } else {
    set_label(node.meta.labels, key, value);
  }
  return {};
}

Result<void> apply_words(api::Node& node, const std::vector<std::string>& words,
                         std::size_t first) {
  for (std::size_t i = first; i < words.size(); ++i) {
    if (words[i] == "unschedulable" || words[i] == "cordon") {
      node.unschedulable = true;
    } else if (words[i] == "uncordon") {
      node.unschedulable = false;
    } else {
      return fail(Code::kInvalidArgument, "\"" + words[i] +
                                              "\" is no word of a node; write cordon, uncordon "
                                              "or key=value");
    }
  }
  return {};
}

api::Node default_node(const std::string& name) {
  api::Node node;
  node.meta.key.name = name;
  node.meta.labels = {{"kubernetes.io/hostname", name}};
  node.allocatable.set("cpu", api::Quantity::from_units(64));
  node.allocatable.set("memory", *api::Quantity::parse("256Gi"));
  node.allocatable.set("ephemeral-storage", *api::Quantity::parse("500Gi"));
  node.allocatable.set("pods", api::Quantity::from_units(110));
  return node;
}

std::string plural(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

Result<Lines> make_nodes(SimCluster& cluster, const Command& command) {
  if (command.words().empty()) return fail(Code::kInvalidArgument, at_least_one("node"));
  GANG_TRY(const std::vector<std::string> names, expand_names(command.words()[0]));
  std::int64_t gpu_count = 0;
  for (const std::string& name : names) {
    api::Node node = default_node(name);
    GANG_TRY_VOID(apply_words(node, command.words(), 1));
    for (const auto& [key, value] : command.options()) {
      GANG_TRY_VOID(apply_option(node, key, value));
    }
    const api::Quantity* gpus = node.allocatable.find(kGpuResource);
    if (gpus != nullptr) gpu_count += gpus->value();
    cluster.put_node(std::move(node));
  }
  std::string line = plural(names.size(), "node");
  if (gpu_count > 0) line += ", " + std::to_string(gpu_count) + " gpu";
  return Lines{line};
}

Result<Lines> change_node(SimCluster& cluster, const Command& command) {
  if (command.words().empty()) return fail(Code::kInvalidArgument, at_least_one("node"));
  GANG_TRY(const std::vector<std::string> names, expand_names(command.words()[0]));
  for (const std::string& name : names) {
    const api::Node* known = cluster.node(name);
    if (known == nullptr) return fail(Code::kNotFound, "there is no node " + name);
    api::Node node = *known;
    GANG_TRY_VOID(apply_words(node, command.words(), 1));
    for (const auto& [key, value] : command.options()) {
      GANG_TRY_VOID(apply_option(node, key, value));
    }
    cluster.put_node(std::move(node));
  }
  return Lines{plural(names.size(), "node") + " changed"};
}

}  // namespace gang::sim
