#include "gang/sim/scenario.h"

#include <gtest/gtest.h>

#include <string>

namespace gang::sim {
namespace {

/// Runs a text whose outputs are not known and returns the text with them.
std::string conversation(const std::string& text) {
  const auto result = run_scenario(text, ".", ScenarioMode::kRewrite);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->text : "";
}

/// What one command answers in an empty cluster.
std::string answer(const std::string& command) {
  const std::string head = "# test\n" + command + "\n----\n";
  const std::string text = conversation(head);
  return text.substr(head.size());
}

constexpr const char* kDeadlock =
    "# test\n"
    "nodes n[1-3] gpu=2\n----\n\n"
    "gangs a b pods=4 min=4 gpu=1\n----\n\n"
    "fail bind a-2 executed\n----\n\n"
    "crash after=3\n----\n\n"
    "cycle\n----\n\n"
    "restart\n----\n\n"
    "advance 2m\n----\n\n"
    "show writes\n----\n\n"
    "show events\n----\n\n"
    "show conditions\n----\n";

TEST(Scenario, SameTextGivesTheSameBytes) {
  const std::string first = conversation(kDeadlock);
  EXPECT_NE(first.find("PodGroupInitiallyScheduled=True"), std::string::npos) << first;
  EXPECT_EQ(conversation(kDeadlock), first);
}

TEST(Scenario, RewrittenTextPassesAndStaysTheSame) {
  const std::string text = conversation(kDeadlock);
  const auto compared = run_scenario(text, ".", ScenarioMode::kCompare);
  ASSERT_TRUE(compared);
  EXPECT_TRUE(compared->passed) << compared->difference;
  EXPECT_EQ(compared->text, text);
}

TEST(Scenario, NamesTheFirstBlockThatDiffers) {
  const auto result = run_scenario("# test\nnodes n1\n----\n1 node\n\nnodes n2\n----\n2 nodes\n",
                                   ".", ScenarioMode::kCompare);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->passed);
  EXPECT_EQ(result->difference, "line 6: nodes n2\n  expected\n    2 nodes\n  got\n    1 node\n");
}

TEST(Scenario, AnswersEveryMistakeWithItsMend) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"fly n1", "error: \"fly\" is no verb; write one of "},
      {"nodes", "error: no node is named; write the names after the verb"},
      {"nodes n1 wings",
       "error: \"wings\" is no word of a node; write cordon, uncordon or key=value"},
      {"nodes n1 gpu=two", "error: gpu=two: "},
      {"nodes n1 taint=a", "error: taint=a has no effect; write key=value:Effect"},
      {"nodes n1 taint=a:Never", "error: \"Never\" is no taint effect; write NoSchedule, "},
      {"node n9 gpu=1", "error: there is no node n9"},
      {"gang pods=2", "error: no group is named; write its name"},
      {"gang g pods=x", "error: pods=x is not a whole number; write one like 4"},
      {"pods gpu=1", "error: no pod is named; write its name"},
      {"pods p weight=1",
       "error: \"weight\" is no option of a pod and no resource; see the verbs'"},
      {"pods p port=80000", "error: port=80000 is no port; write one like 8471/UDP"},
      {"pods p affinity=pool", "error: affinity=pool is not key:Operator:values; write one like"},
      {"pods p uses=magic", "error: uses=magic is unknown; write pod-affinity, topology-spread,"},
      {"running r gpu=1", "error: running needs on=NODE"},
      {"running r[1-3] on=n[1-2]",
       "error: on=n[1-2] names 2 nodes; write one, or one for each pod"},
      {"finish p", "error: there is no pod default/p"},
      {"update group g", "error: write: update group NAME min=N"},
      {"update group g min=1", "error: there is no group g"},
      {"delete pod", "error: write: delete pod|group|node NAME"},
      {"delete node n1", "error: there is no node n1"},
      {"fail bind p", "error: write: fail bind POD conflict|error|timeout|executed|throttled|"},
      {"drop watch Car", "error: \"Car\" is no kind; write one like Pod or PodGroup"},
      {"drop Pod", "error: write: drop watch KIND"},
      {"load nothing.yaml", "error: the file ./nothing.yaml cannot be read"},
      {"advance", "error: write: advance 30s"},
      {"advance soon", "error: "},
      {"cycle twice", "error: cycle takes no words"},
      {"plan g", "error: there is no gang g"},
      {"show all", "error: write: show pods|queue|conditions|events|writes|nodes"},
      {"restart", "error: the daemon is up already"},
      {"config speed=1", "error: no option \"speed\"; write one of "},
      {"config gated_members=no",
       "error: gated_members: \"no\" is not allowed; write leave_out or"},
  };
  for (const auto& [command, expected] : rows) {
    EXPECT_EQ(answer(command).substr(0, expected.size()), expected);
  }
}

TEST(Scenario, RefusesConfigAfterTheFirstCommand) {
  const std::string text =
      conversation("# test\nnodes n1\n----\n\nconfig gated_members=hold\n----\n");
  EXPECT_NE(text.find("error: config comes before every other command; move it up"),
            std::string::npos);
}

TEST(Scenario, ShowsNothingOfADaemonThatIsDown) {
  const std::string text = conversation(
      "# test\ncrash\n----\n\nshow queue\n----\n\nplan g\n----\n\ncrash\n----\n\nshow "
      "pods\n----\n");
  EXPECT_EQ(text,
            "# test\ncrash\n----\ndaemon  killed\n\n"
            "show queue\n----\nerror: the daemon is down; write restart first\n\n"
            "plan g\n----\nerror: the daemon is down; write restart first\n\n"
            "crash\n----\nerror: the daemon is down already\n\n"
            "show pods\n----\nnone\n");
}

TEST(Scenario, TakesEveryShortNameForAName) {
  const std::string text = conversation("# test\ngangs a bas pods=1\n----\n");
  EXPECT_EQ(text, "# test\ngangs a bas pods=1\n----\n1 pod each, created in turn\n");
}

TEST(Scenario, PlanChangesNothing) {
  const std::string text = conversation(
      "# test\nnodes n1 gpu=2\n----\n\ngang g pods=2 min=2 gpu=1\n----\n\nplan g\n----\n\n"
      "show writes\n----\n\ncycle\n----\n\nplan g\n----\n");
  EXPECT_NE(text.find("show writes\n----\nnone\n"), std::string::npos) << text;
  EXPECT_NE(text.find("g  bound\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace gang::sim
