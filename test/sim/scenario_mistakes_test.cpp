// What a scenario must not say: each mistake has one error with the field and the mend, and changes
// nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "gang/sim/scenario.h"

namespace gang::sim {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

/// A small world: nodes n1 n2, group g, its pod g-0, a gated pod and one that has ended.
constexpr const char* kWorld =
    "# test\n"
    "nodes n[1-2] gpu=1 taint=old:NoSchedule\n----\n\n"
    "gang g pods=1\n----\n\n"
    "pods gated gate=quota\n----\n\n"
    "pods ended\n----\n\n"
    "finish ended\n----\n\n";

std::string outputs_of(const std::string& text) {
  const auto result = run_scenario(text, ::testing::TempDir(), ScenarioMode::kRewrite);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->text : "";
}

/// What the last of the commands answers.
std::string answer(const std::string& head, const std::string& command) {
  const std::string text = outputs_of(head + command + "\n----\n");
  return text.substr(text.rfind("----\n") + 5);
}

void expect_answers(const std::string& head, const Rows& rows) {
  for (const auto& [command, expected] : rows) {
    EXPECT_EQ(answer(head, command).substr(0, expected.size()), expected) << command;
  }
}

TEST(ScenarioMistakes, FormOfAVerb) {
  expect_answers(
      kWorld,
      {
          {"fly n1", "error: \"fly\" is no verb; write one of advance, config, "},
          {"nodes", "error: a word is missing; write: nodes NAME [cordon] [key=value]..."},
          {"cycle twice", "error: \"twice\" is one word too many; write: cycle"},
          {"cycle gpu=1", "error: gpu=: cycle does not read it; write: cycle"},
          {"plan g h", "error: \"h\" is one word too many; write: plan GANG"},
          {"show", "error: a word is missing; write: show pods|queue|"},
          {"show all", "error: write: show pods|queue|conditions|events|writes|nodes"},
          {"restart now", "error: \"now\" is one word too many; write: restart"},
          {"restart", "error: the daemon is up already"},
          {"group h pods=3", "error: pods=: group does not read it; write: group NAME"},
          {"group h mni=3", "error: mni=: group does not read it"},
          {"group h basci", "error: \"basci\" is no word of a group; write basic, or a range"},
          {"gang h basci pods=2",
           "error: group: \"basci\" is a second name; write gangs for several"},
          {"pods p min=3", "error: min=: pods does not read it"},
          {"pods p weight=1",
           "error: \"weight\" is no option of a pod and no resource; see the verbs'"},
          {"finish g-0 gpu=1", "error: gpu=: finish does not read it"},
          {"update group g", "error: write: update group NAME min=N"},
          {"update group g min=2 priority=3", "error: priority=: update does not read it"},
          {"crash after=0", "error: after=0 is not allowed; write a whole number from 1 to 100000"},
      });
}

TEST(ScenarioMistakes, SomethingTwice) {
  expect_answers(
      kWorld,
      {
          {"nodes n[2-3]",
           "error: node: n2 is there already; choose another name, or change it with: "},
          {"group g",
           "error: group: default/g is there already; choose another name, or update or "},
          {"gang g pods=1",
           "error: pod: default/g-0 is there already; choose another name, or delete"},
          {"pods x g-0", "error: pod: default/g-0 is there already"},
          {"running gated on=n1", "error: pod: default/gated is there already"},
          {"pods x x", "error: pod: x is named twice; keep one"},
          {"gangs a a", "error: group: a is named twice; keep one"},
          {"nodes n3 gpu=1 gpu=2", "error: gpu= is there twice; keep one"},
          {"pods x selector.a=1 selector.a=2", "error: selector.a= is there twice; keep one"},
          {"pods x gate=a gate=a", "error: gate=a is there twice; keep one"},
          {"node n1 taint=old:NoSchedule",
           "error: taint=old: the node has one of this key and effect"},
          {"pods a/x namespace=b", "error: namespace=b: \"a/x\" has its own; keep one of the two"},
          {"group h basic min=2", "error: min=: a basic group has no minimum; keep one of the two"},
          {"finish ended", "error: pod default/ended has ended already; name another"},
          {"serve Node", "error: Node is served already; unserve it first"},
          {"restore watch Pod", "error: Pod is watched; drop the watch first"},
      });
}

TEST(ScenarioMistakes, SomethingThatIsNotThere) {
  expect_answers(
      kWorld,
      {
          {"fail bind g-7 conflict",
           "error: there is no pod default/g-7; make it first, or write the"},
          {"fail bind g-0",
           "error: write: fail bind POD conflict|error|timeout|executed|throttled|"},
          {"running r on=n9", "error: on=n9: there is no node n9; make it with: nodes n9"},
          {"running r[1-3] on=n[1-2]",
           "error: on=n[1-2] names 2 nodes; write one, or one for each pod"},
          {"running r", "error: running needs on=NODE"},
          {"node n9 gpu=1", "error: there is no node n9; make it with: nodes n9"},
          {"node n1 untaint=new",
           "error: untaint=new: the node has no such taint; write the key of"},
          {"finish p", "error: there is no pod default/p; write the name of one"},
          {"ungate ended", "error: pod default/ended has no scheduling gate; name one that has"},
          {"update group h min=1", "error: there is no group h"},
          {"delete node n1 n9", "error: there is no node n9; write its name"},
          {"delete car x", "error: \"car\": write pod, group or node"},
          {"delete node n1 grace=3s", "error: grace=: only a pod has one; leave it out"},
          {"plan h", "error: there is no gang h"},
          {"drop watch Car", "error: \"Car\" is no kind; write one like Pod or PodGroup"},
          {"restore watch Pod soon", "error: \"soon\": write: restore watch KIND [expired]"},
      });
}

TEST(ScenarioMistakes, NumbersOutOfRange) {
  expect_answers(
      kWorld,
      {
          {"nodes n3 gpu=-1", "error: gpu=-1 is below 0; write 0 or more"},
          {"nodes n3 gpu=two", "error: gpu=two: "},
          {"node n1 cpu=-1m", "error: cpu=-1m is below 0; write 0 or more"},
          {"pods x cpu=-1", "error: cpu=-1 is below 0; write 0 or more"},
          {"pods x sidecar.memory=-1", "error: memory=-1 is below 0; write 0 or more"},
          {"pods x gpu=500m", "error: gpu=500m divides what is counted; write a whole number"},
          {"pods x gpu=", "error: gpu=: "},
          {"pods x port=80000", "error: port=80000 is no port; write 1 to 65535, like 8471,"},
          {"pods x port=0", "error: port=0 is no port"},
          {"pods x port=80/ICMP", "error: port=80/ICMP is no port"},
          {"pods x port=80@here", "error: port=80@here is no port"},
          {"pods x priority=1000000001",
           "error: priority=1000000001 is not allowed; write a whole number"},
          {"group h priority=1000000001", "error: priority=1000000001 is not allowed"},
          {"group h min=0",
           "error: min=0 is not allowed; write a whole number from 1 to 2147483647"},
          {"gang h pods=-1",
           "error: pods=-1 is not allowed; write a whole number from 0 to 100000"},
          {"gangs a b pods=50001",
           "error: pods=50001 is not allowed; write a whole number from 0 to"},
          {"gang h pods=x", "error: pods=x is not allowed"},
          {"update group g min=-3", "error: min=-3 is not allowed"},
          {"fail bind g-0 error times=0",
           "error: times=0 is not allowed; write a whole number from 1"},
          {"nodes n[3-999999]",
           "error: \"n[3-999999]\" stands for more than 100000 names, the most"},
          {"pods a[1-100000] b",
           "error: pod: more than 100000 names in one command, the most; split"},
          {"advance soon", "error: advance: \"soon\" is not a duration"},
          {"advance 9000h", "error: advance: 9000h is longer than 8760h, the most; write less"},
          {"delete pod g-0 grace=-1s", "error: grace=: \"-1s\" is not a duration"},
      });
}

TEST(ScenarioMistakes, NamesThatKubernetesRefuses) {
  expect_answers(
      kWorld,
      {
          {"nodes N1",
           "error: node: \"N1\" is no name in Kubernetes; write at most 253 of a-z, 0-9,"},
          {"nodes a..b", "error: node: \"a..b\" is no name"},
          {"nodes a/b", "error: node: \"a/b\" is no name"},
          {"pods p_1", "error: pod: \"p_1\" is no name"},
          {"pods -p", "error: pod: \"-p\" is no name"},
          {"pods a.b/p",
           "error: pod: namespace: \"a.b\" is no namespace; write at most 63 of a-z,"},
          {"pods p]", "error: pod: \"p]\" is no name"},
          {"pods p namespace=", "error: namespace=: \"\" is no namespace"},
          {"pods p group=G", "error: group=: \"G\" is no name"},
          {"pods p scheduler=", "error: scheduler=: \"\" is no name"},
          {"pods p gate=a/b/c",
           "error: gate=: \"a/b/c\" is no key; write at most 63 letters, digits,"},
          {"pods p selector.=a", "error: selector.: \"\" is no key"},
          {"pods p selector.a=b/c",
           "error: selector.a=: \"b/c\" is no value of a label or taint; write"},
          {"pods p uses=magic",
           "error: uses=magic is unknown; write pod-affinity, topology-spread,"},
          {"pods p affinity=pool",
           "error: affinity=pool is not key:Operator:values; write one like"},
          {"pods p affinity=pool:Is:a",
           "error: affinity=pool:Is:a has no such operator; write In or"},
          {"pods p affinity=pool:Gt:1,2", "error: affinity=pool:Gt:1,2 has no such operator"},
          {"pods p tolerate=old:Never",
           "error: tolerate=old:Never is no toleration; write key, key:No"},
          {"pods p tolerate=a:Equal:b:c", "error: tolerate=a:Equal:b:c is no toleration"},
          {"nodes n3 wings",
           "error: \"wings\" is no word of a node; write cordon, uncordon or key=val"},
          {"nodes n3 taint=a", "error: taint=a has no effect; write key=value:Effect"},
          {"nodes n3 taint=a:Never", "error: \"Never\" is no taint effect; write NoSchedule, "},
          {"nodes n3 taint=:NoSchedule", "error: taint=: \"\" is no key"},
          {"nodes n3 pool=a/b", "error: label pool: \"a/b\" is no value"},
          {"nodes n3 -pool=a", "error: label: \"-pool\" is no key"},
          {"group H", "error: group: \"H\" is no name"},
          {"group h topology=a/b/c", "error: topology=: \"a/b/c\" is no key"},
          {"group h parent=R", "error: parent=: \"R\" is no name"},
          {"gangs g[0-", "error: \"g[0-\" is not a name range; write one like n[1-3]"},
      });
}

TEST(ScenarioMistakes, OptionsOfTheDaemon) {
  expect_answers(
      "# test\n",
      {
          {"config", "error: no option is named; write: config key=value"},
          {"config speed=1", "error: no option \"speed\"; write one of "},
          {"config gated_members=no",
           "error: gated_members: \"no\" is not allowed; write leave_out or"},
          {"config search_steps_max=0",
           "error: search_steps_max: \"0\" is not allowed; write a whole"},
          {"config repair_deadline=0s",
           "error: repair_deadline: \"0s\" is not allowed; write a duration"},
          {"config gated_members=hold gated_members=hold", "error: gated_members= is there twice"},
      });
}

TEST(ScenarioMistakes, ChangeNothing) {
  const std::string head = std::string(kWorld) + "nodes n3 n2\n----\n\nnodes n[2-3]\n----\n\n" +
                           "gangs h g pods=2\n----\n\npods x g-0\n----\n\n" +
                           "delete pod gated nobody\n----\n\n";
  EXPECT_EQ(answer(head, "show pods"),
            "ended  succeeded\n"
            "g-0  pending\n"
            "gated  pending, SchedulingGated: Scheduling is blocked due to non-empty scheduling "
            "gates\n");
  EXPECT_EQ(answer(head, "show conditions"), "g  no condition\n");
  EXPECT_EQ(answer(head, "nodes n3"), "1 node\n");
}

TEST(ScenarioMistakes, AreListedWithTheirLines) {
  const auto result =
      run_scenario("# test\nnodes n1 gpu=-1\n----\n\ncycle\n----\n\nnodes N\n----\n", ".",
                   ScenarioMode::kRewrite);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->mistakes.size(), 2U);
  EXPECT_EQ(result->mistakes[0], "line 2: gpu=-1 is below 0; write 0 or more");
  EXPECT_EQ(result->mistakes[1].substr(0, 8), "line 8: ");
}

TEST(ScenarioMistakes, FilesThatLoad) {
  const std::string folder = ::testing::TempDir();
  const auto load = [&](const std::string& yaml) {
    std::ofstream(folder + "/odd.yaml") << yaml;
    return answer("# test\nnodes n1\n----\n\n", "load odd.yaml");
  };
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
  const std::string fresh = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
  const std::string where = "error: " + folder + "/odd.yaml: ";
  EXPECT_EQ(load(""), where + "holds no object; write one with kind and name\n");
  EXPECT_EQ(load(node),
            where + "Node: n1 is there already; choose another name, or delete it first\n");
  EXPECT_EQ(load(fresh + "---\n" + fresh),
            where + "Pod default/p is in the file twice; keep one\n");
  EXPECT_EQ(load("apiVersion: v1\nkind: Pod\nmetadata: {name: P}\n").substr(0, where.size() + 25),
            where + "Pod metadata.name: \"P\" is");
  EXPECT_EQ(load("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"),
            "0 objects\nskipped Namespace x\n");
  EXPECT_EQ(answer("# test\n", "load ."),
            "error: " + folder + "/.: is a directory; name the files in it\n");
  EXPECT_EQ(answer("# test\n", "load no.yaml"),
            "error: " + folder + "/no.yaml: cannot be read; name an existing file\n");
}

}  // namespace
}  // namespace gang::sim
