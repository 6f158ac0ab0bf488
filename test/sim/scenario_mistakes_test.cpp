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
          {"fly n1", "error: \"fly\" is no verb; write one of advance, allocate, claim, "},
          {"nodes", "error: nodes: a word is missing; write: nodes NAME [cordon] [key=value]..."},
          {"cycle twice", "error: cycle: \"twice\" is one word too many; write: cycle"},
          {"cycle gpu=1", "error: cycle: gpu= is not read here; write: cycle"},
          {"plan g h", "error: plan: \"h\" is one word too many; write: plan GANG"},
          {"show", "error: show: a word is missing; write: show pods|queue|"},
          {"show all", "error: show: \"all\" is nothing to show; write: show pods|queue|"},
          {"restart now", "error: restart: \"now\" is one word too many; write: restart"},
          {"restart", "error: restart: the daemon is up already; write crash first"},
          {"group h pods=3", "error: group: pods= is not read here; write: group NAME"},
          {"group h mni=3", "error: group: mni= is not read here"},
          {"group h basci",
           "error: group: \"basci\" is no word of a group; write basic, or a range"},
          {"gang h basci pods=2",
           "error: gang: group: \"basci\" is a second name; write gangs for several"},
          {"pods p min=3", "error: pods: min= is not read here"},
          {"pods p weight=1",
           "error: pods: weight= is no option of a pod and no resource; write one of affinity, "},
          {"finish g-0 gpu=1", "error: finish: gpu= is not read here"},
          {"update group g", "error: update: min= is missing; write: update group NAME min=N"},
          {"update group g min=2 priority=3", "error: update: priority= is not read here"},
          {"crash after=0",
           "error: crash: after=0 is not allowed; write a whole number from 1 to 100000"},
          {"crash after=1 writes=1", "error: crash: after= counts Bindings, writes= all; keep one"},
      });
}

TEST(ScenarioMistakes, WordsOfDevicesAndClaims) {
  expect_answers(
      std::string(kWorld) + "devices n1 gpu=2 driver=d.example.com\n----\n\n" +
          "claim c class=gpu\n----\n\ntemplate t class=gpu\n----\n\n",
      {
          {"devices n2 driver=d.example.com",
           "error: devices: the count of devices is missing; write: devices NODE gpu=2 "},
          {"devices n2 gpu=2", "error: devices: driver= is missing; write: devices NODE gpu=2 "},
          {"devices n2 gpu=0 driver=d", "error: devices: gpu=0 is not allowed; write a whole "},
          {"devices n2 gpu=1 nic=1 driver=d",
           "error: devices: nic= is a second kind of devices beside gpu="},
          {"devices n1 gpu=1 driver=d.example.com",
           "error: devices: slice n1-d.example.com is there already; choose another name, or "
           "write: republish n1"},
          {"devices n9 gpu=1 driver=d", "error: devices: there is no node n9; write one of n1, "},
          {"republish n2", "error: republish: node n2 has no such devices; make them with: "},
          {"device n1/gpu-7 taint=a:NoExecute", "error: device: no device of that name changes"},
          {"device n1/gpu-0 taint=a:PreferNoSchedule",
           "error: device: taint=a:PreferNoSchedule: \"PreferNoSchedule\" is no effect; write "
           "NoSchedule, NoExecute or None"},
          {"device n1/gpu-0 taint=a", "error: device: taint=a has no effect; write "},
          {"rule r pool=n1", "error: rule: taint= is missing; write taint=key:NoSchedule"},
          {"claim d", "error: claim: class= is missing; write class=NAME"},
          {"claim c class=gpu", "error: claim: claim c is there already"},
          {"claim d class=gpu all count=2", "error: claim: count=: all devices have no count"},
          {"claim d class=gpu selector=\"device.\"",
           "error: claim: selector=device.: compilation failed: ERROR: "},
          {"class d selector=\"nothing\"", "error: class: selector=nothing: compilation failed: "},
          {"claim d class=gpu gpu=1", "error: claim: gpu= is not read here; write: claim NAME..."},
          {"template t class=gpu tolerate=a:PreferNoSchedule",
           "error: template: tolerate=a:PreferNoSchedule is no toleration of a device"},
          {"class g selector=\"a b", "error: selector= has a quote that does not end its word"},
          {"pods p shared=c", "error: pods: shared= is not read here"},
          {"pods p claim=c claim=c", "error: pods: claim=c: the entry c is there twice; keep one"},
          {"pods p claim=t",
           "error: pods: claim.t=t: that is a template, and no claim; write claim.t=template:t"},
          {"gang h pods=1 claim.gpu=t",
           "error: gang: claim.gpu=t: that is a template, and no claim"},
          {"group h claim=t", "error: group: claim.t=t: that is a template, and no claim"},
          {"pods p claim=a.b", "error: pods: claim=a.b: \"a.b\" is no name of an entry; write "},
          {"allocate c n1/gpu-7", "error: allocate: there is no device n1/gpu-7; write "},
          {"allocate c n1/gpu-0 for=z", "error: allocate: for=: there is no pod z; "},
          {"deallocate c", "error: deallocate: claim c has no devices; name another"},
          {"condition c x.org/ready=True",
           "error: condition: claim c has no devices; name another"},
          {"delete claim z", "error: delete: there is no claim z; write one of c, or make it "},
      });
}

TEST(ScenarioMistakes, SomethingTwice) {
  expect_answers(
      kWorld,
      {
          {"nodes n[2-3]",
           "error: nodes: node n2 is there already; choose another name, or change it with: "},
          {"group g", "error: group: group g is there already; choose another name, or update or "},
          {"gang g pods=1",
           "error: gang: pod g-0 is there already; choose another name, or delete"},
          {"pods x g-0", "error: pods: pod g-0 is there already"},
          {"running gated on=n1", "error: running: pod gated is there already"},
          {"pods x x", "error: pods: pod x is named twice; keep one"},
          {"gangs a a", "error: gangs: group a is named twice; keep one"},
          {"nodes n3 gpu=1 gpu=2", "error: nodes: gpu= is there twice; keep one"},
          {"pods x selector.a=1 selector.a=2", "error: pods: selector.a= is there twice; keep one"},
          {"pods x gate=a gate=a", "error: pods: gate=a is there twice; keep one"},
          {"node n1 taint=old:NoSchedule",
           "error: node: taint=old: the node has one of this key and effect"},
          {"pods a/x namespace=b",
           "error: pods: namespace=b: \"a/x\" has its own; keep one of the two"},
          {"group h basic min=2",
           "error: group: min=: a basic group has no minimum; keep one of the two"},
          {"finish ended", "error: finish: pod ended has ended already; name another"},
          {"serve Node", "error: serve: Node is served already; unserve it first"},
          {"restore watch Pod", "error: restore: Pod is watched; drop the watch first"},
      });
}

TEST(ScenarioMistakes, SomethingThatIsNotThere) {
  expect_answers(
      kWorld,
      {
          {"fail bind g-7 conflict",
           "error: fail: there is no pod g-7; write one of ended, g-0, gated, or make it with: "},
          {"fail bind g-0",
           "error: fail: a word is missing; write: fail bind POD|status POD|claim CLAIM|intent "
           "GANG conflict|error|timeout|executed|late|throttled|forbidden [times=3] [after=1]"},
          {"fail",
           "error: fail: a word is missing; write: fail POD... [reason=OutOfcpu], or fail bind "
           "POD|status POD|claim CLAIM|intent GANG "
           "conflict|error|timeout|executed|late|throttled|forbidden [times=3] [after=1]"},
          {"fail claim c conflict", "error: fail: there is no claim c; make it with: claim c"},
          {"fail intent z conflict",
           "error: fail: there is no group z; write one of g, or make it with: group z"},
          {"running r on=n9",
           "error: running: on=n9: there is no node n9; write one of n1, n2, or make it with: "},
          {"running r[1-3] on=n[1-2]",
           "error: running: on=n[1-2] names 2 nodes; write one, or one for each pod"},
          {"running r", "error: running: on= is missing; write on=NODE"},
          {"running r on=", "error: running: on= names no node; write on=NODE"},
          {"node n9 gpu=1",
           "error: node: there is no node n9; write one of n1, n2, or make it with: nodes n9"},
          {"node n1 untaint=new",
           "error: node: untaint=new: the node has no such taint; write the key of"},
          {"finish p",
           "error: finish: there is no pod p; write one of ended, g-0, gated, or make it with: "},
          {"ungate ended", "error: ungate: pod ended has no scheduling gate; name one that has"},
          {"update group h min=1",
           "error: update: there is no group h; write one of g, or make it with: group h"},
          {"delete node n1 n9",
           "error: delete: there is no node n9; write one of n1, n2, or make it with: "},
          {"delete car x",
           "error: delete: \"car\" is not deleted; write pod, group, node, claim, "},
          {"delete node n1 grace=3s", "error: delete: grace=: only a pod has one; leave it out"},
          {"plan h",
           "error: plan: there is no group and no lone pod h; write one of g, or make it with: "
           "gang h"},
          {"drop watch Car", "error: drop: \"Car\" is no kind; write one of Pod, Node, PodGroup, "},
          {"restore watch Pod soon",
           "error: restore: \"soon\" is no way to restore; write: restore watch KIND [expired]"},
      });
}

TEST(ScenarioMistakes, NumbersOutOfRange) {
  expect_answers(
      kWorld,
      {
          {"nodes n3 gpu=-1", "error: nodes: gpu=-1 is below 0; write 0 or more"},
          {"nodes n3 gpu=two", "error: nodes: gpu=two: "},
          {"node n1 cpu=-1m", "error: node: cpu=-1m is below 0; write 0 or more"},
          {"pods x cpu=-1", "error: pods: cpu=-1 is below 0; write 0 or more"},
          {"pods x sidecar.memory=-1",
           "error: pods: sidecar.memory=-1 is below 0; write 0 or more"},
          {"pods x gpu=500m",
           "error: pods: gpu=500m divides what is counted; write a whole number"},
          {"pods x gpu=", "error: pods: gpu=: "},
          {"pods x res.=1", "error: pods: res.=: \"\" is no key; write at most 63 letters, "},
          {"pods x init.res.a/b/c=1", "error: pods: init.res.a/b/c=: \"a/b/c\" is no key"},
          {"pods x init.weight=1", "error: pods: init.weight= is no option of a pod and no "},
          {"pods x port=80000", "error: pods: port=80000 is no port; write 1 to 65535, like 8471,"},
          {"pods x port=0", "error: pods: port=0 is no port"},
          {"pods x port=80/ICMP", "error: pods: port=80/ICMP is no port"},
          {"pods x port=80@here", "error: pods: port=80@here is no port"},
          {"pods x priority=1000000001",
           "error: pods: priority=1000000001 is not allowed; write a whole number"},
          {"group h priority=1000000001", "error: group: priority=1000000001 is not allowed"},
          {"group h min=0",
           "error: group: min=0 is not allowed; write a whole number from 1 to 2147483647"},
          {"gang h pods=-1",
           "error: gang: pods=-1 is not allowed; write a whole number from 0 to 100000"},
          {"gangs a b pods=50001",
           "error: gangs: pods=50001 is not allowed; write a whole number from 0 to"},
          {"gang h pods=x", "error: gang: pods=x is not allowed"},
          {"update group g min=-3", "error: update: min=-3 is not allowed"},
          {"fail bind g-0 error times=0",
           "error: fail: times=0 is not allowed; write a whole number from 1"},
          {"nodes n[3-999999]",
           "error: nodes: \"n[3-999999]\" stands for more than 100000 names, the most"},
          {"pods a[1-100000] b",
           "error: pods: more than 100000 pod names in one command, the most; split"},
          {"advance soon", "error: advance: \"soon\" is not a duration"},
          {"advance 9000h", "error: advance: 9000h is longer than 8760h, the most; write less"},
          {"delete pod g-0 grace=-1s", "error: delete: grace=: \"-1s\" is not a duration"},
      });
}

TEST(ScenarioMistakes, NamesThatKubernetesRefuses) {
  expect_answers(
      kWorld,
      {
          {"nodes N1",
           "error: nodes: node: \"N1\" is no name in Kubernetes; write at most 253 of a-z, 0-9,"},
          {"nodes a..b", "error: nodes: node: \"a..b\" is no name"},
          {"nodes a/b", "error: nodes: node: \"a/b\" is no name"},
          {"pods p_1", "error: pods: pod: \"p_1\" is no name"},
          {"pods -p", "error: pods: pod: \"-p\" is no name"},
          {"pods a.b/p",
           "error: pods: pod: namespace: \"a.b\" is no namespace; write at most 63 of a-z,"},
          {"pods p]", "error: pods: pod: \"p]\" is no name"},
          {"pods /x",
           "error: pods: pod: \"/x\" has an empty namespace; write <namespace>/<name> or <name>"},
          {"group /g2", "error: group: group: \"/g2\" has an empty namespace; write <name"},
          {"pods x/", "error: pods: pod: \"x/\" has an empty name; write <namespace>/<name> or"},
          {"plan /g", "error: plan: group: \"/g\" has an empty namespace; write <namespace>/"},
          {"update group /g min=1", "error: update: group: \"/g\" has an empty namespace; "},
          {"fail bind /g-0 conflict", "error: fail: pod: \"/g-0\" has an empty namespace; "},
          {"pods p namespace=", "error: pods: namespace=: \"\" is no namespace"},
          {"pods p group=G", "error: pods: group=: \"G\" is no name"},
          {"pods p scheduler=", "error: pods: scheduler=: \"\" is no name"},
          {"pods p gate=a/b/c",
           "error: pods: gate=: \"a/b/c\" is no key; write at most 63 letters, digits,"},
          {"pods p selector.=a", "error: pods: selector.=: \"\" is no key"},
          {"pods p label.\u00e4=b", "error: pods: label.\u00e4=: \"\u00e4\" is no key"},
          {"pods " + std::string(300, 'a'),
           "error: pods: pod: \"" + std::string(80, 'a') +
               "...\" of 300 characters is no name in Kubernetes; write at most 253 of a-z,"},
          {"pods p selector.a=b/c",
           "error: pods: selector.a=: \"b/c\" is no value of a label or taint; write"},
          {"pods p uses=magic",
           "error: pods: uses=magic is unknown; write pod-affinity, topology-spread,"},
          {"pods p affinity=pool",
           "error: pods: affinity=pool is not of the form key:Operator:values; write key:In:"},
          {"pods p affinity=pool:Is:a",
           "error: pods: affinity=pool:Is:a has no operator \"Is\"; write key:In:a,b, "},
          {"pods p affinity=pool:Gt:1,2",
           "error: pods: affinity=pool:Gt:1,2 has 2 values for Gt; write"},
          {"pods p tolerate=old:Never",
           "error: pods: tolerate=old:Never is no toleration; write key, key:No"},
          {"pods p tolerate=a:Exists:b", "error: pods: tolerate=a:Exists:b is no toleration; "},
          {"pods p tolerate=a:Equal:b:c", "error: pods: tolerate=a:Equal:b:c is no toleration"},
          {"nodes n3 =1", "error: nodes: \"=1\" has no key before the \"=\"; write key=value"},
          {"nodes n3 wings",
           "error: nodes: \"wings\" is no word of a node; write cordon, uncordon or key=val"},
          {"nodes n3 taint=a", "error: nodes: taint=a has no effect; write key=value:Effect"},
          {"nodes n3 taint=a:Never",
           "error: nodes: taint=a:Never: \"Never\" is no effect; write NoSchedule, "},
          {"nodes n3 taint=:NoSchedule", "error: nodes: taint=: \"\" is no key"},
          {"nodes n3 pool=a/b", "error: nodes: label pool: \"a/b\" is no value"},
          {"nodes n3 -pool=a", "error: nodes: label: \"-pool\" is no key"},
          {"group H", "error: group: group: \"H\" is no name"},
          {"group h topology=a/b/c", "error: group: topology=: \"a/b/c\" is no key"},
          {"group h parent=R", "error: group: parent=: \"R\" is no name"},
          {"gangs g[0-", "error: gangs: \"g[0-\" is not a name range; write one like n[1-3]"},
      });
}

TEST(ScenarioMistakes, WordsOfRepels) {
  const std::string forms =
      "; write key:In:a,b@topologyKey, key:NotIn:a,b@topologyKey, key:Exists@topologyKey or "
      "key:DoesNotExist@topologyKey\n";
  const std::string head = "error: pods: repels=";
  const Rows rows = {
      {"app:In:web", "app:In:web has no @topologyKey" + forms},
      {"app@zone", "app@zone is not of the form key:Operator:values" + forms},
      {"app:In:a:b@zone", "app:In:a:b@zone is not of the form key:Operator:values" + forms},
      {"@zone", "@zone is not of the form key:Operator:values" + forms},
      {"", " has no @topologyKey" + forms},
      {"app:Is:web@zone", "app:Is:web@zone has no operator \"Is\"" + forms},
      {"app::web@zone", "app::web@zone has no operator \"\"" + forms},
      {"app:Gt:3@zone", "app:Gt:3@zone has no operator \"Gt\"" + forms},
      {"app:In@zone", "app:In@zone has 0 values for In" + forms},
      {"app:Exists:a@zone", "app:Exists:a@zone has 1 value for Exists" + forms},
      {"app:In:@zone", "app:In:@zone has an empty value" + forms},
      {"app:NotIn:a,,b@zone", "app:NotIn:a,,b@zone has an empty value" + forms},
      {":In:web@zone", ":In:web@zone: \"\" is no key; write at most 63 letters, "},
      {"a_:In:web@zone", "a_:In:web@zone: \"a_\" is no key; write at most 63 letters, "},
      {"app:In:a/b@zone", "app:In:a/b@zone: \"a/b\" is no value of a label or taint; write at "},
      {"app:In:web@", "app:In:web@: topologyKey: \"\" is no key; write at most 63 letters, "},
      {"app:In:web@-z", "app:In:web@-z: topologyKey: \"-z\" is no key; write at most 63 letters, "},
  };
  for (const auto& [word, problem] : rows) {
    const std::string expected = head + problem;
    EXPECT_EQ(answer(kWorld, "pods p repels=" + word).substr(0, expected.size()), expected);
  }
  for (const char* word : {"app:In:web,db@zone", "app:NotIn:web@zone", "a.b/c:Exists@x.y/zone",
                           "app:DoesNotExist@kubernetes.io/hostname"}) {
    EXPECT_EQ(answer(kWorld, "pods p repels=" + std::string(word)), "1 pod\n") << word;
  }
}

TEST(ScenarioMistakes, ReasonsOfAFailedPod) {
  for (const char* word : {"oom", "Out-of-cpu", "OutOfa/b/c", "3Strikes", "Evicted.", ""}) {
    const std::string reason = "reason=" + std::string(word);
    EXPECT_EQ(answer(kWorld, "fail g-0 " + reason),
              "error: fail: " + reason +
                  " is no reason of a pod; write a CamelCase word like Evicted or "
                  "UnexpectedAdmissionError, or OutOf and a resource like OutOfcpu\n");
  }
  for (const char* word :
       {"Evicted", "OutOfcpu", "OutOfexample.com/nic", "UnexpectedAdmissionError"}) {
    EXPECT_EQ(answer(kWorld, "fail g-0 reason=" + std::string(word)), "1 pod failed\n") << word;
  }
  expect_answers(kWorld,
                 {
                     {"fail g-0 times=2", "error: fail: times= is not read here; write it with: "},
                     {"fail bind g-0 conflict reason=Evicted",
                      "error: fail: reason= is not read here; write it with: fail POD"},
                     {"fail bind g-0 rudely",
                      "error: fail: \"rudely\" is no end of a write; write: fail bind POD"},
                 });
}

TEST(ScenarioMistakes, PodsThatAreNotPlanned) {
  const std::string head = std::string(kWorld) +
                           "pods other scheduler=default-scheduler\n----\n\n"
                           "running there on=n1\n----\n\n";
  expect_answers(head,
                 {
                     {"plan g-0", "error: plan: pod g-0 is a member; write: plan g\n"},
                     {"plan ended", "error: plan: pod ended has ended; name one that waits"},
                     {"plan there", "error: plan: pod there is bound to n1 already; name one"},
                     {"plan other",
                      "error: plan: pod other is of scheduler default-scheduler; name one of "
                      "gang-scheduler\n"},
                     {"plan gated", "nothing to place\n  0 bound, minimum 1, 1 gated\n"},
                 });
  EXPECT_EQ(
      answer(std::string(kWorld) + "drop watch Pod\n----\n\npods late\n----\n\n", "plan late"),
      "error: plan: pod late is not known to the daemon; restore watch Pod first\n");
}

TEST(ScenarioMistakes, ListsOfManyNamesAreCut) {
  EXPECT_EQ(answer("# test\nnodes n[1-8]\n----\n\n", "node m"),
            "error: node: there is no node m; write one of n1, n2, n3, n4, n5 (3 more), or make it "
            "with: nodes m\n");
  EXPECT_EQ(answer("# test\n", "update group g min=2"),
            "error: update: there is no group g; make it with: group g\n");
}

TEST(ScenarioMistakes, OptionsOfTheDaemon) {
  expect_answers("# test\n",
                 {
                     {"config", "error: config: no option is named; write: config key=value"},
                     {"config speed=1", "error: config: no option \"speed\"; write one of "},
                     {"config gated_members=no",
                      "error: config: gated_members: \"no\" is not allowed; write leave_out or"},
                     {"config search_steps_max=0",
                      "error: config: search_steps_max: \"0\" is not allowed; write a whole"},
                     {"config selector_steps_max=1000000001",
                      "error: config: selector_steps_max: \"1000000001\" is not allowed; write a"},
                     {"config repair_deadline=0s",
                      "error: config: repair_deadline: \"0s\" is not allowed; write a duration"},
                     {"config gated_members=hold gated_members=hold",
                      "error: config: gated_members= is there twice"},
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
  EXPECT_EQ(
      answer(head, "show conditions"),
      "g  no condition\n"
      "pod ended  no condition\n"
      "pod gated\n"
      "  PodScheduled=False SchedulingGated: Scheduling is blocked due to non-empty scheduling "
      "gates\n");
  EXPECT_EQ(answer(head, "nodes n3"), "1 node\n");
}

TEST(ScenarioMistakes, AreListedWithTheirLines) {
  const auto result =
      run_scenario("# test\nnodes n1 gpu=-1\n----\n\ncycle\n----\n\nnodes N\n----\n", ".",
                   ScenarioMode::kRewrite);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->mistakes.size(), 2U);
  EXPECT_EQ(result->mistakes[0], "line 2: nodes: gpu=-1 is below 0; write 0 or more");
  EXPECT_EQ(result->mistakes[1].substr(0, 8), "line 8: ");
}

TEST(ScenarioMistakes, AmountsInAFile) {
  const std::string folder = ::testing::TempDir();
  const auto load = [&](const std::string& yaml) {
    std::ofstream(folder + "/amounts.yaml") << "# amounts\n" << yaml;
    return answer("# test\n", "load amounts.yaml");
  };
  const std::string pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: ";
  const std::string node = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: ";
  const Rows rows = {
      {pod + "{containers: [{name: main, resources: {requests: {cpu: -10}}}]}}",
       "Pod p: container main: cpu: -10 is below 0; write 0 or more\n"},
      {pod + "{containers: [{name: main, resources: {limits: {memory: -1Gi}}}]}}",
       "Pod p: container main: memory: -1Gi is below 0; write 0 or more\n"},
      {pod + "{initContainers: [{name: a, resources: {requests: {nvidia.com/gpu: 500m}}}]}}",
       "Pod p: container a: nvidia.com/gpu: 500m divides what is counted; write a whole number\n"},
      {pod + "{resources: {requests: {cpu: -1}}}}",
       "Pod p: resources: cpu: -1 is below 0; write 0 or more\n"},
      {pod + "{overhead: {cpu: -1m}}}", "Pod p: overhead: cpu: -1m is below 0; write 0 or more\n"},
      {node + "{allocatable: {pods: -1}}}",
       "Node n1: allocatable: pods: -1 is below 0; write 0 or more\n"},
  };
  for (const auto& [yaml, problem] : rows) {
    EXPECT_EQ(load(yaml), "error: load: " + folder + "/amounts.yaml: line 2: " + problem);
  }
}

TEST(ScenarioMistakes, FilesThatLoad) {
  const std::string folder = ::testing::TempDir();
  const auto load = [&](const std::string& yaml) {
    std::ofstream(folder + "/odd.yaml") << yaml;
    return answer("# test\nnodes n1\n----\n\n", "load odd.yaml");
  };
  const std::string node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n";
  const std::string fresh = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n";
  const std::string where = "error: load: " + folder + "/odd.yaml: ";
  EXPECT_EQ(load(""),
            where + "holds no object; write one with apiVersion, kind and metadata.name\n");
  EXPECT_EQ(load(node),
            where + "line 1: Node n1 is there already; choose another name, or delete it first\n");
  EXPECT_EQ(load(fresh + "---\n" + fresh),
            where + "line 5: Pod p is in the file twice; keep one\n");
  EXPECT_EQ(load("apiVersion: v1\nkind: Pod\nmetadata: {name: P}\n").substr(0, where.size() + 33),
            where + "line 1: Pod metadata.name: \"P\" is");
  EXPECT_EQ(load(fresh), "1 object\n");
  EXPECT_EQ(load("apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"), "1 object\n");
  EXPECT_EQ(load("apiVersion: batch/v1\nkind: Job\nmetadata: {name: x}\n"),
            "0 objects\nskipped Job x: the simulator holds the kinds that the daemon watches "
            "only\n");
  EXPECT_EQ(answer("# test\n", "load ."),
            "error: load: " + folder + "/.: is a directory; name a file in it\n");
  EXPECT_EQ(answer("# test\n", "load no.yaml"),
            "error: load: " + folder +
                "/no.yaml: cannot be read: No such file or directory; "
                "check the path and its rights\n");
}

}  // namespace
}  // namespace gang::sim
