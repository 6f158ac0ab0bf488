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

TEST(Scenario, RefusesConfigAfterTheFirstCommand) {
  const std::string text =
      conversation("# test\nnodes n1\n----\n\nconfig gated_members=hold\n----\n");
  EXPECT_NE(text.find("error: config: comes before every other command; move it up"),
            std::string::npos);
}

TEST(Scenario, ShowsNothingOfADaemonThatIsDown) {
  const std::string text = conversation(
      "# test\ncrash\n----\n\nshow queue\n----\n\nplan g\n----\n\ncrash\n----\n\nshow "
      "pods\n----\n");
  EXPECT_EQ(text,
            "# test\ncrash\n----\ndaemon  killed\n\n"
            "show queue\n----\nerror: show: the daemon is down; write restart first\n\n"
            "plan g\n----\nerror: plan: the daemon is down; write restart first\n\n"
            "crash\n----\nerror: crash: the daemon is down already; write restart first\n\n"
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
  EXPECT_NE(text.find("plan g\n----\nplaced\n  g-0 n1\n  g-1 n1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("show writes\n----\nnone\n"), std::string::npos) << text;
  EXPECT_NE(text.find("g  bound\n"), std::string::npos) << text;
  EXPECT_NE(text.find("plan g\n----\nnothing to place\n  2 bound, minimum 2\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace gang::sim
