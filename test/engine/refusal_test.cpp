#include "engine/refusal.h"

#include <gtest/gtest.h>

#include "engine/class_rules.h"
#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

constexpr const char* kMend =
    " is not supported by this release; make the object anew without it, or give all pods of the "
    "group another scheduler";

/// A pod rule and its words.
struct RuleRow {
  api::PodRules rules;
  const char* words;
};

TEST(Refusal, NamesTheRuleOfAPodThatIsNotBuilt) {
  const RuleRow rows[] = {
      {{.pod_affinity = true},
       "requiredDuringSchedulingIgnoredDuringExecution of spec.affinity.podAffinity or "
       "spec.affinity.podAntiAffinity (inter-pod affinity)"},
      {{.topology_spread = true},
       "whenUnsatisfiable DoNotSchedule in spec.topologySpreadConstraints (topology spread)"},
      {{.volumes = true}, "a claim or a disk in spec.volumes (volumes that choose nodes)"},
      {{.declared_features = true},
       "RestartAllContainers in spec.containers[].restartPolicyRules, "
       "spec.containers[].volumeMounts[].bindMountOptions or spec.hostNetwork with "
       "spec.hostUsers false (declared node features)"},
  };
  for (const RuleRow& row : rows) {
    TestCluster cluster;
    cluster.add(node("n1")).add(pod_group("g").min(1));
    cluster.add(pod("plain").group("g"));
    cluster.add(pod("odd").group("g").rules(row.rules));
    const Explanation explanation = cluster.refused("g");
    const std::string text = std::string("pod default/odd: ") + row.words + kMend;
    EXPECT_EQ(explanation.verdict, Verdict::kRuleNotBuilt);
    EXPECT_EQ(explanation.message, text);
    EXPECT_EQ(text_of(explanation, "plain"), text);
    EXPECT_EQ(text_of(explanation, "odd"), text);
  }
}

TEST(Refusal, SaysTheSameOfALonePod) {
  TestCluster cluster;
  cluster.add(node("n1")).add(pod("p").rules({.volumes = true}));
  EXPECT_EQ(cluster.refused("p").message,
            std::string("pod default/p: a claim or a disk in spec.volumes (volumes that choose "
                        "nodes)") +
                kMend);
}

TEST(Refusal, NamesTheRuleOfAGroupThatIsNotBuilt) {
  TestCluster cluster;
  cluster.add(node("n1")).add(pod_group("g").parent("tree")).add(pod("a").group("g"));
  EXPECT_EQ(cluster.refused("g").message,
            std::string("PodGroup default/g: spec.parentCompositePodGroupName (composite pod "
                        "group)") +
                kMend);
}

TEST(Refusal, NamesAnObjectThatCannotBeRead) {
  TestCluster cluster;
  cluster.add(node("n1")).add(pod_group("g").min(1));
  cluster.add(pod("a").group("g").unreadable("spec.priority: not a number; write one"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kInvalid);
  EXPECT_EQ(explanation.message, "pod default/a: spec.priority: not a number; write one");

  cluster.update(pod_group("g").unreadable("spec.schedulingPolicy: unknown; use basic or gang"));
  EXPECT_EQ(cluster.refused("g").message,
            "PodGroup default/g: spec.schedulingPolicy: unknown; use basic or gang");
}

TEST(Refusal, WaitsForAGroupThatDoesNotExist) {
  TestCluster cluster;
  cluster.add(node("n1")).add(pod("a").group("g"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kWaitingForGroup);
  EXPECT_EQ(explanation.message, "waiting for PodGroup g");
  EXPECT_EQ(text_of(explanation, "a"), "waiting for PodGroup g");
}

TEST(Refusal, WaitsForPodsAndLeavesThoseThatExistAlone) {
  TestCluster cluster;
  cluster.add(node("n1")).add(pod_group("g").min(3));
  cluster.add(pod("a").group("g")).add(pod("b").group("g").gate("x"));
  const Explanation explanation = cluster.refused("g");
  EXPECT_EQ(explanation.verdict, Verdict::kWaitingForPods);
  EXPECT_EQ(explanation.message, "1 of 3 pods exist; 1 gated");
  EXPECT_TRUE(explanation.members.empty());
}

TEST(Refusal, LimitsTheNumberOfDifferentResources) {
  cluster::Gang gang;
  gang.key = {.name_space = "default", .name = "p"};
  gang.counts.pending = 1;
  auto pod_class = std::make_shared<cluster::PodClass>();
  for (std::uint16_t i = 0; i < kRequestsMax; ++i) {
    pod_class->requests.push_back({.resource = {i}, .amount = 1});
  }
  gang.members = {{.key = gang.key, .class_index = 0}};
  gang.classes = {pod_class};
  EXPECT_EQ(refusal_of(gang), std::nullopt);
  EXPECT_TRUE(is_placeable(*pod_class));
  pod_class->requests.push_back({.resource = {std::uint16_t{kRequestsMax}}, .amount = 1});
  EXPECT_FALSE(is_placeable(*pod_class));
  const std::optional<Refusal> refusal = refusal_of(gang);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->verdict, Verdict::kInvalid);
  EXPECT_EQ(refusal->message,
            "pod default/p: spec.containers[].resources.requests: 49 different resources; "
            "ask for at most 48");
}

}  // namespace
}  // namespace gang::engine
