#include "api/json_test_support.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

TEST(DecodeNode, KeepsAllocatableTaintsAndLabels) {
  const auto node = decode_node(data_file("node.json"));
  ASSERT_TRUE(node) << node.error().message;
  EXPECT_EQ(node->meta.unreadable, "");
  EXPECT_EQ(node->meta.key.text(), "h100-a");
  EXPECT_TRUE(node->unschedulable);
  EXPECT_EQ(node->taints,
            (std::vector<Taint>{{"nvidia.com/gpu", "present", TaintEffect::kNoSchedule},
                                {"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule},
                                {"soft", "", TaintEffect::kPreferNoSchedule},
                                {"out", "", TaintEffect::kNoExecute},
                                {"odd", "", TaintEffect::kOther}}));
  EXPECT_EQ(node->allocatable.find("nvidia.com/gpu")->value(), 7);
  EXPECT_EQ(whole("cpu", *node->allocatable.find("cpu")), 95500);
  EXPECT_EQ(node->meta.labels.size(), 2u);
  EXPECT_TRUE(node->meta.annotations.empty());
}

TEST(DecodeNode, B177AllocatableMayBeFractionsAndExponents) {
  const Node node = *decode_node(
      R"({"metadata":{"name":"n"},"status":{"allocatable":
          {"memory":"1.5Ti","cpu":"7910m","ephemeral-storage":"9e11"}}})");
  EXPECT_EQ(node.allocatable.find("memory")->value(), 1649267441664);
  EXPECT_EQ(whole("cpu", *node.allocatable.find("cpu")), 7910);
  EXPECT_EQ(node.allocatable.find("ephemeral-storage")->value(), 900000000000);
}

TEST(DecodeNode, B179AWrongSpellingTakesOnlyItsOwnResourceOffTheNode) {
  for (const std::string text : {"6 GiB", "6GB", "0x10", "1,5Gi", ""}) {
    const Node node = *decode_node(R"({"metadata":{"name":"n"},"status":{"allocatable":
        {"memory":")" + text + R"(","cpu":"4"}}})");
    EXPECT_EQ(node.meta.unreadable, "") << text;
    EXPECT_EQ(node.unreadable_resources, std::vector<std::string>{"memory"}) << text;
    EXPECT_TRUE(node.allocatable.find("memory")->is_zero()) << text;
    EXPECT_EQ(node.allocatable.find("cpu")->value(), 4);
  }
}

TEST(DecodeNode, ABrokenTaintListMakesItUnreadable) {
  const Node node = *decode_node(R"({"metadata":{"name":"n"},"spec":{"taints":"x"}})");
  EXPECT_EQ(node.meta.unreadable, "spec.taints: \"x\" is not a list; write [...]");
}

TEST(DecodeNode, KeepsWhetherNodeOperationsAreOptional) {
  const auto is_declared = [](const std::string& features) {
    const Node node = *decode_node(R"({"metadata":{"name":"n"},"status":{"declaredFeatures":[)" +
                                   features + "]}}");
    return node.optional_node_operations;
  };
  EXPECT_FALSE(is_declared(""));
  EXPECT_FALSE(is_declared(R"("RestartAllContainersOnContainerExits")"));
  EXPECT_TRUE(is_declared(R"("A","DRAOptionalNodeOperations","Z")"));
}

TEST(DecodePodGroup, KeepsTheWholeSpec) {
  const auto group = decode_pod_group(data_file("podgroup.json"));
  ASSERT_TRUE(group) << group.error().message;
  EXPECT_EQ(group->meta.unreadable, "");
  EXPECT_EQ(group->spec, (GroupSpec{.parent_name = "whole",
                                    .workload_name = "train",
                                    .template_name = "worker",
                                    .policy = GroupPolicy::kGang,
                                    .min_count = 4,
                                    .topology_keys = {"rack"},
                                    .disruption_mode = DisruptionMode::kAll,
                                    .priority = 1000,
                                    .priority_class_name = "high",
                                    .preemption_policy = "Never"}));
  EXPECT_EQ(group->claims.size(), 1U);
  ASSERT_EQ(group->conditions.size(), 1u);
  EXPECT_EQ(group->conditions[0].type, kInitiallyScheduled);
}

TEST(DecodePodGroup, PresenceOfTheKeySelectsThePolicy) {
  const PodGroup group = *decode_pod_group(
      R"({"metadata":{"name":"g"},"spec":{"schedulingPolicy":{"basic":{},"gang":null}}})");
  EXPECT_EQ(group.meta.unreadable, "");
  EXPECT_EQ(group.spec, GroupSpec{});
}

TEST(DecodePodGroup, AnUnknownUnionMemberIsNeverGuessed) {
  struct Row {
    std::string from;
    std::string to;
    std::string unreadable;
  };
  const std::string policy = R"({"gang":{"minCount":4}})";
  const std::vector<Row> rows = {
      {policy, R"({"swarm":{}})",
       "spec.schedulingPolicy.swarm: is not known to this scheduler; use basic or gang"},
      {policy, R"({"gang":{"minCount":4},"basic":{}})",
       "spec.schedulingPolicy: has more than one member; keep basic or gang"},
      {policy, "{}",
       "spec.schedulingPolicy: no schedulingPolicy is set; write basic: {} or gang: {minCount: "
       "<number>}"},
      {policy, "null",
       "spec: no schedulingPolicy is set; write basic: {} or gang: {minCount: <number>}"},
      {policy, R"({"gang":{"minCount":0}})",
       "spec.schedulingPolicy.gang.minCount: 0 is below 1; write 1 or more"},
      {policy, R"({"gang":{"minCount":-3}})",
       "spec.schedulingPolicy.gang.minCount: -3 is below 1; write 1 or more"},
      {policy, R"({"gang":{"minCount":"2"}})",
       "spec.schedulingPolicy.gang.minCount: \"2\" is text; remove the quotes"},
      {policy, R"({"gang":{}})",
       "spec.schedulingPolicy.gang: minCount is missing; write 1 or more"},
      {policy, R"({"gang":3})", "spec.schedulingPolicy.gang: 3 is not an object; write {...}"},
      {R"({"all":{}})", R"({"some":{}})",
       "spec.disruptionMode.some: is not known to this scheduler; use single or all"},
      {R"({"topology":[{"key":"rack"}]})", R"({"power":[]})",
       "spec.schedulingConstraints.power: is not known to this scheduler; use topology"},
      {R"([{"key":"rack"}])", R"([{"key":"rack"},{"key":"block"}])",
       "spec.schedulingConstraints.topology: has more than one entry; keep one"},
      {R"([{"key":"rack"}])", R"([{}])",
       "spec.schedulingConstraints.topology[0]: key is missing; write the key of a node label"},
      {R"([{"key":"rack"}])", R"([{"key":"a/b/c"}])",
       "spec.schedulingConstraints.topology[0].key: \"a/b/c\" is no label key; write one such as "
       "example.com/rack"},
      {R"([{"key":"rack"}])", R"([{"key":"rack","mode":"Preferred"}])",
       "spec.schedulingConstraints.topology[0].mode: is not known to this scheduler; use key"},
      {R"([{"key":"rack"}])", R"({"key":"rack"})",
       "spec.schedulingConstraints.topology: an object is not a list; write [...]"},
  };
  for (const Row& row : rows) {
    const auto group = decode_pod_group(replaced(data_file("podgroup.json"), row.from, row.to));
    ASSERT_TRUE(group) << row.to;
    EXPECT_EQ(group->meta.unreadable, row.unreadable);
    EXPECT_GE(group->spec.min_count, 1);
  }
}

TEST(DecodeObject, CompositePodGroupCountsGroups) {
  std::string json = replaced(data_file("podgroup.json"), "minCount", "minGroupCount");
  json = replaced(json, "PodGroup\",\"apiVersion\"", "CompositePodGroup\",\"apiVersion\"");
  const auto object = decode_object(Kind::kCompositePodGroup, json);
  ASSERT_TRUE(object) << object.error().message;
  const auto& group = std::get<CompositePodGroup>(*object);
  EXPECT_EQ(group.meta.unreadable, "");
  EXPECT_EQ(group.spec.min_count, 4);
}

TEST(DecodeObject, WorkloadKeepsItsTreeOfTemplates) {
  const auto object = decode_object(Kind::kWorkload, data_file("workload.json"));
  ASSERT_TRUE(object) << object.error().message;
  const auto& workload = std::get<Workload>(*object);
  EXPECT_EQ(workload.meta.unreadable, "");
  EXPECT_EQ(workload.controller_kind, "Job");
  EXPECT_EQ(workload.controller_name, "serve");
  ASSERT_EQ(workload.templates.size(), 1u);
  const GroupTemplate& replica = workload.templates[0];
  EXPECT_TRUE(replica.is_composite);
  EXPECT_EQ(replica.spec.min_count, 2);
  ASSERT_EQ(replica.children.size(), 2u);
  EXPECT_EQ(replica.children[0].name, "prefill");
  EXPECT_EQ(replica.children[0].spec.topology_keys, std::vector<std::string>{"rack"});
  EXPECT_EQ(replica.children[0].spec.priority, 7);
  EXPECT_EQ(replica.children[0].claims.size(), 2U);
  EXPECT_EQ(replica.children[1].spec.policy, GroupPolicy::kBasic);
}

TEST(DecodeObject, PriorityClassAndNamespace) {
  const auto high = decode_object(
      Kind::kPriorityClass,
      R"({"kind":"PriorityClass","metadata":{"name":"high"},"value":1000,"globalDefault":true,
          "description":"x","preemptionPolicy":"Never"})");
  ASSERT_TRUE(high) << high.error().message;
  const auto& value = std::get<PriorityClass>(*high);
  EXPECT_EQ(value.value, 1000);
  EXPECT_TRUE(value.global_default);
  EXPECT_EQ(value.preemption_policy, "Never");

  const auto ml = decode_object(
      Kind::kNamespace,
      R"({"metadata":{"name":"ml","labels":{"team":"a"}},"status":{"phase":"Active"}})");
  ASSERT_TRUE(ml) << ml.error().message;
  EXPECT_EQ(std::get<Namespace>(*ml).meta.labels, (StringMap{{"team", "a"}}));
}

TEST(DecodeObject, AFinishedPodIsAPod) {
  const auto object = decode_object(Kind::kFinishedPod,
                                    R"({"metadata":{"name":"a"},"status":{"phase":"Succeeded"}})");
  ASSERT_TRUE(object);
  EXPECT_TRUE(std::get<Pod>(*object).is_terminal());
}

TEST(DecodeListMeta, HasTheVersionAndTheContinueToken) {
  const auto meta = decode_list_meta(
      R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"abc",
          "remainingItemCount":3},"items":[]})");
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->resource_version.text, "9");
  EXPECT_EQ(meta->continue_token, "abc");
  EXPECT_FALSE(decode_list_meta("[]"));
  EXPECT_FALSE(decode_list_meta(R"({"metadata":{"continue":1}})"));
}

TEST(DecodeDiscovery, NamesVersionsAndResourcesWithoutSubresources) {
  EXPECT_EQ(*decode_group_versions(
                R"({"kind":"APIGroup","versions":
              [{"groupVersion":"g/v1","version":"v1"},{"version":"v1beta1"}]})"),
            (std::vector<std::string>{"v1", "v1beta1"}));
  EXPECT_EQ(*decode_resource_names(
                R"({"resources":[{"name":"podgroups"},{"name":"podgroups/status"},
              {"name":"workloads"}]})"),
            (std::vector<std::string>{"podgroups", "workloads"}));
  EXPECT_FALSE(decode_group_versions("{}"));
  EXPECT_FALSE(decode_resource_names("404 page not found"));
}

}  // namespace
}  // namespace gang::api
