#include "gang/sim/claim_controller.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/builders.h"

namespace gang::sim {
namespace {

const std::string kFinalizer(api::kClaimFinalizer);
const api::ClaimEntry kEntry{"gpu", "", "t"};

/// A cluster with the template t, and a controller that acts at once.
class ClaimControllerTest : public testing::Test {
 protected:
  ClaimControllerTest() {
    api::ResourceClaimTemplate form{.meta = {.key = {"default", "t"}}};
    form.spec.requests = {{.name = "gpu"}};
    cluster_.put(std::move(form));
  }

  const api::Pod& put(test::PodBuilder builder) {
    api::Pod made = builder.build();
    made.meta.uid = {};
    made.claims = {kEntry};
    const api::ObjectKey key = made.meta.key;
    if (const api::Pod* known = cluster_.pod(key)) made.claim_statuses = known->claim_statuses;
    cluster_.put(std::move(made));
    return *cluster_.pod(key);
  }

  [[nodiscard]] const api::ResourceClaim* claim(const std::string& name) const {
    return cluster_.find<api::ResourceClaim>({"default", name});
  }

  /// Gives the claim a device and a consumer, as a scheduler does.
  void allocate(const std::string& name, std::vector<api::ClaimConsumer> consumers) {
    api::ResourceClaim allocated = *claim(name);
    allocated.finalizers = {kFinalizer};
    allocated.allocation.emplace().results = {{.request = "gpu", .pool = "n1", .device = "gpu-0"}};
    allocated.reserved_for = std::move(consumers);
    cluster_.put(std::move(allocated));
  }

  static api::ClaimConsumer consumer(const api::Pod& pod) {
    return {"", "pods", pod.meta.key.name, pod.meta.uid};
  }

  ManualClock clock_{test::at_second(1000)};
  SimCluster cluster_{clock_};
  ClaimController controller_{cluster_, clock_, Duration::zero()};
};

TEST_F(ClaimControllerTest, MakesAClaimForATemplateEntryAndSaysSo) {
  const api::Uid uid = put(test::pod("a")).meta.uid;
  EXPECT_TRUE(controller_.run());
  ASSERT_NE(claim("a-gpu"), nullptr);
  EXPECT_EQ(claim("a-gpu")->meta.controller, (api::ControllerRef{"Pod", "a", uid}));
  EXPECT_EQ(*api::find(claim("a-gpu")->meta.annotations, api::kPodClaimName), "gpu");
  EXPECT_EQ(claim("a-gpu")->spec.requests.size(), 1U);
  EXPECT_EQ(cluster_.pod({"default", "a"})->claim_statuses,
            std::vector<api::ClaimEntryStatus>({{"gpu", "a-gpu"}}));
  EXPECT_FALSE(controller_.run()) << "nothing has changed";
  EXPECT_FALSE(controller_.next());
}

TEST_F(ClaimControllerTest, MakesOneClaimForAGroup) {
  api::PodGroup group = test::pod_group("g");
  group.claims = {kEntry};
  cluster_.put(group);
  put(test::pod("a").group("g"));
  put(test::pod("b").group("g"));
  controller_.run();
  EXPECT_EQ(cluster_.all<api::ResourceClaim>().size(), 1U);
  EXPECT_EQ(claim("g-gpu")->meta.controller->kind, "PodGroup");
  EXPECT_EQ(claim("g-gpu")->meta.controller->api_group, "scheduling.k8s.io");
  const std::vector<api::ClaimEntryStatus> expected({{"gpu", "g-gpu"}});
  EXPECT_EQ(cluster_.pod_group({"default", "g"})->claim_statuses, expected);
  EXPECT_EQ(cluster_.pod({"default", "b"})->claim_statuses, expected);
  const api::Uid uid = cluster_.pod_group({"default", "g"})->meta.uid;
  allocate("g-gpu", {{"scheduling.k8s.io", "podgroups", "g", uid}});
  cluster_.remove(api::Kind::kPod, {"default", "a"});
  cluster_.remove(api::Kind::kPod, {"default", "b"});
  controller_.run();
  EXPECT_TRUE(claim("g-gpu")->allocation) << "it is the group's while that is there";
  cluster_.remove(api::Kind::kPodGroup, {"default", "g"});
  controller_.run();
  EXPECT_EQ(claim("g-gpu"), nullptr);
}

TEST_F(ClaimControllerTest, TakesTheDevicesBackWithTheLastReservation) {
  api::ResourceClaim shared{.meta = {.key = {"default", "c"}}};
  cluster_.put(shared);
  const api::ClaimConsumer a = consumer(put(test::pod("a").on("n1")));
  const api::ClaimConsumer b = consumer(put(test::pod("b").on("n1")));
  allocate("c", {a, b});
  put(test::pod("a").on("n1").phase(api::PodPhase::kSucceeded));
  controller_.run();
  EXPECT_EQ(claim("c")->reserved_for, std::vector<api::ClaimConsumer>({b}));
  EXPECT_TRUE(claim("c")->allocation);
  cluster_.remove(api::Kind::kPod, {"default", "b"});
  controller_.run();
  EXPECT_FALSE(claim("c")->allocation);
  EXPECT_TRUE(claim("c")->finalizers.empty());
}

TEST_F(ClaimControllerTest, LeavesDevicesThatNobodyWasGiven) {
  cluster_.put(api::ResourceClaim{.meta = {.key = {"default", "c"}}});
  allocate("c", {});
  controller_.run();
  EXPECT_TRUE(claim("c")->allocation) << "only the last of a reservation ends it";
  cluster_.delete_claim({"default", "c"});
  controller_.run();
  EXPECT_EQ(claim("c"), nullptr);
}

TEST_F(ClaimControllerTest, PodOfTheSameNameIsAnotherConsumerAndOwner) {
  put(test::pod("a"));
  controller_.run();
  allocate("a-gpu", {consumer(*cluster_.pod({"default", "a"}))});
  cluster_.remove(api::Kind::kPod, {"default", "a"});
  const api::Uid uid = put(test::pod("a")).meta.uid;
  controller_.run();
  ASSERT_NE(claim("a-gpu"), nullptr);
  EXPECT_EQ(claim("a-gpu")->meta.controller->uid, uid);
  EXPECT_FALSE(claim("a-gpu")->allocation);
}

TEST_F(ClaimControllerTest, DeletesTheClaimOfAFinishedPod) {
  put(test::pod("a").on("n1"));
  controller_.run();
  allocate("a-gpu", {consumer(*cluster_.pod({"default", "a"}))});
  put(test::pod("a").on("n1").phase(api::PodPhase::kFailed));
  controller_.run();
  EXPECT_EQ(claim("a-gpu"), nullptr);
}

TEST_F(ClaimControllerTest, ReservesForPodsThatHaveANode) {
  put(test::pod("a").on("n1"));
  controller_.run();
  EXPECT_TRUE(claim("a-gpu")->reserved_for.empty()) << "it has no devices";
  allocate("a-gpu", {});
  controller_.run();
  EXPECT_EQ(claim("a-gpu")->reserved_for,
            std::vector<api::ClaimConsumer>({consumer(*cluster_.pod({"default", "a"}))}));
}

TEST_F(ClaimControllerTest, ActsAfterItsDelayOrNever) {
  ClaimController slow(cluster_, clock_, std::chrono::seconds(10));
  ClaimController off(cluster_, clock_, std::nullopt);
  put(test::pod("a"));
  EXPECT_FALSE(slow.run());
  EXPECT_EQ(slow.next(), clock_.now() + std::chrono::seconds(10));
  EXPECT_FALSE(off.next());
  clock_.advance(std::chrono::seconds(10));
  EXPECT_FALSE(off.run());
  EXPECT_EQ(claim("a-gpu"), nullptr);
  EXPECT_TRUE(slow.run());
  EXPECT_NE(claim("a-gpu"), nullptr);
}

TEST_F(ClaimControllerTest, TakesAClaimThatIsDeletedForThereForAnHour) {
  put(test::pod("a"));
  controller_.run();
  cluster_.delete_claim({"default", "a-gpu"});
  controller_.run();
  EXPECT_EQ(claim("a-gpu"), nullptr);
  EXPECT_EQ(cluster_.pod({"default", "a"})->claim_statuses.size(), 1U);
  clock_.advance(std::chrono::hours(1));
  put(test::pod("a").gpu(1));
  controller_.run();
  EXPECT_NE(claim("a-gpu"), nullptr);
}

TEST_F(ClaimControllerTest, ANewPodOfTheNameGetsItsClaimAtOnce) {
  put(test::pod("a"));
  controller_.run();
  cluster_.remove(api::Kind::kPod, {"default", "a"});
  controller_.run();
  EXPECT_EQ(claim("a-gpu"), nullptr);
  put(test::pod("a"));
  controller_.run();
  EXPECT_NE(claim("a-gpu"), nullptr);
}

TEST_F(ClaimControllerTest, ClaimForAdminAccessWaitsForTheLabel) {
  api::ResourceClaimTemplate form{.meta = {.key = {"default", "t"}}};
  form.spec.requests = {{.name = "gpu", .exactly = api::DeviceAsk{.admin_access = true}}};
  cluster_.put(std::move(form));
  put(test::pod("a"));
  controller_.run();
  EXPECT_EQ(claim("a-gpu"), nullptr);
  api::Namespace space{.meta = {.key = {"", "default"}}};
  space.meta.labels = {{std::string(api::kAdminAccess), "true"}};
  cluster_.put(std::move(space));
  controller_.run();
  EXPECT_NE(claim("a-gpu"), nullptr);
}

}  // namespace
}  // namespace gang::sim
