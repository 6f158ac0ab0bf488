#include <algorithm>

#include "api/json_kinds.h"

namespace gang::api {
namespace {

constexpr Want kTaintWants[] = {Want("key"), Want("value"), Want("effect")};
constexpr Want kSpecWants[] = {Want("unschedulable"), Want("taints", kTaintWants)};
constexpr Want kStatusWants[] = {Want("allocatable"), Want("declaredFeatures")};
constexpr Want kNodeWants[] = {Want("kind"), Want("metadata", kMetaWants), Want("spec", kSpecWants),
                               Want("status", kStatusWants)};
constexpr Want kNamespaceWants[] = {Want("kind"), Want("metadata", kMetaWants)};

TaintEffect effect_from(std::string_view text) {
  if (text == "NoSchedule") return TaintEffect::kNoSchedule;
  if (text == "PreferNoSchedule") return TaintEffect::kPreferNoSchedule;
  return text == "NoExecute" ? TaintEffect::kNoExecute : TaintEffect::kOther;
}

/// A quantity that cannot be read takes only its own resource off the node.
void decode_allocatable(JsonView allocatable, Node& node, JsonReader& reader) {
  if (!allocatable.is(JsonType::kObject)) {
    if (allocatable.exists()) reader.refuse(allocatable, "is not an object; write {...}");
    return;
  }
  for (JsonView value = allocatable.first(); value.valid(); value = value.next()) {
    const std::string name(value.key());
    std::erase(node.unreadable_resources, name);  // of duplicate keys the last wins
    node.allocatable.set(name, Quantity());
    if (!value.exists()) continue;
    std::string why;
    if (const auto amount = JsonReader::quantity(value, why)) {
      node.allocatable.set(name, *amount);
    } else {
      node.unreadable_resources.push_back(name);
    }
  }
  std::sort(node.unreadable_resources.begin(), node.unreadable_resources.end());
}

}  // namespace

constinit const Want kNodeWant("", kNodeWants);
constinit const Want kNamespaceWant("", kNamespaceWants);

Result<Node> node_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  Node node;
  GANG_TRY(node.meta, decode_meta(json, "Node", reader));
  node.meta.key.name_space.clear();
  const JsonView spec = reader.at(json, "spec");
  node.unschedulable = reader.flag(spec, "unschedulable");
  const JsonView taints = reader.at(spec, "taints");
  for (JsonView taint = reader.first(taints); taint.valid(); taint = taint.next()) {
    node.taints.push_back({reader.text(taint, "key"), reader.text(taint, "value"),
                           effect_from(reader.text(taint, "effect"))});
  }
  const JsonView status = reader.at(json, "status");
  decode_allocatable(reader.at(status, "allocatable"), node, reader);
  const JsonView features = reader.at(status, "declaredFeatures");
  for (JsonView one = reader.first(features); one.valid(); one = one.next()) {
    node.optional_node_operations |= reader.text(one) == "DRAOptionalNodeOperations";
  }
  node.meta.unreadable = reader.problem();
  return node;
}

Result<Namespace> namespace_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  Namespace name_space;
  GANG_TRY(name_space.meta, decode_meta(json, "Namespace", reader));
  name_space.meta.key.name_space.clear();
  name_space.meta.unreadable = reader.problem();
  return name_space;
}

}  // namespace gang::api
