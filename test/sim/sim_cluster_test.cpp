#include "gang/sim/sim_cluster.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/builders.h"

namespace gang::sim {
namespace {

using api::DeltaType;
using api::Kind;
using kube::Answer;
using kube::Outcome;

const api::ObjectKey kA{"default", "a"};

/// A cluster with the watches of a daemon of ours, and requests that are answered at once.
class SimClusterTest : public testing::Test {
 protected:
  SimClusterTest() { (void)cluster_.list_all(test::kOurScheduler); }

  Answer bind(api::Binding binding) {
    std::optional<Answer> end;
    cluster_.bind(binding, [&](const Answer& answer) { end = answer; });
    EXPECT_FALSE(end) << "answered before it was executed";
    cluster_.execute_next();
    return end.value_or(Answer{});
  }

  /// A Binding of pod a as it is now.
  [[nodiscard]] api::Binding binding() const {
    const api::ObjectMeta& meta = cluster_.pod(kA)->meta;
    return {kA, meta.uid, meta.resource_version, "n1", {{"gang-scheduler.dev/round", "1"}}};
  }

  Answer patch(const api::PodStatusPatch& wanted) {
    Answer end;
    cluster_.patch_pod_status(wanted, [&](const Answer& answer) { end = answer; });
    cluster_.execute_next();
    return end;
  }

  Answer patch(const api::PodGroupStatusPatch& wanted) {
    Answer end;
    cluster_.patch_pod_group_status(wanted, [&](const Answer& answer) { end = answer; });
    cluster_.execute_next();
    return end;
  }

  Answer remove(const kube::PodDelete& request) {
    Answer end;
    cluster_.delete_pod(request, [&](const Answer& answer) { end = answer; });
    cluster_.execute_next();
    return end;
  }

  /// "Added Pod a", in order, since the last call.
  std::vector<std::string> told() {
    static const char* const kTypes[] = {"ListBegin", "ListEnd",  "Added",    "Updated",
                                         "Deleted",   "Bookmark", "Unserved", "Forbidden"};
    std::vector<std::string> lines;
    for (const api::Delta& delta : cluster_.take_deltas()) {
      std::string line = std::string(kTypes[static_cast<int>(delta.type)]) + " " +
                         (delta.kind == api::Kind::kFinishedPod ? "Finished" : "") +
                         std::string(kind_name(delta.kind));
      if (!std::holds_alternative<std::monostate>(delta.object)) {
        line += " " + meta_of(delta.object).key.name;
      }
      lines.push_back(line);
    }
    return lines;
  }

  /// A pod as a user makes it: the server fills uid and version.
  void put(test::PodBuilder builder) {
    api::Pod made = builder.build();
    made.meta.uid = {};
    cluster_.put(std::move(made));
  }

  ManualClock clock_{test::at_second(1000)};
  SimCluster cluster_{clock_};
};

using Lines = std::vector<std::string>;

TEST_F(SimClusterTest, TheClaimForExtendedResourcesIsReplacedAndNeverTakenAway) {
  put(test::pod("a"));
  const auto named = [&](const std::string& claim) {
    api::PodStatusPatch wanted{.pod = kA, .uid = cluster_.pod(kA)->meta.uid};
    wanted.extended_claim = api::ExtendedClaimStatus{claim, {{"main", test::kGpu, "r"}}};
    return patch(wanted);
  };
  EXPECT_TRUE(named("x").ok());
  EXPECT_TRUE(named("y").ok());
  EXPECT_EQ(named("").outcome, Outcome::kInvalid);
  EXPECT_EQ(cluster_.pod(kA)->extended_claim->claim_name, "y");
}

TEST_F(SimClusterTest, FillsInWhatTheServerGives) {
  put(test::pod("a"));
  put(test::pod("b").gate("quota"));
  const api::Pod& a = *cluster_.pod(kA);
  const api::Pod& b = *cluster_.pod({"default", "b"});
  EXPECT_LT(a.meta.uid, b.meta.uid);
  EXPECT_TRUE(is_newer(b.meta.resource_version, a.meta.resource_version));
  EXPECT_TRUE(a.conditions.empty());
  ASSERT_EQ(b.conditions.size(), 1U);
  EXPECT_EQ(b.conditions[0].reason, "SchedulingGated");
}

TEST_F(SimClusterTest, UidsSortInTheOrderOfCreation) {
  for (int i = 0; i < 12; ++i) put(test::pod("p" + std::to_string(i)));
  EXPECT_LT(cluster_.pod({"default", "p8"})->meta.uid, cluster_.pod({"default", "p9"})->meta.uid);
  EXPECT_LT(cluster_.pod({"default", "p9"})->meta.uid, cluster_.pod({"default", "p10"})->meta.uid);
}

TEST_F(SimClusterTest, BindingSetsWhatTheServerSets) {
  api::Node node = test::node("n1").label("topology.kubernetes.io/zone", "z1");
  cluster_.put(node);
  put(test::pod("a").nominated("n2"));
  told();
  EXPECT_EQ(bind(binding()).http_status, 201);
  const api::Pod& pod = *cluster_.pod(kA);
  EXPECT_EQ(pod.node_name, "n1");
  EXPECT_EQ(pod.nominated_node_name, "");
  EXPECT_EQ(*api::find(pod.meta.annotations, api::kRoundAnnotation), "1");
  EXPECT_EQ(*api::find(pod.meta.labels, "topology.kubernetes.io/zone"), "z1");
  EXPECT_EQ(api::find_condition(pod.conditions, "PodScheduled")->status,
            api::ConditionStatus::kTrue);
  EXPECT_EQ(told(), Lines({"Updated Pod a"}));
}

TEST_F(SimClusterTest, BindingToAMissingNodeIsAccepted) {
  put(test::pod("a"));
  EXPECT_EQ(bind(binding()).outcome, Outcome::kOk);
}

TEST_F(SimClusterTest, BindingOfAMissingPodIs404) {
  EXPECT_EQ(bind({kA, {"uid-1"}, {}, "n1", {}}).outcome, Outcome::kNotFound);
}

TEST_F(SimClusterTest, BindingChecksThePreconditionsBeforeAllElse) {
  put(test::pod("a"));
  const api::Binding first = binding();
  ASSERT_TRUE(bind(first).ok());
  const Answer repeated = bind(first);
  EXPECT_EQ(repeated.outcome, Outcome::kConflict);
  EXPECT_EQ(repeated.message, "precondition failed");
  const Answer current = bind(binding());
  EXPECT_EQ(current.outcome, Outcome::kConflict);
  EXPECT_EQ(current.message, "pod is already assigned");
  api::Binding other = binding();
  other.uid = {"another"};
  EXPECT_EQ(bind(other).message, "precondition failed");
}

TEST_F(SimClusterTest, BindingWithoutVersionHasOnlyTheUidAsPrecondition) {
  put(test::pod("a"));
  api::Binding free = binding();
  free.resource_version = {};
  put(test::pod("a"));
  EXPECT_TRUE(bind(free).ok());
}

TEST_F(SimClusterTest, BindingOfATerminatingOrGatedPodIs409) {
  put(test::pod("a").on("n1"));
  ASSERT_TRUE(cluster_.delete_gracefully(kA, std::chrono::seconds(30)));
  EXPECT_EQ(bind(binding()).message, "pod is being deleted");
  cluster_.remove(Kind::kPod, kA);
  put(test::pod("a").gate("quota"));
  EXPECT_EQ(bind(binding()).message, "pod has scheduling gates");
}

TEST_F(SimClusterTest, FaultsEndAsTheyAreNamed) {
  const std::vector<std::pair<RequestFault, std::pair<Outcome, bool>>> rows = {
      {RequestFault::kConflict, {Outcome::kConflict, false}},
      {RequestFault::kServerError, {Outcome::kUnknown, false}},
      {RequestFault::kLostNotExecuted, {Outcome::kUnknown, false}},
      {RequestFault::kLostExecuted, {Outcome::kUnknown, true}},
      {RequestFault::kThrottled, {Outcome::kThrottled, false}},
      {RequestFault::kForbidden, {Outcome::kForbidden, false}},
  };
  for (const auto& [fault, expected] : rows) {
    put(test::pod("a"));
    cluster_.arm_fault(FaultTarget::kBinding, kA, {fault});
    EXPECT_EQ(bind(binding()).outcome, expected.first);
    EXPECT_EQ(!cluster_.pod(kA)->node_name.empty(), expected.second);
    EXPECT_EQ(bind(binding()).ok(), !expected.second) << "the fault came twice";
    cluster_.remove(Kind::kPod, kA);
  }
}

TEST_F(SimClusterTest, PatchThatChangesNothingKeepsTheVersion) {
  put(test::pod("a"));
  const api::ObjectMeta meta = cluster_.pod(kA)->meta;
  const api::Condition condition{"PodScheduled", api::ConditionStatus::kFalse, "Unschedulable",
                                 "no",           test::at_second(1),           0};
  api::PodStatusPatch wanted{kA, meta.uid, meta.resource_version, condition, std::nullopt};
  EXPECT_TRUE(patch(wanted).ok());
  const api::ResourceVersion after = cluster_.pod(kA)->meta.resource_version;
  EXPECT_TRUE(is_newer(after, meta.resource_version));
  told();
  wanted.resource_version = after;
  EXPECT_TRUE(patch(wanted).ok());
  EXPECT_EQ(cluster_.pod(kA)->meta.resource_version, after);
  EXPECT_FALSE(cluster_.has_deltas());
}

TEST_F(SimClusterTest, PatchWithAnOldVersionIs409AndWithAnotherUid422) {
  put(test::pod("a"));
  const api::ObjectMeta meta = cluster_.pod(kA)->meta;
  put(test::pod("a").nominated("n1"));
  EXPECT_EQ(
      patch(api::PodStatusPatch{kA, meta.uid, meta.resource_version, std::nullopt, "n2"}).outcome,
      Outcome::kConflict);
  const Answer other = patch(api::PodStatusPatch{kA, {"other"}, {}, std::nullopt, "n2"});
  EXPECT_EQ(other.outcome, Outcome::kInvalid);
  EXPECT_EQ(other.http_status, 422);
  EXPECT_EQ(cluster_.pod(kA)->nominated_node_name, "n1");
}

TEST_F(SimClusterTest, GroupPatchOfAnotherUidIs422AndOfAnUnservedKind404) {
  api::PodGroup group = test::pod_group("g");
  cluster_.put(group);
  const api::ObjectKey key{"default", "g"};
  const api::Condition condition{
      std::string(api::kInitiallyScheduled), api::ConditionStatus::kTrue, "Scheduled", "", {}, 0};
  EXPECT_EQ(patch(api::PodGroupStatusPatch{key, {"other"}, {condition}}).http_status, 422);
  EXPECT_TRUE(cluster_.pod_group(key)->conditions.empty());
  const api::Uid uid = cluster_.pod_group(key)->meta.uid;
  cluster_.set_served(Kind::kPodGroup, false);
  EXPECT_EQ(patch(api::PodGroupStatusPatch{key, uid, {condition}}).http_status, 404);
  cluster_.set_served(Kind::kPodGroup, true);
  EXPECT_TRUE(patch(api::PodGroupStatusPatch{key, uid, {condition}}).ok());
  EXPECT_EQ(cluster_.pod_group(key)->conditions.size(), 1U);
}

TEST_F(SimClusterTest, UnassignedPodsGoAtOnceAndAssignedOnesTerminate) {
  put(test::pod("a"));
  put(test::pod("b").on("n1"));
  told();
  EXPECT_TRUE(cluster_.delete_gracefully(kA, std::chrono::seconds(30)));
  EXPECT_EQ(cluster_.pod(kA), nullptr);
  EXPECT_TRUE(cluster_.delete_gracefully({"default", "b"}, std::chrono::seconds(30)));
  EXPECT_EQ(told(), Lines({"Deleted Pod a", "Updated Pod b"}));
  EXPECT_EQ(cluster_.next_termination(), clock_.now() + std::chrono::seconds(30));
  clock_.advance(std::chrono::seconds(30));
  cluster_.end_terminations();
  EXPECT_EQ(told(), Lines({"Deleted Pod b"}));
  EXPECT_FALSE(cluster_.delete_gracefully(kA, Duration::zero()));
}

TEST_F(SimClusterTest, DeleteHonoursItsPreconditions) {
  put(test::pod("a").on("n1"));
  const api::ObjectMeta meta = cluster_.pod(kA)->meta;
  EXPECT_EQ(remove({kA, {"other"}, {}}).outcome, Outcome::kConflict);
  EXPECT_EQ(remove({kA, meta.uid, {"1"}}).outcome, Outcome::kConflict);
  EXPECT_FALSE(cluster_.pod(kA)->is_terminating());
  EXPECT_TRUE(remove({kA, meta.uid, meta.resource_version}).ok());
  EXPECT_TRUE(cluster_.pod(kA)->is_terminating());
  EXPECT_EQ(remove({{"default", "z"}, {"u"}, {}}).outcome, Outcome::kNotFound);
}

TEST_F(SimClusterTest, FinishedPodsLeaveThePodWatchAndEnterTheOther) {
  put(test::pod("a").on("n1"));
  put(test::pod("b").on("n1"));
  told();
  put(test::pod("a").on("n1").phase(api::PodPhase::kSucceeded));
  EXPECT_EQ(told(), Lines({"Deleted Pod a", "Added FinishedPod a"}));
  put(test::pod("b").on("n1").phase(api::PodPhase::kFailed));
  EXPECT_EQ(told(), Lines({"Deleted Pod b", "Added FinishedPod b"}));
}

TEST_F(SimClusterTest, DroppedWatchTellsLaterOrListsAnew) {
  put(test::pod("a"));
  told();
  cluster_.drop_watch(Kind::kPod);
  cluster_.remove(Kind::kPod, kA);
  put(test::pod("b"));
  EXPECT_FALSE(cluster_.has_deltas());
  cluster_.restore_watch(Kind::kPod, false);
  EXPECT_EQ(told(), Lines({"Deleted Pod a", "Added Pod b"}));
  cluster_.drop_watch(Kind::kPod);
  cluster_.remove(Kind::kPod, {"default", "b"});
  cluster_.restore_watch(Kind::kPod, true);
  EXPECT_EQ(told(), Lines({"ListBegin Pod", "ListEnd Pod"}));
}

TEST_F(SimClusterTest, UnservedKindIsToldAndComesBack) {
  cluster_.put(test::pod_group("g"));
  told();
  cluster_.set_served(Kind::kPodGroup, false);
  cluster_.put(test::pod_group("h"));
  EXPECT_EQ(told(), Lines({"Unserved PodGroup"}));
  cluster_.set_served(Kind::kPodGroup, true);
  EXPECT_EQ(told(), Lines({"ListBegin PodGroup", "Added PodGroup g", "Added PodGroup h",
                           "ListEnd PodGroup"}));
}

TEST_F(SimClusterTest, EveryKindIsKeptListedAndTold) {
  const api::ObjectMeta meta{.key = {"", "x"}};
  const std::vector<api::Object> objects = {
      api::Node{meta},          api::PodGroup{meta},       api::CompositePodGroup{meta},
      api::Workload{meta},      api::PriorityClass{meta},  api::Namespace{meta},
      api::ResourceSlice{meta}, api::ResourceClaim{meta},  api::ResourceClaimTemplate{meta},
      api::DeviceClass{meta},   api::DeviceTaintRule{meta}};
  for (const api::Object& object : objects) cluster_.put(object);
  const Lines added = told();
  EXPECT_EQ(added.size(), objects.size());
  EXPECT_EQ(added.back(), "Added DeviceTaintRule x");
  std::size_t listed = 0;
  for (const api::Delta& delta : cluster_.list_all(test::kOurScheduler)) {
    listed += delta.type == DeltaType::kAdded ? 1 : 0;
  }
  EXPECT_EQ(listed, objects.size());
  for (int kind = static_cast<int>(Kind::kNode); kind < api::kKindCount; ++kind) {
    EXPECT_TRUE(cluster_.contains(static_cast<Kind>(kind), meta.key));
    EXPECT_TRUE(cluster_.remove(static_cast<Kind>(kind), meta.key));
    EXPECT_FALSE(cluster_.remove(static_cast<Kind>(kind), meta.key));
  }
  const Lines gone = told();
  EXPECT_EQ(gone.size(), objects.size());
  EXPECT_EQ(gone.front(), "Deleted Node x");
}

TEST_F(SimClusterTest, ClaimInDeletionStaysUntilItsFinalizersAreGone) {
  const api::ObjectKey key{"default", "c"};
  api::ResourceClaim claim{.meta = {.key = key}, .finalizers = {std::string(api::kClaimFinalizer)}};
  cluster_.put(claim);
  ASSERT_TRUE(cluster_.delete_claim(key));
  ASSERT_TRUE(cluster_.find<api::ResourceClaim>(key)->meta.deletion_time);
  claim = *cluster_.find<api::ResourceClaim>(key);
  claim.finalizers.clear();
  cluster_.put(claim);
  EXPECT_EQ(told(),
            Lines({"Added ResourceClaim c", "Updated ResourceClaim c", "Deleted ResourceClaim c"}));
  EXPECT_FALSE(cluster_.delete_claim(key));
  claim.meta = {.key = key};
  cluster_.put(claim);
  EXPECT_TRUE(cluster_.delete_claim(key)) << "nothing keeps it";
  EXPECT_EQ(cluster_.find<api::ResourceClaim>(key), nullptr);
}

TEST_F(SimClusterTest, LostAnswerOfAnExecutedRequestIsNeverTold) {
  put(test::pod("a"));
  bool is_told = false;
  cluster_.bind(binding(), [&](const Answer&) { is_told = true; });
  EXPECT_EQ(cluster_.next_request(), RequestKind::kBinding);
  cluster_.execute_next_unanswered();
  EXPECT_FALSE(is_told);
  EXPECT_EQ(cluster_.pod(kA)->node_name, "n1");
}

}  // namespace
}  // namespace gang::sim
