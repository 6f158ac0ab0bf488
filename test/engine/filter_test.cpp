// Rows A to E of the conformance table of the scheduling contract, and the case book on filters.
#include "engine/filter.h"

#include <gtest/gtest.h>

#include <set>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::NodeBuilder;
using test::pod;
using test::PodBuilder;

constexpr const char* kTaintText = "node(s) had untolerated taint(s)";
constexpr const char* kAffinityText = "node(s) didn't match Pod's node affinity/selector";
constexpr const char* kPortsText = "node(s) didn't have free ports for the requested pod ports";
constexpr const char* kCordonText = "node(s) were unschedulable";

/// "" when the pod is placed on the single node n1, else its reasons, joined by ", ".
std::string verdict_on(const NodeBuilder& n1, const PodBuilder& wanted,
                       const std::vector<PodBuilder>& running = {}, const Options& options = {}) {
  TestCluster cluster(options);
  cluster.add(n1);
  for (const PodBuilder& one : running) cluster.add(one);
  cluster.add(wanted);
  Decision decision = cluster.decide(wanted.build().meta.key.name);
  if (std::holds_alternative<Plan>(decision)) return "";
  std::string text;
  for (const Reason& reason : std::get<Explanation>(decision).reasons) {
    text += (text.empty() ? "" : ", ") + reason.text;
  }
  return text;
}

PodBuilder small() {
  return pod("p").cpu("100m");
}
PodBuilder old(const char* name = "old") {
  return pod(name).on("n1");
}

TEST(Filter, A01ToA04CountWhatHoldsTheNode) {
  const PodBuilder foreign = pod("f").scheduler("other").cpu("4");
  EXPECT_EQ(verdict_on(node("n1"), small(), {foreign}), "");
  EXPECT_EQ(verdict_on(node("n1"), small(), {PodBuilder(foreign).on("n1")}), "Insufficient cpu");
  EXPECT_EQ(verdict_on(node("n1"), small(),
                       {PodBuilder(foreign).on("n1").phase(api::PodPhase::kSucceeded)}),
            "");
  EXPECT_EQ(verdict_on(node("n1"), small(), {PodBuilder(foreign).on("n1").deleting()}),
            "Insufficient cpu");
}

TEST(Filter, B01ToB03CompareWithWhatIsFree) {
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("4")), "");
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("4001m")), "Insufficient cpu");
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("4"), {old().cpu("1m")}), "Insufficient cpu");
}

TEST(Filter, B04AZeroRequestFitsAnOvercommittedNode) {
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("0").memory("0"), {old().cpu("5")}), "");
}

TEST(Filter, B05B06CountPodSlots) {
  EXPECT_EQ(verdict_on(node("n1").pods(1), pod("p"), {old()}), "Too many pods");
  EXPECT_EQ(verdict_on(node("n1").pods(2), pod("p"), {old()}), "");
  EXPECT_EQ(verdict_on(node("n1").pods(0), pod("p")), "Too many pods");
}

TEST(Filter, B07B08NameEveryResourceThatIsShort) {
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("2").memory("5Gi"), {old().cpu("3").memory("4Gi")}),
            "Insufficient cpu, Insufficient memory");
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("2").memory("9Gi"), {old().cpu("3")}),
            "Insufficient cpu, Insufficient memory");
}

TEST(Filter, B09ToB11CountExtendedResources) {
  const auto gpu = [](const char* count) { return pod("p").request("example.com/gpu", count); };
  EXPECT_EQ(verdict_on(node("n1"), gpu("1")), "Insufficient example.com/gpu");
  EXPECT_EQ(verdict_on(node("n1").offers("example.com/gpu", "2"), gpu("1"),
                       {old().request("example.com/gpu", "2")}),
            "Insufficient example.com/gpu");
  EXPECT_EQ(verdict_on(node("n1"), gpu("0")), "");
}

TEST(Filter, B21B25ToB28FollowTheUnitsOfTheResource) {
  EXPECT_EQ(verdict_on(node("n1").memory("1500m"), pod("p").memory("2")), "");
  EXPECT_EQ(verdict_on(node("n1").offers("hugepages-2Mi", "2Mi"),
                       pod("p").request("hugepages-2Mi", "4Mi")),
            "Insufficient hugepages-2Mi");
  EXPECT_EQ(verdict_on(node("n1").offers("ephemeral-storage", "2Gi"),
                       pod("p").request("ephemeral-storage", "2Gi"),
                       {old().request("ephemeral-storage", "1")}),
            "Insufficient ephemeral-storage");
  EXPECT_EQ(verdict_on(node("n1").cpu("4"), pod("p").cpu("5")), "Insufficient cpu");
  EXPECT_EQ(verdict_on(node("n1"), pod("p").request("storage", "1Ti")), "");
}

/// One taint against one toleration.
struct TaintRow {
  const char* name;
  api::Taint taint;
  std::vector<api::Toleration> tolerations;
  bool gate;
  const char* expected;
};

TEST(Filter, C01ToC09MatchTaintsAndTolerations) {
  constexpr api::TaintEffect kNoSchedule = api::TaintEffect::kNoSchedule;
  const TaintRow rows[] = {
      {"C01", {"a", "b", kNoSchedule}, {}, false, kTaintText},
      {"C02", {"a", "b", kNoSchedule}, {{"a", "Equal", "b", ""}}, false, ""},
      {"C03", {"a", "b", kNoSchedule}, {{"a", "Equal", "b", "NoExecute"}}, false, kTaintText},
      {"C04", {"a", "b", api::TaintEffect::kNoExecute}, {{"", "Exists", "", ""}}, false, ""},
      {"C05", {"a", "b", api::TaintEffect::kPreferNoSchedule}, {}, false, ""},
      {"C06", {"level", "5", kNoSchedule}, {{"level", "Gt", "3", ""}}, false, kTaintText},
      {"C07", {"level", "5", kNoSchedule}, {{"level", "Gt", "3", ""}}, true, ""},
      {"C08", {"level", "05", kNoSchedule}, {{"level", "Gt", "3", ""}}, true, kTaintText},
      {"C09", {"level", "5", kNoSchedule}, {{"level", "Lt", "5", ""}}, true, kTaintText},
  };
  for (const TaintRow& row : rows) {
    NodeBuilder n1 = node("n1");
    n1.taint(row.taint.key, row.taint.value, row.taint.effect);
    PodBuilder wanted = small();
    for (const api::Toleration& toleration : row.tolerations) wanted.tolerates(toleration);
    EXPECT_EQ(verdict_on(n1, wanted, {}, {.toleration_comparison = row.gate}), row.expected)
        << row.name;
  }
}

TEST(Filter, C10C11CordonedNodesTakeOnlyTolerantPods) {
  const char* cordon = "node.kubernetes.io/unschedulable";
  const NodeBuilder n1 = node("n1").unschedulable().taint(cordon);
  EXPECT_EQ(verdict_on(n1, small()), kCordonText);
  EXPECT_EQ(verdict_on(n1, small().tolerates({cordon, "Exists", "", "NoSchedule"})), "");
}

api::NodeSelectorTerm label(const char* key, const char* op, std::vector<std::string> values) {
  return {.expressions = {{.key = key, .op = op, .values = std::move(values)}}};
}

api::NodeSelectorTerm named(const char* op, const char* name) {
  return {.fields = {{.key = "metadata.name", .op = op, .values = {name}}}};
}

TEST(Filter, D01ToD06MatchSelectorsAndTerms) {
  EXPECT_EQ(verdict_on(node("n1").label("x", "2"), small().selects("x", "1")), kAffinityText);
  EXPECT_EQ(verdict_on(node("n1").label("x", "1"), small().selects("x", "1")), "");
  EXPECT_EQ(verdict_on(node("n1").label("x", "1"),
                       small().requires_term({}).requires_term(label("x", "In", {"1"}))),
            "");
  const PodBuilder above = small().requires_term(label("m", "Gt", {"3"}));
  EXPECT_EQ(verdict_on(node("n1").label("m", "4"), above), "");
  EXPECT_EQ(verdict_on(node("n1").label("m", "3"), above), kAffinityText);
  EXPECT_EQ(verdict_on(node("n1").label("m", "abc"), above), kAffinityText);
  EXPECT_EQ(verdict_on(node("n1"), above), kAffinityText);
  EXPECT_EQ(verdict_on(node("n1"), small().requires_term(label("m", "NotIn", {"a"}))), "");
}

TEST(Filter, D02AnEmptyListOfTermsMatchesNoNode) {
  api::Pod wanted = small();
  wanted.required_affinity = api::NodeSelector{};
  TestCluster cluster;
  cluster.add(node("n1")).add(api::Object(wanted));
  EXPECT_EQ(cluster.refused("p").message,
            std::string("0/1 nodes are available: 1 ") + kAffinityText + ".");
}

TEST(Filter, D07ToD09TermsThatNameNodesRestrictTheCandidates) {
  TestCluster cluster;
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) cluster.add(node(name));
  cluster.add(old().cpu("4"));
  cluster.add(pod("d07").cpu("100m").requires_term(named("In", "n9")));
  EXPECT_EQ(cluster.refused("d07").message,
            "0/5 nodes are available: 5 node(s) didn't satisfy plugin(s) [NodeAffinity].");
  api::NodeSelectorTerm conflict = named("In", "n1");
  conflict.fields.push_back(named("In", "n2").fields.front());
  cluster.add(pod("d08").cpu("100m").requires_term(conflict));
  EXPECT_EQ(cluster.refused("d08").message,
            "0/5 nodes are available: pod affinity terms conflict.");
  cluster.add(pod("d09").cpu("100m").requires_term(named("In", "n1")));
  EXPECT_EQ(cluster.refused("d09").message,
            "0/5 nodes are available: 1 Insufficient cpu, "
            "4 node(s) didn't satisfy plugin(s) [NodeAffinity].");
}

TEST(Filter, D10AMalformedTermDoesNotSpoilTheOthers) {
  EXPECT_EQ(verdict_on(node("n1").label("x", "1"), small()
                                                       .requires_term(label("x", "Gt", {"1", "2"}))
                                                       .requires_term(label("x", "In", {"1"}))),
            "");
}

TEST(Filter, E01ToE06CompareHostPorts) {
  const auto wants = [](const char* protocol, const char* ip) {
    return small().host_port(80, protocol, ip);
  };
  const PodBuilder any = old().host_port(80);
  const PodBuilder local = old().host_port(80, "TCP", "127.0.0.1");
  EXPECT_EQ(verdict_on(node("n1"), wants("TCP", "0.0.0.0"), {any}), kPortsText);
  EXPECT_EQ(verdict_on(node("n1"), wants("UDP", "0.0.0.0"), {any}), "");
  EXPECT_EQ(verdict_on(node("n1"), wants("TCP", "10.0.0.1"), {local}), "");
  EXPECT_EQ(verdict_on(node("n1"), wants("TCP", "0.0.0.0"), {local}), kPortsText);
}

TEST(Filter, B187HostIpAndProtocolDecideAPortConflict) {
  const PodBuilder foreign =
      old("f").scheduler("default-scheduler").host_port(8080, "TCP", "127.0.0.1");
  const auto verdict = [&foreign](const char* protocol, const char* ip) {
    return verdict_on(node("n1"), small().host_port(8080, protocol, ip), {foreign});
  };
  EXPECT_EQ(verdict("TCP", "127.0.0.2"), "");
  EXPECT_EQ(verdict("UDP", "127.0.0.1"), "");
  EXPECT_EQ(verdict("TCP", "0.0.0.0"), kPortsText);
  EXPECT_EQ(verdict_on(node("n1"), small(), {foreign}), "");
}

TEST(Filter, B189NumericTolerationsCompareTheTaintWithTheToleration) {
  const char* key = "node.example.com/sla";
  for (const auto& [op, expected] :
       {std::pair{"Gt", std::string("n1")}, std::pair{"Lt", std::string("n2")}}) {
    TestCluster cluster({.toleration_comparison = true});
    cluster.add(node("n1").taint(key, "950")).add(node("n2").taint(key, "800"));
    cluster.add(node("n3").taint(key, "high")).add(node("n4").taint(key, "0950"));
    cluster.add(pod("p").cpu("4").tolerates({key, op, "900", "NoSchedule"}));
    EXPECT_EQ(cluster.placed("p"), "p=" + expected);
    cluster.add(pod("full").on(expected).cpu("4"));
    EXPECT_EQ(cluster.refused("p").message,
              "0/4 nodes are available: 1 Insufficient cpu, 3 node(s) had untolerated taint(s).");
  }
}

TEST(Filter, B193AffinityNumbersAndTerms) {
  TestCluster cluster;
  cluster.add(node("n1").label("mem", "200")).add(node("n2").label("mem", "150.1"));
  cluster.add(node("n3").label("mem", "abc"));
  cluster.add(pod("a").requires_term(label("mem", "Gt", {"150"})));
  cluster.add(pod("b").requires_term(named("In", "n3")).requires_term(label("mem", "Lt", {"160"})));
  cluster.add(pod("c").requires_term({}));
  cluster.add(pod("d").requires_term(label("mem", "Gt", {"150.1"})));
  EXPECT_EQ(cluster.placed("a"), "a=n1");
  EXPECT_EQ(cluster.placed("b"), "b=n3");
  for (const char* name : {"c", "d"}) {
    EXPECT_EQ(cluster.refused(name).message,
              std::string("0/3 nodes are available: 3 ") + kAffinityText + ".");
  }
}

TEST(Filter, RefusesANodeThatCouldNotBeRead) {
  EXPECT_EQ(verdict_on(node("n1").unreadable("status.allocatable.cpu: 4x; mend it"), small()),
            "node(s) could not be read");
}

TEST(Filter, ShowsOnlyTheFirstFilterThatRefuses) {
  EXPECT_EQ(verdict_on(node("n1").unschedulable().taint("a"), small().selects("no", "label")),
            kCordonText);
  EXPECT_EQ(verdict_on(node("n1").taint("a"), small().selects("no", "label")), kTaintText);
  EXPECT_EQ(verdict_on(node("n1"), pod("p").cpu("5").host_port(80), {old().host_port(80)}),
            kPortsText);
}

TEST(Filter, EveryFilterHasANameAndItsLinesStandInTheirOrder) {
  std::vector<std::string> names;
  for (const FactsFilter& filter : facts_filters()) names.emplace_back(filter.name);
  for (const UsageFilter& filter : usage_filters()) names.emplace_back(filter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"NodeReadable", "NodeAffinity", "NodeAffinity",
                                             "NodeUnschedulable", "TaintToleration", "NodeAffinity",
                                             "ExtendedResourceClaim", "NodePorts",
                                             "NodeResourcesFit", "InterPodAffinity"}));
}

}  // namespace
}  // namespace gang::engine
