// Each guard of the commit protocol 5.6 rule 3 has a test that fails without it.
#include "binder/rollback.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "binder/bench.h"

namespace gang::test {
namespace {

using kube::Outcome;
using std::chrono::seconds;
using Texts = std::vector<std::string>;

/// A gang of minimum 4 with m0 and m1 bound by "round-1", m2 and m3 pending.
class RollbackTest : public testing::Test {
 protected:
  RollbackTest() {
    bench.create_gang(4);
    for (const char* name : {"m0", "m1"}) bind(name, "round-1");
  }
  void bind(const std::string& name, const std::string& stamp) {
    bench.client.change(name, [&](api::Pod& pod) {
      pod.node_name = "n-" + name;
      pod.meta.annotations = {{std::string(api::kRoundAnnotation), stamp}};
    });
  }
  void roll_back(std::vector<std::string> members = {"m0", "m1"}) {
    engine::Rollback rollback{.gang = bench.gang(), .minimum = 4, .stamp = "round-1"};
    rollback.message = "the gang could not be completed";
    for (const std::string& name : members) {
      rollback.members.push_back(bench.assignment(name, "n-" + name));
    }
    bench.rollback(rollback);
    bench.advance(seconds(120));
    EXPECT_EQ(bench.rollbacks_done.size(), 1u);
    EXPECT_TRUE(bench.binder->idle());
  }
  bool exists(const std::string& name) const { return bench.client.pod(name) != nullptr; }

  BinderBench bench;
};

TEST_F(RollbackTest, MarksThenDeletesWithTheVersionJustRead) {
  roll_back();
  EXPECT_FALSE(exists("m0"));
  EXPECT_FALSE(exists("m1"));
  EXPECT_EQ(bench.client.texts("patch"), (Texts{"patch m0 DisruptionTarget=True GangRollback v6",
                                                "patch m1 DisruptionTarget=True GangRollback v7"}));
  EXPECT_EQ(bench.client.texts("delete"), (Texts{"delete m0 v8", "delete m1 v9"}));
  EXPECT_EQ(bench.binder->stats().rollbacks, 1);
  EXPECT_EQ(bench.rollbacks_done[0], bench.gang());
}

TEST_F(RollbackTest, LeavesAPodOfAnotherUid) {
  bench.client.change("m0", [](api::Pod& pod) { pod.meta.uid = {"uid-new"}; });
  roll_back();
  EXPECT_TRUE(exists("m0"));
  EXPECT_FALSE(exists("m1"));
}

TEST_F(RollbackTest, LeavesAPodOfAnotherStampOrNone) {
  bind("m0", "round-0");
  bench.client.change("m1", [](api::Pod& pod) { pod.meta.annotations.clear(); });
  roll_back();
  EXPECT_TRUE(exists("m0"));
  EXPECT_TRUE(exists("m1"));
  EXPECT_EQ(bench.client.count("patch"), 0u);
}

TEST_F(RollbackTest, LeavesAPodThatIsNotBound) {
  bench.client.change("m2", [](api::Pod& pod) {
    pod.meta.annotations = {{std::string(api::kRoundAnnotation), "round-1"}};
  });
  roll_back({"m2"});
  EXPECT_TRUE(exists("m2"));
}

TEST_F(RollbackTest, LeavesAPodThatIsGoingAlready) {
  bench.client.change("m0", [](api::Pod& pod) { pod.meta.deletion_time = TimePoint{}; });
  roll_back();
  EXPECT_EQ(bench.client.count("delete", "m0"), 0u);
}

TEST_F(RollbackTest, LeavesAGangThatHasItsMinimum) {
  for (const char* name : {"m2", "m3"}) bind(name, "another");
  roll_back({"m0", "m1", "m2", "m3"});
  EXPECT_EQ(bench.client.count("delete"), 0u);
  EXPECT_EQ(bench.client.count("patch"), 0u);
}

TEST_F(RollbackTest, LeavesAGangThatIsRecorded) {
  api::PodGroup group = *bench.client.group("train");
  group.conditions = {
      {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue}};
  bench.client.put(group);
  roll_back();
  EXPECT_EQ(bench.client.count("delete"), 0u);
}

TEST_F(RollbackTest, ReadsTheRecordBeforeEachDelete) {
  bench.client.hold_next("get", "m1");
  bench.client.fail_next("get", "m1", Fault{.held = true});
  engine::Rollback rollback{.gang = bench.gang(), .minimum = 4, .stamp = "round-1"};
  rollback.members = {bench.assignment("m0", "n-m0"), bench.assignment("m1", "n-m1")};
  bench.rollback(rollback);
  bench.client.release("get", "m1");  // counted
  bench.run();
  EXPECT_FALSE(exists("m0"));
  api::PodGroup group = *bench.client.group("train");
  group.conditions = {
      {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue}};
  bench.client.put(group);
  bench.client.release("get", "m1");
  bench.advance(seconds(10));
  EXPECT_TRUE(exists("m1"));
  EXPECT_EQ(bench.rollbacks_done.size(), 1u);
}

TEST_F(RollbackTest, GroupThatIsGoneOrReplacedHasNoRecord) {
  api::PodGroup group = *bench.client.group("train");
  group.meta.uid = {"uid-new"};
  group.conditions = {
      {.type = std::string(api::kInitiallyScheduled), .status = api::ConditionStatus::kTrue}};
  bench.client.put(group);
  roll_back();
  EXPECT_FALSE(exists("m0"));
  EXPECT_FALSE(exists("m1"));
}

TEST_F(RollbackTest, ConflictIsEvaluatedAgain) {
  bench.client.fail_next("delete", "m0", answer(Outcome::kConflict, 409));
  bench.client.hold_next("get-group", "train");
  engine::Rollback rollback{.gang = bench.gang(), .minimum = 4, .stamp = "round-1"};
  rollback.members = {bench.assignment("m0", "n-m0")};
  bench.rollback(rollback);
  bench.client.change("m0", [](api::Pod& pod) { pod.meta.annotations.clear(); });
  bench.client.release("get-group", "train");
  bench.advance(seconds(10));
  EXPECT_TRUE(exists("m0"));  // it is no member of this round any more
  EXPECT_EQ(bench.client.count("delete"), 1u);
}

TEST_F(RollbackTest, GivesUpAMemberThatMovesMoreThanTenTimes) {
  for (int i = 0; i < 20; ++i) {
    bench.client.fail_next("delete", "m0", answer(Outcome::kConflict, 409));
  }
  roll_back();
  EXPECT_EQ(bench.client.count("delete", "m0"), 11u);
  EXPECT_FALSE(exists("m1"));
}

TEST_F(RollbackTest, DestroysNothingWhileTheServerDoesNotAnswerReads) {
  bench.client.fail_all("get-group", answer(Outcome::kUnknown, 503, "down"));
  roll_back();
  EXPECT_EQ(bench.client.count("delete"), 0u);
}

TEST_F(RollbackTest, LostAnswerOfADeleteIsReadBack) {
  bench.client.fail_next("delete", "m0", {answer(Outcome::kUnknown), Fault::Execution::kDone});
  roll_back();
  EXPECT_EQ(bench.client.count("delete", "m0"), 1u);
  EXPECT_FALSE(exists("m1"));
}

TEST_F(RollbackTest, EndsWithoutTheRightToDelete) {
  bench.client.fail_all("delete", answer(Outcome::kForbidden, 403, "no"));
  roll_back();
  EXPECT_EQ(bench.client.count("delete"), 1u);
}

TEST_F(RollbackTest, NothingToUndo) {
  roll_back({});
  EXPECT_TRUE(bench.client.requests().empty());
}

}  // namespace
}  // namespace gang::test
