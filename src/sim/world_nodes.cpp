// nodes and node: Node objects from options.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/name_rules.h"
#include "sim/resource_words.h"
#include "sim/taint_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// `taint` is the whole word, for the error.
Result<api::TaintEffect> taint_effect(const std::string& taint, const std::string& text) {
  if (text == "NoSchedule") return api::TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return api::TaintEffect::kPreferNoSchedule;
  if (text == "NoExecute") return api::TaintEffect::kNoExecute;
  return fail(Code::kInvalidArgument,
              "taint=" + taint + ": \"" + text +
                  "\" is no effect; write NoSchedule, PreferNoSchedule or NoExecute");
}

Result<api::Taint> parse_taint(const std::string& text) {
  GANG_TRY(TaintWords words, parse_taint_words(text, "NoSchedule, PreferNoSchedule or NoExecute"));
  GANG_TRY(const api::TaintEffect effect, taint_effect(text, words.effect));
  api::Taint taint;
  taint.key = std::move(words.key);
  taint.value = std::move(words.value);
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

/// A node has one taint of a key and effect.
Result<void> add_taint(api::Node& node, api::Taint taint) {
  const bool is_double =
      std::any_of(node.taints.begin(), node.taints.end(), [&](const api::Taint& known) {
        return known.key == taint.key && known.effect == taint.effect;
      });
  if (is_double) {
    return fail(Code::kAlreadyExists, "taint=" + taint.key +
                                          ": the node has one of this key and effect; untaint it "
                                          "first");
  }
  node.taints.push_back(std::move(taint));
  return {};
}

Result<void> apply_option(api::Node& node, const std::string& key, const std::string& value) {
  if (key == "taint") {
    GANG_TRY(api::Taint taint, parse_taint(value));
    GANG_TRY_VOID(add_taint(node, std::move(taint)));
  } else if (key == "untaint") {
    const std::size_t gone =
        std::erase_if(node.taints, [&](const api::Taint& taint) { return taint.key == value; });
    if (gone == 0) {
      return fail(Code::kNotFound,
                  "untaint=" + value + ": the node has no such taint; write the key of one");
    }
  } else if (const std::optional<std::string> resource = resource_name(key)) {
    GANG_TRY(const api::Quantity quantity, parse_amount(key, *resource, value));
    node.allocatable.set(*resource, quantity);
  } else {
    GANG_TRY_VOID(check_key("label", key));
    GANG_TRY_VOID(check_value("label " + key, value));
    set_label(node.meta.labels, key, value);
  }
  return {};
}

Result<void> apply_words(api::Node& node, const Command& command) {
  for (std::size_t i = 1; i < command.words().size(); ++i) {
    const std::string& word = command.words()[i];
    if (word == "unschedulable" || word == "cordon") {
      node.unschedulable = true;
    } else if (word == "uncordon") {
      node.unschedulable = false;
    } else {
      return fail(Code::kInvalidArgument, "\"" + word +
                                              "\" is no word of a node; write cordon, uncordon "
                                              "or key=value");
    }
  }
  return {};
}

Result<void> apply(api::Node& node, const Command& command) {
  GANG_TRY_VOID(apply_words(node, command));
  for (const auto& [key, value] : command.options()) {
    GANG_TRY_VOID(apply_option(node, key, value));
  }
  return {};
}

/// The nodes of the first word: the other words change them.
Result<std::vector<api::ObjectKey>> named_nodes(const Command& command) {
  GANG_TRY(const Command first, Command::parse(command.verb() + " " + command.words()[0]));
  return named_objects(first, 0, "node");
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
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_nodes(command));
  std::vector<api::Node> nodes;
  std::int64_t gpu_count = 0;
  for (const api::ObjectKey& key : keys) {
    if (cluster.node(key.name) != nullptr) {
      return is_there("node", key, "change it with: node " + key.name);
    }
    api::Node node = default_node(key.name);
    GANG_TRY_VOID(apply(node, command));
    const api::Quantity* gpus = node.allocatable.find(kGpuResource);
    if (gpus != nullptr) gpu_count += gpus->value();
    nodes.push_back(std::move(node));
  }
  for (api::Node& node : nodes) cluster.put(std::move(node));
  std::string line = plural(keys.size(), "node");
  if (gpu_count > 0) line += ", " + std::to_string(gpu_count) + " gpu";
  return Lines{line};
}

Result<Lines> change_node(SimCluster& cluster, const Command& command) {
  GANG_TRY(const std::vector<api::ObjectKey> keys, named_nodes(command));
  std::vector<api::Node> nodes;
  for (const api::ObjectKey& key : keys) {
    const api::Node* known = cluster.node(key.name);
    if (known == nullptr) {
      return is_not_there(cluster, "node", key);
    }
    nodes.push_back(*known);
    GANG_TRY_VOID(apply(nodes.back(), command));
  }
  for (api::Node& node : nodes) cluster.put(std::move(node));
  return Lines{plural(keys.size(), "node") + " changed"};
}

}  // namespace gang::sim
