#include "api/json_device.h"
#include "api/json_kinds.h"

namespace gang::api {
namespace {

constexpr Want kControllerWants[] = {Want("kind"), Want("name")};
// Templates nest in themselves: they are kept whole, as deep as parsing allows.
constexpr Want kSpecWants[] = {Want("controllerRef", kControllerWants), Want("podGroupTemplates"),
                               Want("compositePodGroupTemplates")};
constexpr Want kWorkloadWants[] = {Want("kind"), Want("metadata", kMetaWants),
                                   Want("spec", kSpecWants)};
constexpr Want kPriorityClassWants[] = {Want("kind"), Want("metadata", kMetaWants), Want("value"),
                                        Want("globalDefault"), Want("preemptionPolicy")};

std::vector<GroupTemplate> templates_from(JsonView parent, JsonReader& reader);

/// Recursion ends at kDepthMax of the parsed tree.
GroupTemplate template_from(JsonView json, bool is_composite, JsonReader& reader) {
  GroupTemplate result;
  result.name = reader.text(json, "name");
  result.is_composite = is_composite;
  result.spec = group_spec_from(json, is_composite ? "minGroupCount" : "minCount", reader);
  result.claims = claim_entries_from(reader.at(json, "resourceClaims"), reader);
  if (is_composite) result.children = templates_from(json, reader);
  return result;
}

/// Both lists of a Workload's spec or of a composite template: leaves first.
std::vector<GroupTemplate> templates_from(JsonView parent, JsonReader& reader) {
  std::vector<GroupTemplate> templates;
  for (const bool is_composite : {false, true}) {
    const JsonView list =
        reader.at(parent, is_composite ? "compositePodGroupTemplates" : "podGroupTemplates");
    for (JsonView json = reader.first(list); json.valid(); json = json.next()) {
      templates.push_back(template_from(json, is_composite, reader));
    }
  }
  return templates;
}

}  // namespace

constinit const Want kWorkloadWant("", kWorkloadWants);
constinit const Want kPriorityClassWant("", kPriorityClassWants);

Result<Workload> workload_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  Workload workload;
  GANG_TRY(workload.meta, decode_meta(json, "Workload", reader));
  const JsonView spec = reader.at(json, "spec");
  const JsonView controller = reader.at(spec, "controllerRef");
  workload.controller_kind = reader.text(controller, "kind");
  workload.controller_name = reader.text(controller, "name");
  workload.templates = templates_from(spec, reader);
  workload.meta.unreadable = reader.problem();
  return workload;
}

Result<PriorityClass> priority_class_from(JsonView json, std::string problem) {
  JsonReader reader(std::move(problem));
  PriorityClass priority_class;
  GANG_TRY(priority_class.meta, decode_meta(json, "PriorityClass", reader));
  priority_class.meta.key.name_space.clear();
  priority_class.value = reader.int32(json["value"], 0);
  priority_class.global_default = reader.flag(json, "globalDefault");
  priority_class.preemption_policy = reader.text(json, "preemptionPolicy");
  priority_class.meta.unreadable = reader.problem();
  return priority_class;
}

}  // namespace gang::api
