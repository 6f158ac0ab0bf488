#include "api/json_device.h"
#include "api/json_kinds.h"
#include "gang/api/names.h"
#include "gang/base/utf8.h"

namespace gang::api {
namespace {

constexpr Want kStatusWants[] = {Want("conditions", kConditionWants),
                                 Want("resourceClaimStatuses", kClaimStatusWants)};
constexpr Want kWorkloadRefWants[] = {Want("workloadName"), Want("templateName")};
// Unions are kept whole: a member that is unknown here must be seen, not pruned.
constexpr Want kSpecWants[] = {Want("parentCompositePodGroupName"),
                               Want("workloadRef", kWorkloadRefWants),
                               Want("schedulingPolicy"),
                               Want("schedulingConstraints"),
                               Want("resourceClaims", kClaimEntryWants),
                               Want("disruptionMode"),
                               Want("priorityClassName"),
                               Want("priority"),
                               Want("preemptionPolicy")};
constexpr Want kGroupWants[] = {Want("kind"), Want("metadata", kMetaWants),
                                Want("spec", kSpecWants), Want("status", kStatusWants)};

/// Entries of schedulingConstraints.topology that the API allows.
constexpr std::size_t kTopologyKeysMax = 1;
/// Bytes of a wrong text that are repeated.
constexpr std::size_t kShownMax = 80;

/// The two members that a union may have.
struct Union {
  std::string_view first_name;
  std::string_view second_name;
};

/// The member that is set, or nothing; refuses unknown members and more than one.
JsonView union_member(JsonView json, const Union& members, JsonReader& reader) {
  JsonView found;
  if (!json.is(JsonType::kObject)) {
    if (json.exists()) reader.refuse(json, "is not an object; write {...}");
    return found;
  }
  for (JsonView member = json.first(); member.valid(); member = member.next()) {
    if (!member.exists()) continue;
    const bool known = member.key() == members.first_name || member.key() == members.second_name;
    if (!known) {
      reader.refuse(member, "is not known to this scheduler; use " +
                                std::string(members.first_name) + " or " +
                                std::string(members.second_name));
    } else if (found.valid() && found.key() != member.key()) {
      reader.refuse(json, "has more than one member; keep " + std::string(members.first_name) +
                              " or " + std::string(members.second_name));
    }
    if (known) found = member;
  }
  return found;
}

/// REQUIRES: `json` is what has the member schedulingPolicy.
void decode_policy(JsonView json, std::string_view count_key, GroupSpec& spec, JsonReader& reader) {
  const JsonView policy = reader.at(json, "schedulingPolicy");
  const JsonView member = union_member(policy, {"basic", "gang"}, reader);
  if (!member.valid()) {
    reader.refuse(policy.valid() ? policy : json,
                  "no schedulingPolicy is set; write basic: {} or gang: {" +
                      std::string(count_key) + ": <number>}");
    return;
  }
  if (member.key() == "basic") return;
  spec.policy = GroupPolicy::kGang;
  const JsonView count = reader.at(member, count_key);
  spec.min_count = reader.int32(count, 0);
  if (spec.min_count >= 1) return;
  if (count.exists()) {
    reader.refuse(count, std::to_string(spec.min_count) + " is below 1; write 1 or more");
  }
  reader.refuse(member, std::string(count_key) + " is missing; write 1 or more");
  spec.min_count = 1;
}

void refuse_others(JsonView object, std::string_view known, JsonReader& reader) {
  for (JsonView member = object.first(); member.valid(); member = member.next()) {
    if (!member.exists() || member.key() == known) continue;
    reader.refuse(member, "is not known to this scheduler; use " + std::string(known));
  }
}

/// The key of one topology constraint; "" where it is refused.
std::string topology_key_from(JsonView json, JsonReader& reader) {
  const JsonView key = reader.at(json, "key");
  std::string text = reader.text(key);
  if (!key.exists()) {
    reader.refuse(json, "key is missing; write the key of a node label");
  } else if (!is_qualified_name(text)) {
    reader.refuse(key, "\"" + std::string(cut_text(text, kShownMax)) +
                           "\" is no label key; write one such as example.com/rack");
  }
  if (json.is(JsonType::kObject)) refuse_others(json, "key", reader);
  return text;
}

void decode_constraints(JsonView json, GroupSpec& spec, JsonReader& reader) {
  if (!json.exists()) return;
  const JsonView topology = reader.at(json, "topology");
  if (json.is(JsonType::kObject)) refuse_others(json, "topology", reader);
  for (JsonView entry = reader.first(topology); entry.valid(); entry = entry.next()) {
    spec.topology_keys.push_back(topology_key_from(entry, reader));
  }
  if (spec.topology_keys.size() > kTopologyKeysMax) {
    reader.refuse(topology, "has more than one entry; keep one");
  }
}

}  // namespace

constinit const Want kPodGroupWant("", kGroupWants);

GroupSpec group_spec_from(JsonView json, std::string_view count_key, JsonReader& reader) {
  GroupSpec spec;
  spec.parent_name = reader.text(json, "parentCompositePodGroupName");
  const JsonView reference = reader.at(json, "workloadRef");
  spec.workload_name = reader.text(reference, "workloadName");
  spec.template_name = reader.text(reference, "templateName");
  decode_policy(json, count_key, spec, reader);
  decode_constraints(reader.at(json, "schedulingConstraints"), spec, reader);
  const JsonView mode = union_member(reader.at(json, "disruptionMode"), {"single", "all"}, reader);
  spec.disruption_mode =
      mode.valid() && mode.key() == "all" ? DisruptionMode::kAll : DisruptionMode::kSingle;
  spec.priority = reader.int32(reader.at(json, "priority"), 0);
  spec.priority_class_name = reader.text(json, "priorityClassName");
  spec.preemption_policy = reader.text(json, "preemptionPolicy");
  return spec;
}

Result<PodGroup> pod_group_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  PodGroup group;
  GANG_TRY(group.meta, decode_meta(json, "PodGroup", reader));
  const JsonView spec = reader.at(json, "spec");
  group.spec = group_spec_from(spec, "minCount", reader);
  group.claims = claim_entries_from(reader.at(spec, "resourceClaims"), reader);
  const JsonView status = reader.at(json, "status");
  group.claim_statuses = claim_statuses_from(reader.at(status, "resourceClaimStatuses"), reader);
  group.conditions = decode_conditions(reader.at(status, "conditions"), reader);
  group.meta.unreadable = reader.problem();
  return group;
}

Result<CompositePodGroup> composite_pod_group_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  CompositePodGroup group;
  GANG_TRY(group.meta, decode_meta(json, "CompositePodGroup", reader));
  group.spec = group_spec_from(reader.at(json, "spec"), "minGroupCount", reader);
  group.conditions = decode_conditions(reader.at(reader.at(json, "status"), "conditions"), reader);
  group.meta.unreadable = reader.problem();
  return group;
}

}  // namespace gang::api
