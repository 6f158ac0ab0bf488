// What counts on a node: the rows of the scheduling contract and the cases about accounting.
#include "cluster/state_fixture.h"

#include <limits>

namespace gang::cluster {
namespace {

class Accounting : public StateTest {};

TEST_F(Accounting, A01ForeignUnassignedPodCountsNowhere) {
  tell({added(node("n1")), added(pod("a").scheduler("default-scheduler").cpu("4"))});
  EXPECT_EQ(free("n1", "cpu"), 4000);
  EXPECT_EQ(state_.counts().pending_pods, 0u);
}

TEST_F(Accounting, A02ForeignAssignedPodCounts) {
  tell({added(node("n1")), added(pod("a").scheduler("default-scheduler").cpu("4").on("n1"))});
  EXPECT_EQ(free("n1", "cpu"), 0);
  EXPECT_EQ(requested("n1", "pods"), 1);
}

TEST_F(Accounting, A03SucceededPodDoesNotCount) {
  tell({added(node("n1")), added(pod("a").cpu("4").on("n1").phase(api::PodPhase::kSucceeded)),
        added(pod("b").cpu("4").on("n1").phase(api::PodPhase::kFailed))});
  EXPECT_EQ(free("n1", "cpu"), 4000);
  EXPECT_EQ(state_.counts().bound_pods, 0u);
}

TEST_F(Accounting, A04TerminatingPodCountsUntilItIsGone) {
  const auto a = pod("a").cpu("4").on("n1").phase(api::PodPhase::kRunning).deleting();
  tell({added(node("n1")), added(a)});
  EXPECT_EQ(free("n1", "cpu"), 0);
  EXPECT_TRUE(tell(deleted(a)).nodes);
  EXPECT_EQ(free("n1", "cpu"), 4000);
}

TEST_F(Accounting, A11OwnPodCreatedWithNodeNameIsNeverPending) {
  tell({added(node("n1")), added(pod("a").cpu("1").on("n1"))});
  EXPECT_EQ(requested("n1", "cpu"), 1000);
  EXPECT_TRUE(state_.gangs().empty());
}

TEST_F(Accounting, B14InitContainerIsAPeak) {
  EXPECT_EQ(class_request(
                pod("a").cpu("1").container("b", {{"cpu", "1"}}).init("i", {{"cpu", "3"}}), "cpu"),
            3000);
}

TEST_F(Accounting, B15SidecarBeforeInitAddsToThePeak) {
  EXPECT_EQ(class_request(pod("a").cpu("1").sidecar("s", {{"cpu", "1"}}).init("i", {{"cpu", "2"}}),
                          "cpu"),
            3000);
}

TEST_F(Accounting, B16SidecarAfterInitDoesNot) {
  EXPECT_EQ(class_request(pod("a").cpu("1").init("i", {{"cpu", "2"}}).sidecar("s", {{"cpu", "1"}}),
                          "cpu"),
            2000);
}

TEST_F(Accounting, B17OverheadIsAddedAfterwards) {
  const auto a = pod("a").cpu("1").container("b", {{"cpu", "1"}}).init("i", {{"cpu", "3"}});
  EXPECT_EQ(class_request(test::PodBuilder(a).overhead({{"cpu", "250m"}}), "cpu"), 3250);
}

TEST_F(Accounting, B18PodLevelReplacesWhatItNames) {
  const api::Pod a = pod("a").cpu("3").memory("1Gi").pod_level({{"cpu", "2"}});
  EXPECT_EQ(class_request(a, "cpu"), 2000);
  EXPECT_EQ(class_request(a, "memory"), 1 << 30);
}

TEST_F(Accounting, B19OverheadIsAddedToPodLevel) {
  EXPECT_EQ(
      class_request(pod("a").cpu("3").pod_level({{"cpu", "2"}}).overhead({{"cpu", "100m"}}), "cpu"),
      2100);
}

TEST_F(Accounting, B20SumIsExactInsideAPodAndRoundedOnce) {
  EXPECT_EQ(class_request(pod("a").cpu("100u").container("b", {{"cpu", "100u"}}), "cpu"), 1);
}

TEST_F(Accounting, B21AllocatableIsRoundedUpToo) {
  tell(added(node("n1").memory("1500m")));
  EXPECT_EQ(allocatable("n1", "memory"), 2);
}

TEST_F(Accounting, B22LargestOfSpecAllocatedAndActualCounts) {
  const auto a = pod("a").cpu("1").on("n1");
  tell({added(node("n1")),
        added(test::PodBuilder(a).allocated({{"cpu", "3"}}).actuated({{"cpu", "2"}}))});
  EXPECT_EQ(requested("n1", "cpu"), 3000);
}

TEST_F(Accounting, B23DeferredResizeKeepsTheSpec) {
  api::Condition resize{.type = "PodResizePending", .reason = "Deferred"};
  const auto a = pod("a").cpu("3").on("n1").allocated({{"cpu", "1"}}).actuated({{"cpu", "1"}});
  tell({added(node("n1")), added(test::PodBuilder(a).condition(resize))});
  EXPECT_EQ(requested("n1", "cpu"), 3000);
}

TEST_F(Accounting, B24InfeasibleResizeLeavesTheSpecOut) {
  api::Condition resize{.type = "PodResizePending", .reason = "Infeasible"};
  const auto a = pod("a").cpu("3").on("n1").allocated({{"cpu", "1"}}).actuated({{"cpu", "1"}});
  tell({added(node("n1")), added(test::PodBuilder(a).condition(resize))});
  EXPECT_EQ(requested("n1", "cpu"), 1000);
}

TEST_F(Accounting, ResizeOfABoundPodIsCountedAnew) {
  tell({added(node("n1")), added(pod("a").cpu("1").on("n1"))});
  EXPECT_TRUE(tell(updated(pod("a").cpu("2").on("n1"))).nodes);
  EXPECT_EQ(requested("n1", "cpu"), 2000);
}

TEST_F(Accounting, B25HugePagesAreAColumn) {
  tell({added(node("n1").offers("hugepages-2Mi", "2Mi")),
        added(pod("a").request("hugepages-2Mi", "4Mi").on("n1"))});
  EXPECT_EQ(free("n1", "hugepages-2Mi"), -(2 << 20));
}

TEST_F(Accounting, B26EphemeralStorageIsAColumn) {
  tell({added(node("n1").offers("ephemeral-storage", "1Gi")),
        added(pod("a").request("ephemeral-storage", "1Mi").on("n1"))});
  EXPECT_EQ(free("n1", "ephemeral-storage"), (1 << 30) - (1 << 20));
}

TEST_F(Accounting, B28UnaccountedNamesAreIgnored) {
  tell({added(node("n1").offers("storage", "1Gi")),
        added(pod("a").request("storage", "1").on("n1"))});
  EXPECT_EQ(state_.snapshot()->resources().size(), 4u);
}

TEST_F(Accounting, NonZeroTotalsUseDefaults) {
  tell({added(node("n1")), added(pod("a").on("n1")), added(pod("b").cpu("0").on("n1"))});
  const auto snapshot = state_.snapshot();
  const std::uint32_t slot = index("n1")->value;
  EXPECT_EQ(snapshot->usage(0).nonzero_cpu[slot], 100);
  EXPECT_EQ(snapshot->usage(0).nonzero_memory[slot], 2 * 209715200);
  EXPECT_EQ(requested("n1", "cpu"), 0);
}

TEST_F(Accounting, HostPortsAreHeldUntilTheLastHolderGoes) {
  const auto a = pod("a").on("n1").host_port(80).host_port(443);
  const auto b = pod("b").on("n1").host_port(80);
  tell({added(node("n1")), added(a), added(b), added(pod("c").on("n2").host_port(80)),
        added(node("n2"))});
  EXPECT_EQ(state_.snapshot()->ports(*index("n1")).size(), 2u);
  EXPECT_EQ(state_.snapshot()->ports(*index("n1"))[0].holders, 2u);
  tell(deleted(a));
  ASSERT_EQ(state_.snapshot()->ports(*index("n1")).size(), 1u);
  EXPECT_EQ(state_.snapshot()->ports(*index("n1"))[0].port.port, 80);
  tell(deleted(b));
  EXPECT_TRUE(state_.snapshot()->ports(*index("n1")).empty());
  EXPECT_EQ(state_.snapshot()->ports(*index("n2")).size(), 1u);
}

TEST_F(Accounting, B134PodToldTwiceCountsOnce) {
  std::vector<api::Delta> deltas{added(node("n1").gpu(8))};
  for (int i = 0; i < 4; ++i) {
    const auto p = pod("p" + std::to_string(i)).gpu(1).on("n1");
    deltas.insert(deltas.end(), {added(p), added(p), updated(p)});
  }
  tell(deltas);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 4);
}

TEST_F(Accounting, B140PodsOfADeletedNodeCountAgainOnlyWhileTheyExist) {
  const auto a = pod("a").gpu(2).on("n1");
  const auto b = pod("b").gpu(2).on("n1");
  tell({added(node("n1").gpu(4)), added(a), added(b), deleted(node("n1").gpu(4))});
  EXPECT_FALSE(index("n1").has_value());
  EXPECT_FALSE(tell(deleted(a)).nodes);
  tell(added(node("n1").uid("second").gpu(8)));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 6);
  tell(deleted(b));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 8);
}

TEST_F(Accounting, PodBeforeItsNodeCountsWhenTheNodeComes) {
  EXPECT_FALSE(tell(added(pod("a").cpu("1").on("n1"))).nodes);
  EXPECT_EQ(state_.snapshot()->node_count(), 0u);
  EXPECT_TRUE(tell(added(node("n1"))).nodes);
  EXPECT_EQ(requested("n1", "cpu"), 1000);
}

TEST_F(Accounting, B144FinishedPodFreesAtOnceTerminatingOneDoesNot) {
  const auto s = pod("s").gpu(2).on("n1");
  const auto t = pod("t").gpu(2).on("n1").phase(api::PodPhase::kRunning);
  tell({added(node("n1").gpu(4)), added(s), added(t)});
  tell({updated(test::PodBuilder(s).phase(api::PodPhase::kSucceeded)),
        updated(test::PodBuilder(t).deleting())});
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 2);
}

TEST_F(Accounting, B145FreeMayBeNegativeAndComesBack) {
  std::vector<api::Delta> deltas{added(node("n1").cpu("64").gpu(8))};
  for (int i = 0; i < 8; ++i) deltas.push_back(added(pod("p" + std::to_string(i)).gpu(1).on("n1")));
  tell(deltas);
  tell(updated(node("n1").cpu("64").gpu(0)));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), -8);
  EXPECT_EQ(free("n1", "cpu"), 64000);
  tell(updated(node("n1").cpu("64").gpu(6)));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), -2);
  tell(updated(node("n1").cpu("64").gpu(8)));
  tell({deleted(pod("p0")), deleted(pod("p1"))});
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 2);
}

TEST_F(Accounting, B146BurstsLeaveNoDrift) {
  tell(added(node("n1").gpu(16)));
  for (int i = 0; i < 200; ++i) {
    const auto p = pod("p" + std::to_string(i)).gpu(1);
    tell(added(p));
    if (i % 2 == 0) tell(updated(test::PodBuilder(p).on("n1")));
    if (i >= 10) tell(deleted(pod("p" + std::to_string(i - 10))));
  }
  for (int i = 190; i < 200; ++i) tell(deleted(pod("p" + std::to_string(i))));
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 16);
  EXPECT_EQ(requested("n1", "pods"), 0);
  EXPECT_EQ(state_.counts().classes, 0u);
}

TEST_F(Accounting, B180ShrunkNodeNeitherAbortsNorWraps) {
  std::vector<api::Delta> deltas{added(node("n1").cpu("4"))};
  for (int i = 0; i < 4; ++i) {
    deltas.push_back(added(pod("p" + std::to_string(i)).cpu("1").on("n1")));
  }
  tell(deltas);
  tell(updated(node("n1").cpu("3")));
  EXPECT_EQ(free("n1", "cpu"), -1000);
  tell({deleted(pod("p0")), deleted(pod("p1"))});
  for (int i = 0; i < 3; ++i) tell(added(pod("q" + std::to_string(i)).cpu("333m").on("n1")));
  EXPECT_EQ(free("n1", "cpu"), 1);
}

TEST_F(Accounting, B182SidecarsInitContainersAndOverhead) {
  const auto big = pod("big").cpu("1").container("c", {{"cpu", "1"}}).overhead({{"cpu", "250m"}});
  const api::Pod first =
      test::PodBuilder(big).sidecar("s", {{"cpu", "1"}}).init("i", {{"cpu", "3"}});
  EXPECT_EQ(class_request(first, "cpu"), 4250);
  tell({added(node("n1").cpu("4500m")), deleted(first)});
  const auto second =
      test::PodBuilder(big).init("i", {{"cpu", "3"}}).sidecar("s", {{"cpu", "1"}}).on("n1");
  tell(added(second));
  EXPECT_EQ(requested("n1", "cpu"), 3250);
}

TEST_F(Accounting, B184PodLevelRequestsReplaceTheSumOfContainers) {
  tell({added(node("n1").gpu(1)),
        added(pod("a")
                  .cpu("500m")
                  .container("c", {{"cpu", "500m"}})
                  .pod_level({{"cpu", "3"}})
                  .on("n1")),
        added(pod("b").gpu(1).on("n1")), added(pod("c").on("n1"))});
  EXPECT_EQ(free("n1", "cpu"), 1000);
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 0);
  EXPECT_EQ(requested("n1", "pods"), 3);
}

TEST_F(Accounting, B185MissingAndZeroAllocatableAreZero) {
  tell({added(node("n1").gpu(7)), added(node("n2")), added(node("n3").gpu(0)),
        added(node("n4").gpu(3)), added(pod("p").gpu(4).on("n4"))});
  EXPECT_EQ(free("n1", "nvidia.com/gpu"), 7);
  EXPECT_EQ(free("n2", "nvidia.com/gpu"), 0);
  EXPECT_EQ(free("n3", "nvidia.com/gpu"), 0);
  EXPECT_EQ(free("n4", "nvidia.com/gpu"), -1);
}

TEST_F(Accounting, SumsBeyondTheIntegersSaturateAndComeBack) {
  const auto huge = pod("huge").memory("8Ei").on("n1");
  tell({added(node("n1")), added(huge), added(pod("more").memory("8Ei").on("n1")),
        added(pod("small").memory("1Gi").on("n1"))});
  EXPECT_EQ(requested("n1", "memory"), std::numeric_limits<std::int64_t>::max());
  tell({deleted(huge), deleted(pod("more"))});
  EXPECT_EQ(requested("n1", "memory"), 1 << 30);
}

TEST_F(Accounting, MorePodsThanTheTableNamesKeepOneOverflowColumn) {
  tell(added(node("n1")));
  for (int i = 0; i < 1100; ++i) {
    tell(added(pod("p").request("example.com/r" + std::to_string(i), "1").on("n1")));
  }
  EXPECT_EQ(state_.snapshot()->resources().size(), 1025u);
  tell(updated(node("n1").offers("example.com/late", "5")));
  EXPECT_EQ(state_.snapshot()->allocatable(*index("n1"), ResourceId{1024}), 0);
}

}  // namespace
}  // namespace gang::cluster
