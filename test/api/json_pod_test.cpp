#include "api/json_test_support.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

std::string pod_with(const std::string& spec, const std::string& status = "{}") {
  return R"({"kind":"Pod","metadata":{"name":"a","namespace":"ml"},"spec":)" + spec +
         R"(,"status":)" + status + "}";
}

std::string unreadable(const std::string& json) {
  const auto pod = decode_pod(json);
  EXPECT_TRUE(pod) << json;
  return pod ? pod->meta.unreadable : "not decoded";
}

TEST(DecodePod, KeepsWhatSchedulingReadsOfMetadata) {
  const auto pod = decode_pod(data_file("pod.json"));
  ASSERT_TRUE(pod) << pod.error().message;
  const ObjectMeta& meta = pod->meta;
  EXPECT_EQ(meta.unreadable, "");
  EXPECT_EQ(meta.key.text(), "ml/train-0");
  EXPECT_EQ(meta.uid.text, "3c7d9a52-6f0e-4f43-9c9e-0d6f7b1f5a01");
  EXPECT_EQ(meta.resource_version.text, "48213");
  EXPECT_EQ(meta.generation, 1);
  EXPECT_EQ(format_rfc3339(meta.creation_time), "2026-11-01T08:00:00Z");
  EXPECT_FALSE(meta.deletion_time);
  EXPECT_EQ(meta.labels, (StringMap{{"app", "train"},
                                    {"batch.kubernetes.io/job-completion-index", "0"},
                                    {"batch.kubernetes.io/job-name", "train"}}));
  EXPECT_EQ(meta.annotations, (StringMap{{"gang-scheduler.dev/round", "r1"},
                                         {"scheduling.k8s.io/group-name", "old"}}));
  EXPECT_EQ(meta.controller, (ControllerRef{"Job", "train", Uid{"u-job"}, "batch"}));
}

TEST(DecodePod, KeepsTheSpec) {
  const Pod pod = *decode_pod(data_file("pod.json"));
  EXPECT_EQ(pod.scheduler_name, "gang-scheduler");
  EXPECT_EQ(pod.node_name, "");
  EXPECT_EQ(pod.priority, 1000);
  EXPECT_EQ(pod.priority_class_name, "high");
  EXPECT_EQ(pod.preemption_policy, "PreemptLowerPriority");
  EXPECT_EQ(pod.pod_group_name, "train");
  EXPECT_EQ(pod.node_selector, (StringMap{{"accelerator", "h100"}, {"zone", "a"}}));
  const NodeSelector affinity{
      {{{{"nvidia.com/gpu.count", "Gt", {"7"}}}, {{"metadata.name", "NotIn", {"n9"}}}}}};
  EXPECT_EQ(pod.required_affinity, affinity);
  EXPECT_EQ(pod.preferred_affinity,
            (std::vector<PreferredTerm>{{50, {{{"rack", "In", {"r1", "r2"}}}, {}}}}));
  EXPECT_EQ(pod.tolerations,
            (std::vector<Toleration>{{"nvidia.com/gpu", "Exists", "", "NoSchedule"},
                                     {"node.kubernetes.io/not-ready", "Exists", "", "NoExecute"}}));
  EXPECT_EQ(pod.rules, PodRules{});
  EXPECT_FALSE(pod.pod_level);
}

TEST(DecodePod, CountsContainersAndTheirHostPorts) {
  const Pod pod = *decode_pod(data_file("pod.json"));
  ASSERT_EQ(pod.containers.size(), 3u);
  EXPECT_EQ(pod.containers[0].kind, ContainerKind::kSidecar);
  EXPECT_EQ(pod.containers[1].kind, ContainerKind::kInit);
  EXPECT_EQ(pod.containers[2].kind, ContainerKind::kMain);
  const ResourceList requests = effective_requests(pod, RequestBasis::kSpec);
  EXPECT_EQ(whole("cpu", *requests.find("cpu")), 32350);
  EXPECT_EQ(requests.find("memory")->text(), "256Gi");
  EXPECT_EQ(requests.find("nvidia.com/gpu")->value(), 8);
  EXPECT_EQ(pod.host_ports,
            (std::vector<HostPort>{{"0.0.0.0", "TCP", 9100}, {"10.0.0.1", "UDP", 8080}}));
}

TEST(DecodePod, KeepsTheConditionsThatAreRead) {
  const Pod pod = *decode_pod(data_file("pod.json"));
  EXPECT_EQ(pod.phase, PodPhase::kPending);
  ASSERT_EQ(pod.conditions.size(), 1u);
  EXPECT_EQ(pod.conditions[0].type, "PodScheduled");
  EXPECT_EQ(pod.conditions[0].status, ConditionStatus::kFalse);
  EXPECT_EQ(pod.conditions[0].reason, "Unschedulable");
  EXPECT_EQ(pod.conditions[0].observed_generation, 1);
}

TEST(DecodePod, ReadsResizeStatusPerContainerAndPod) {
  const Pod pod = *decode_pod(pod_with(
      R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}],
          "resources":{"requests":{"cpu":"4"}}})",
      R"({"phase":"Running","nominatedNodeName":"n2","reason":"why",
          "containerStatuses":[{"name":"a","allocatedResources":{"cpu":"2"},
            "resources":{"requests":{"cpu":"3"}}},
                               {"name":"b","allocatedResources":{"cpu":"9"}}],
          "initContainerStatuses":[{"name":"a","allocatedResources":{"cpu":"9"}}],
          "allocatedResources":{"cpu":"5"},"resources":{"limits":{}},
          "conditions":[{"type":"PodResizePending","status":"True","reason":"Deferred"}]})"));
  EXPECT_EQ(pod.meta.unreadable, "");
  EXPECT_EQ(pod.containers[0].allocated->find("cpu")->value(), 2);
  EXPECT_EQ(pod.containers[0].actuated->find("cpu")->value(), 3);
  EXPECT_EQ(pod.pod_level->requests.find("cpu")->value(), 4);
  EXPECT_EQ(pod.pod_level->allocated->find("cpu")->value(), 5);
  EXPECT_TRUE(pod.pod_level->actuated->empty());
  EXPECT_EQ(pod.nominated_node_name, "n2");
  EXPECT_EQ(pod.status_reason, "why");
  EXPECT_EQ(pod.conditions[0].reason, "Deferred");
  EXPECT_FALSE(pod.is_terminal());
}

TEST(DecodePod, EveryRuleThatIsNotPlacedYetIsAFact) {
  struct Row {
    std::string spec;
    PodRules rules;
  };
  const std::string required = R"("requiredDuringSchedulingIgnoredDuringExecution")";
  const std::vector<Row> rows = {
      {R"({"affinity":{"podAffinity":{)" + required + R"(:[{"topologyKey":"zone"}]}}})",
       {.pod_affinity = true}},
      {R"({"affinity":{"podAntiAffinity":{)" + required + R"(:[{"topologyKey":"zone"}]}}})",
       {.pod_affinity = true}},
      {R"({"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{}]}}})",
       {}},
      {R"({"topologySpreadConstraints":[{"whenUnsatisfiable":"DoNotSchedule"}]})",
       {.topology_spread = true}},
      {R"({"topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway"}]})", {}},
      {R"({"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"c"}}]})",
       {.volumes = true}},
      {R"({"volumes":[{"name":"a","ephemeral":{}}]})", {.volumes = true}},
      {R"({"volumes":[{"name":"a","rbd":{"image":"x"}}]})", {.volumes = true}},
      {R"({"volumes":[{"name":"a","csi":{"driver":"x"}},{"name":"b","configMap":{}}]})", {}},
      {R"({"resourceClaims":[{"name":"gpu","resourceClaimName":"c"}]})", {.resource_claims = true}},
      {R"({"hostNetwork":true,"hostUsers":false})", {.declared_features = true}},
      {R"({"hostNetwork":true,"hostUsers":true})", {}},
      {R"({"hostNetwork":true})", {}},
      {R"({"containers":[{"restartPolicyRules":[{"action":"RestartAllContainers"}]}]})",
       {.declared_features = true}},
      {R"({"initContainers":[{"restartPolicyRules":[{"action":"Restart"}]}]})", {}},
      {R"({"ephemeralContainers":[{"volumeMounts":[{"bindMountOptions":["rro"]}]}]})",
       {.declared_features = true}},
  };
  for (const Row& row : rows) {
    const auto pod = decode_pod(pod_with(row.spec));
    ASSERT_TRUE(pod) << row.spec;
    EXPECT_EQ(pod->meta.unreadable, "") << row.spec;
    EXPECT_EQ(pod->rules, row.rules) << row.spec;
  }
}

TEST(DecodePod, AntiAffinityTermsNameTheirNamespaces) {
  const Pod pod = *decode_pod(pod_with(
      R"({"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[
         {"topologyKey":"zone","labelSelector":{"matchLabels":{"b":"2","a":"1"},
          "matchExpressions":[{"key":"c","operator":"Exists"}]}},
         {"topologyKey":"host","namespaces":["x","y"]},
         {"topologyKey":"host","labelSelector":{},"namespaceSelector":{}}]}}})"));
  ASSERT_EQ(pod.anti_affinity.size(), 3u);
  const LabelSelector selector{{{"a", "In", {"1"}}, {"b", "In", {"2"}}, {"c", "Exists", {}}}};
  EXPECT_EQ(pod.anti_affinity[0], (PodAntiAffinityTerm{"zone", selector, {"ml"}, std::nullopt}));
  EXPECT_EQ(pod.anti_affinity[1],
            (PodAntiAffinityTerm{"host", std::nullopt, {"x", "y"}, std::nullopt}));
  EXPECT_EQ(pod.anti_affinity[2],
            (PodAntiAffinityTerm{"host", LabelSelector{}, {}, LabelSelector{}}));
}

TEST(DecodePod, NullAndAbsentAreTheSame) {
  const auto pod = decode_pod(pod_with(
      R"({"containers":null,"nodeSelector":null,"affinity":null,"tolerations":null,"priority":null,
          "schedulingGroup":null,"schedulingGates":[],"resources":null,"overhead":null})",
      "null"));
  ASSERT_TRUE(pod);
  Pod empty;
  empty.meta.key = {"ml", "a"};
  EXPECT_EQ(*pod, empty);
}

TEST(DecodePod, OfDuplicateKeysTheLastWins) {
  const auto pod = decode_pod(
      R"({"metadata":{"name":"x","name":"a","labels":{"k":"1","j":"0","k":"2"}},
          "spec":{"priority":1},"spec":{"priority":2}})");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->meta.key.name, "a");
  EXPECT_EQ(pod->meta.labels, (StringMap{{"j", "0"}, {"k", "2"}}));
  EXPECT_EQ(pod->priority, 2);
}

TEST(DecodePod, B177QuantitiesMayBeNumbers) {
  const Pod pod = *decode_pod(pod_with(
      R"({"containers":[{"resources":{"requests":
         {"cpu":0.1,"memory":1.5,"nvidia.com/gpu":8,"x.io/e":12e1}}}]})"));
  const ResourceList& requests = pod.containers[0].requests;
  EXPECT_EQ(requests.find("cpu")->milli_value(), 100);
  EXPECT_EQ(requests.find("memory")->value(), 2);
  EXPECT_EQ(requests.find("nvidia.com/gpu")->value(), 8);
  EXPECT_EQ(requests.find("x.io/e")->value(), 120);
}

TEST(DecodePod, ABrokenFieldNamesItselfAndTheMend) {
  const std::string mend = "write a number with an optional suffix like 500m or 2Gi";
  struct Row {
    std::string spec;
    std::string unreadable;
  };
  const std::vector<Row> rows = {
      {R"({"containers":[{"resources":{"requests":{"cpu":"1,5"}}}]})",
       "spec.containers[0].resources.requests.cpu: \"1,5\" is not a quantity; " + mend},
      {R"({"containers":[{},{"resources":{"requests":{"memory":true}}}]})",
       "spec.containers[1].resources.requests.memory: true is not a quantity; " + mend},
      {R"({"overhead":{"cpu":""}})", "spec.overhead.cpu: \"\" is not a quantity; " + mend},
      {R"("x")", "spec: \"x\" is not an object; write {...}"},
      {R"({"priority":"high"})",
       "spec.priority: \"high\" is not a whole number of 32 bits; write digits only"},
      {R"({"priority":1.5})",
       "spec.priority: 1.5 is not a whole number of 32 bits; write digits only"},
      {R"({"priority":true})",
       "spec.priority: true is not a whole number of 32 bits; write digits only"},
      {R"({"priority":-2147483649})",
       "spec.priority: -2147483649 is out of range; write a whole number of 32 bits"},
      {R"({"priority":"-5"})", "spec.priority: \"-5\" is text; remove the quotes"},
      {R"({"priority":"99999999999"})",
       "spec.priority: \"99999999999\" is text; remove the quotes"},
      {R"({"priority":2147483648})",
       "spec.priority: 2147483648 is out of range; write a whole number of 32 bits"},
      {R"({"nodeName":7})", "spec.nodeName: 7 is not a string; put it in quotes"},
      {R"({"containers":{}})", "spec.containers: an object is not a list; write [...]"},
      {R"({"affinity":[]})", "spec.affinity: a list is not an object; write {...}"},
      {R"({"nodeSelector":{"zone":1}})",
       "spec.nodeSelector.zone: 1 is not a string; put it in quotes"},
      {R"({"hostNetwork":"yes"})",
       "spec.hostNetwork: \"yes\" is not a boolean; write true or false"},
      {R"({"containers":[{"ports":[{"hostPort":70000}]}]})",
       "spec.containers[0].ports[0].hostPort: 70000 is no port; write 1 to 65535"},
      {R"({"containers":[{"ports":[{"hostPort":-1}]}]})",
       "spec.containers[0].ports[0].hostPort: -1 is no port; write 1 to 65535"},
      {R"({"containers":[{"ports":[{"hostPort":"80"}]}]})",
       "spec.containers[0].ports[0].hostPort: \"80\" is text; remove the quotes"},
      {R"({"tolerations":["x"]})", "spec.tolerations[0]: \"x\" is not an object; write {...}"},
  };
  for (const Row& row : rows) EXPECT_EQ(unreadable(pod_with(row.spec)), row.unreadable);
}

TEST(DecodePod, BrokenMetadataLeavesTheNameReadable) {
  EXPECT_EQ(unreadable(R"({"metadata":{"name":"a","creationTimestamp":"yesterday"}})"),
            "metadata.creationTimestamp: \"yesterday\" is not a time; write RFC 3339 like "
            "2026-11-30T01:02:03Z");
  EXPECT_EQ(unreadable(R"({"metadata":{"name":"a","labels":["x"]}})"),
            "metadata.labels: a list is not an object; write {...}");
  EXPECT_EQ(unreadable(R"({"metadata":{"name":"a"},"spec":{"priority":1e999}})"),
            "the object: a number before byte 49 is out of range; write it as a string or smaller");
}

TEST(DecodePod, FailsOnlyWithoutAnObjectOrAUsableName) {
  for (const std::string json :
       {"", "x", "[]", "1", "null", "{", R"({"metadata":{"name":"a"})", R"({"metadata":{}})",
        R"({"metadata":{"name":1}})", R"({"metadata":{"name":""}})",
        R"({"metadata":{"name":"a/b"}})", R"({"metadata":{"name":".."}})",
        R"({"metadata":{"name":"a\nb"}})", R"({"metadata":"a"})",
        R"({"metadata":{"name":"a","namespace":"x/y"}})",
        R"({"kind":"Node","metadata":{"name":"a"}})", "{\"metadata\":{\"name\":\"\xFF\"}}",
        R"({"metadata":{"name":"a"}} x)"}) {
    const auto pod = decode_pod(json);
    ASSERT_FALSE(pod) << json;
    EXPECT_EQ(pod.error().code, Code::kInvalidArgument) << json;
    EXPECT_NE(pod.error().message.find("; "), std::string::npos) << pod.error().message;
  }
  EXPECT_TRUE(decode_pod("{\"metadata\":{\"name\":\"" + std::string(253, 'a') + "\"}}"));
  EXPECT_FALSE(decode_pod("{\"metadata\":{\"name\":\"" + std::string(254, 'a') + "\"}}"));
}

std::string nested(const std::string& open, const std::string& close, int levels) {
  std::string text;
  for (int i = 0; i < levels; ++i) text += open;
  text += "1";
  for (int i = 0; i < levels; ++i) text += close;
  return text;
}

TEST(DecodePod, UnreadPartsMayNestAsDeepAsTheyLikeAndReadOnesOnly64Levels) {
  const std::string deep = nested("[", "]", 1'000'000);
  EXPECT_EQ(unreadable(R"({"other":)" + deep + R"(,"metadata":{"name":"a","managedFields":)" +
                       deep + "}}"),
            "");
  EXPECT_EQ(unreadable(pod_with(R"({"tolerations":[{"x":)" + nested("{\"a\":", "}", 40) + "}]}")),
            "");
  const std::string problem =
      unreadable(pod_with(R"({"tolerations":[{"x":)" + nested("[", "]", 1'000) + "}]}"));
  EXPECT_EQ(problem.substr(0, 26), "spec.tolerations[0].x[0][0") << problem;
  EXPECT_NE(problem.find(": nested deeper than 64 levels; make it flatter"), std::string::npos);
}

}  // namespace
}  // namespace gang::api
