// The server's rules of claims and of the ConfigMaps that hold intents.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gang/sim/sim_cluster.h"
#include "support/builders.h"

namespace gang::sim {
namespace {

using Part = api::ClaimStatusPatch::Part;
using kube::Answer;
using kube::Outcome;

const api::ObjectKey kC{"default", "c"};
const api::ObjectKey kMap{"system", "intent-1"};
const std::string kFinalizer(api::kClaimFinalizer);

api::ClaimConsumer pod(const std::string& name) {
  return {"", "pods", name, {"uid-" + name}};
}

api::Allocation device(const std::string& name) {
  api::Allocation allocation;
  allocation.results = {{.request = "gpu", .driver = "d", .pool = "n1", .device = name}};
  return allocation;
}

/// A cluster with a claim c for one request, and requests that are answered at once.
class SimClaimsTest : public testing::Test {
 protected:
  SimClaimsTest() {
    api::ResourceClaim claim{.meta = {.key = kC}};
    claim.spec.requests = {{.name = "gpu"}};
    cluster_.put(std::move(claim));
  }

  [[nodiscard]] const api::ResourceClaim& claim() const {
    return *cluster_.find<api::ResourceClaim>(kC);
  }

  /// A patch of the claim as it is now.
  [[nodiscard]] api::ClaimStatusPatch status(Part part, const std::string& name,
                                             std::vector<api::ClaimConsumer> consumers) const {
    const api::ObjectMeta& meta = claim().meta;
    return {kC, meta.uid, meta.resource_version, part, device(name), std::move(consumers)};
  }

  Answer patch(const api::ClaimStatusPatch& wanted) {
    return run([&](kube::ClaimDone done) { cluster_.patch_claim_status(wanted, std::move(done)); });
  }

  Answer patch_finalizers(const std::vector<std::string>& finalizers) {
    const api::ObjectMeta& meta = claim().meta;
    return run([&](kube::ClaimDone done) {
      cluster_.patch_claim({kC, meta.uid, meta.resource_version, finalizers}, std::move(done));
    });
  }

  Answer write(const api::ConfigMap& map, bool creates) {
    return run_map([&](kube::ConfigMapDone done) {
      if (creates) cluster_.create_config_map(map, std::move(done));
      if (!creates) cluster_.update_config_map(map, std::move(done));
    });
  }

  Answer run(const std::function<void(kube::ClaimDone)>& send) {
    Answer end;
    after_.reset();
    send([&](const Answer& answer, std::optional<api::ResourceClaim> claim) {
      end = answer;
      after_ = std::move(claim);
    });
    EXPECT_EQ(cluster_.next_request(), RequestKind::kWrite);
    cluster_.execute_next();
    return end;
  }

  Answer run_map(const std::function<void(kube::ConfigMapDone)>& send) {
    Answer end;
    map_.reset();
    send([&](const Answer& answer, std::optional<api::ConfigMap> map) {
      end = answer;
      map_ = std::move(map);
    });
    cluster_.execute_next();
    return end;
  }

  ManualClock clock_{test::at_second(1000)};
  SimCluster cluster_{clock_};
  std::optional<api::ResourceClaim> after_;
  std::optional<api::ConfigMap> map_;
};

TEST_F(SimClaimsTest, AnswersWithTheClaimAsItIsThen) {
  const api::ResourceVersion before = claim().meta.resource_version;
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-0", {pod("a")})).ok());
  ASSERT_TRUE(after_);
  EXPECT_EQ(*after_, claim());
  EXPECT_TRUE(is_newer(claim().meta.resource_version, before));
  EXPECT_EQ(claim().allocation, device("gpu-0"));
  EXPECT_EQ(claim().reserved_for, std::vector<api::ClaimConsumer>({pod("a")}));
}

TEST_F(SimClaimsTest, ClaimsAreMadeOnceAndDeletedByTheirUid) {
  const api::NewClaim wanted{.claim = {"default", "x"},
                             .generate_name = "p-extended-resources-",
                             .pod = "p",
                             .pod_uid = {"uid-p"},
                             .requests = {{.name = "gpu"}}};
  const auto create = [&] {
    return run([&](kube::ClaimDone done) { cluster_.create_claim(wanted, std::move(done)); });
  };
  const auto erase = [&](const api::Uid& uid) {
    return run([&](const kube::ClaimDone& done) {
      cluster_.delete_claim({.claim = wanted.claim, .uid = uid},
                            [done](const Answer& end) { done(end, std::nullopt); });
    });
  };
  EXPECT_EQ(create().http_status, 201);
  ASSERT_TRUE(after_);
  const api::Uid uid = after_->meta.uid;
  EXPECT_EQ(after_->meta.controller->uid.text, "uid-p");
  EXPECT_EQ(*api::find(after_->meta.annotations, api::kExtendedClaim), "true");
  EXPECT_EQ(create().reason, "AlreadyExists");
  EXPECT_EQ(erase({"other"}).http_status, 409);
  EXPECT_TRUE(erase(uid).ok());
  EXPECT_EQ(erase(uid).http_status, 404);
}

TEST_F(SimClaimsTest, PreconditionsComeBeforeEverythingElse) {
  api::ClaimStatusPatch stale = status(Part::kKeep, "", {pod("a")});
  stale.resource_version = {"1"};
  EXPECT_EQ(patch(stale).http_status, 409);
  api::ClaimStatusPatch foreign = status(Part::kKeep, "", {pod("a")});
  foreign.uid = {"other"};
  EXPECT_EQ(patch(foreign).message, "metadata.uid: field is immutable");
  foreign.claim.name = "none";
  EXPECT_EQ(patch(foreign).outcome, Outcome::kNotFound);
}

TEST_F(SimClaimsTest, AllocationIsSetOrClearedAndNeverEdited) {
  ASSERT_TRUE(patch(status(Part::kSet, "gpu-0", {})).ok());
  const Answer edited = patch(status(Part::kSet, "gpu-1", {}));
  EXPECT_EQ(edited.http_status, 422);
  EXPECT_NE(edited.message.find("field is immutable"), std::string::npos);
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-0", {pod("a")})).ok()) << "the same is no edit";
  api::ResourceClaim used = claim();
  used.devices = {{.driver = "d", .pool = "n1", .device = "gpu-0"}};
  cluster_.put(used);
  EXPECT_TRUE(patch(status(Part::kClear, "", {})).ok());
  EXPECT_FALSE(claim().allocation);
  EXPECT_TRUE(claim().devices.empty()) << "what a driver said of a device goes with it";
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-1", {})).ok());
}

TEST_F(SimClaimsTest, ConsumersNeedAnAllocationAndAreFew) {
  EXPECT_EQ(patch(status(Part::kKeep, "", {pod("a")})).http_status, 422);
  std::vector<api::ClaimConsumer> many;
  for (int i = 0; i < 257; ++i) many.push_back(pod("p" + std::to_string(i)));
  EXPECT_EQ(patch(status(Part::kSet, "gpu-0", many)).http_status, 422);
  EXPECT_EQ(patch(status(Part::kSet, "gpu-0", {pod("a"), pod("a")})).http_status, 422);
  many.pop_back();
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-0", many)).ok());
  EXPECT_EQ(patch(status(Part::kClear, "", {pod("p0")})).http_status, 422);
}

TEST_F(SimClaimsTest, ResultsNameRequestsOfTheClaim) {
  api::ClaimStatusPatch wrong = status(Part::kSet, "gpu-0", {});
  for (const char* name : {"nic", "gpu/small"}) {
    wrong.allocation.results[0].request = name;
    EXPECT_EQ(patch(wrong).http_status, 422) << name;
  }
  api::ResourceClaim with_alternatives = claim();
  with_alternatives.spec.requests[0].first_available = {{.name = "small"}};
  cluster_.put(with_alternatives);
  wrong.resource_version = claim().meta.resource_version;
  EXPECT_TRUE(patch(wrong).ok());
}

TEST_F(SimClaimsTest, AdminAccessNeedsTheLabelOfTheNamespace) {
  api::ClaimStatusPatch wanted = status(Part::kSet, "gpu-0", {});
  wanted.allocation.results[0].admin_access = true;
  EXPECT_EQ(patch(wanted).http_status, 422);
  api::Namespace space{.meta = {.key = {"", "default"}}};
  space.meta.labels = {{"resource.kubernetes.io/admin-access", "true"}};
  cluster_.put(space);
  EXPECT_TRUE(patch(wanted).ok());
}

TEST_F(SimClaimsTest, ClaimInDeletionTakesNoNewConsumerAndNoNewFinalizer) {
  ASSERT_TRUE(patch_finalizers({kFinalizer}).ok());
  ASSERT_TRUE(patch(status(Part::kSet, "gpu-0", {pod("a")})).ok());
  ASSERT_TRUE(cluster_.delete_claim(kC));
  EXPECT_EQ(patch(status(Part::kKeep, "", {pod("a"), pod("b")})).http_status, 422);
  EXPECT_EQ(patch_finalizers({kFinalizer, "example.com/x"}).http_status, 422);
  EXPECT_TRUE(patch(status(Part::kClear, "", {})).ok());
  EXPECT_TRUE(patch_finalizers({}).ok());
  EXPECT_EQ(cluster_.find<api::ResourceClaim>(kC), nullptr);
}

TEST_F(SimClaimsTest, WritesThatChangeNothingKeepTheVersionAndTellNobody) {
  ASSERT_TRUE(patch_finalizers({kFinalizer}).ok());
  ASSERT_TRUE(patch(status(Part::kSet, "gpu-0", {pod("a")})).ok());
  const api::ResourceVersion before = claim().meta.resource_version;
  const std::size_t writes = cluster_.writes().size();
  EXPECT_TRUE(patch_finalizers({kFinalizer}).ok());
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-0", {pod("a")})).ok());
  EXPECT_EQ(after_->meta.resource_version, before);
  EXPECT_EQ(claim().meta.resource_version, before);
  EXPECT_EQ(cluster_.writes().size(), writes);
}

TEST_F(SimClaimsTest, FaultsEndAsTheyAreNamed) {
  const std::vector<std::pair<RequestFault, std::pair<int, bool>>> rows = {
      {RequestFault::kConflict, {409, false}},
      {RequestFault::kServerError, {500, false}},
      {RequestFault::kLostNotExecuted, {0, false}},
      {RequestFault::kLostExecuted, {0, true}},
      {RequestFault::kLate, {0, false}},
      {RequestFault::kThrottled, {429, false}},
      {RequestFault::kForbidden, {422, false}},
  };
  for (const auto& [fault, expected] : rows) {
    cluster_.arm_fault(FaultTarget::kClaim, kC, {fault, 1});
    const Answer end = patch(status(Part::kSet, "gpu-0", {}));
    EXPECT_EQ(end.http_status, expected.first);
    EXPECT_FALSE(after_);
    EXPECT_EQ(claim().allocation.has_value(), expected.second);
    EXPECT_TRUE(patch(status(Part::kClear, "", {})).ok()) << "the fault came twice";
  }
  cluster_.arm_fault(FaultTarget::kClaim, kC, {RequestFault::kForbidden, 1});
  EXPECT_EQ(patch_finalizers({kFinalizer}).http_status, 403);
}

TEST_F(SimClaimsTest, FaultLetsTheWritesBeforePass) {
  cluster_.arm_fault(FaultTarget::kClaim, kC, {RequestFault::kConflict, 1, 1});
  EXPECT_TRUE(patch_finalizers({kFinalizer}).ok());
  EXPECT_EQ(patch(status(Part::kSet, "gpu-0", {})).http_status, 409);
  EXPECT_TRUE(patch(status(Part::kSet, "gpu-0", {})).ok());
}

TEST_F(SimClaimsTest, LateWriteIsExecutedUnlessItsVersionIsPast) {
  for (const bool is_overtaken : {false, true}) {
    cluster_.arm_fault(FaultTarget::kClaim, kC, {RequestFault::kLate, 1});
    EXPECT_EQ(patch(status(Part::kSet, "gpu-0", {})).outcome, Outcome::kUnknown);
    if (is_overtaken) {
      EXPECT_TRUE(patch_finalizers({kFinalizer}).ok());
    }
    ASSERT_EQ(cluster_.next_due(), clock_.now() + std::chrono::seconds(10));
    clock_.advance(std::chrono::seconds(10));
    cluster_.run_due();
    EXPECT_EQ(claim().allocation.has_value(), !is_overtaken);
    EXPECT_FALSE(cluster_.next_due());
    ASSERT_TRUE(patch(status(Part::kClear, "", {})).ok());
  }
}

TEST_F(SimClaimsTest, ReadsTheClaim) {
  Answer end;
  const auto done = [&](const Answer& answer, std::optional<api::ResourceClaim> claim) {
    end = answer;
    after_ = std::move(claim);
  };
  cluster_.read_claim(kC, done);
  EXPECT_EQ(cluster_.next_request(), RequestKind::kOther);
  cluster_.execute_next();
  EXPECT_EQ(*after_, claim());
  cluster_.read_claim({"default", "none"}, done);
  cluster_.execute_next();
  EXPECT_EQ(end.outcome, Outcome::kNotFound);
  EXPECT_FALSE(after_);
}

TEST_F(SimClaimsTest, ConfigMapIsCreatedOnceAndChangedByVersion) {
  const api::ConfigMap map{.meta = {.key = kMap}, .data = {{"intent", "1"}}};
  ASSERT_EQ(write(map, true).http_status, 201);
  api::ConfigMap known = *map_;
  EXPECT_FALSE(known.meta.uid.empty());
  const Answer twice = write(map, true);
  EXPECT_EQ(twice.outcome, Outcome::kConflict);
  EXPECT_EQ(twice.reason, "AlreadyExists");
  known.data["intent"] = "2";
  ASSERT_TRUE(write(known, false).ok());
  const api::ConfigMap newer = *map_;
  EXPECT_TRUE(is_newer(newer.meta.resource_version, known.meta.resource_version));
  EXPECT_EQ(write(known, false).outcome, Outcome::kConflict) << "its version is past";
  known = newer;
  ASSERT_TRUE(write(known, false).ok());
  EXPECT_EQ(map_->meta.resource_version, known.meta.resource_version) << "nothing changed";
  known.meta.uid = {"other"};
  EXPECT_EQ(write(known, false).outcome, Outcome::kConflict);
  known.meta.key.name = "none";
  EXPECT_EQ(write(known, false).outcome, Outcome::kNotFound);
}

TEST_F(SimClaimsTest, AFenceIsAnAnnotationAndMovesTheVersion) {
  for (const char* value : {"e1-1", "e1-2"}) {
    const api::ObjectMeta before = claim().meta;
    EXPECT_TRUE(run([&](kube::ClaimDone done) {
                  cluster_.patch_claim({kC, before.uid, before.resource_version, {}, value},
                                       std::move(done));
                }).ok());
    EXPECT_NE(claim().meta.resource_version, before.resource_version);
    ASSERT_EQ(claim().meta.annotations.size(), 1U);
    EXPECT_EQ(claim().meta.annotations[0].second, value);
  }
}

TEST_F(SimClaimsTest, ConfigMapsAreListedByNamespaceAndLabel) {
  api::ConfigMap map{.meta = {.key = kMap, .labels = {{"kind", "intent"}}}};
  EXPECT_TRUE(write(map, true).ok());
  map.meta.key.name_space = "other";
  EXPECT_TRUE(write(map, true).ok());
  map.meta = {.key = {"system", "plain"}};
  EXPECT_TRUE(write(map, true).ok());
  std::vector<api::ConfigMap> listed;
  cluster_.list_config_maps("system", "kind=intent",
                            [&](const Answer& answer, std::vector<api::ConfigMap> maps) {
                              EXPECT_TRUE(answer.ok());
                              listed = std::move(maps);
                            });
  cluster_.execute_next();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].meta.key, kMap);
}

TEST_F(SimClaimsTest, ConfigMapIsDeletedByUidAndVersion) {
  ASSERT_TRUE(write({.meta = {.key = kMap}}, true).ok());
  const api::ObjectMeta meta = map_->meta;
  Answer end;
  const auto erase = [&](const kube::ConfigMapDelete& request) {
    cluster_.delete_config_map(request, [&](const Answer& answer) { end = answer; });
    cluster_.execute_next();
    return end.outcome;
  };
  EXPECT_EQ(erase({kMap, {"other"}, meta.resource_version}), Outcome::kConflict);
  EXPECT_EQ(erase({kMap, meta.uid, {"1"}}), Outcome::kConflict);
  EXPECT_EQ(erase({kMap, meta.uid, meta.resource_version}), Outcome::kOk);
  EXPECT_EQ(erase({kMap, meta.uid, meta.resource_version}), Outcome::kNotFound);
  cluster_.arm_fault(FaultTarget::kConfigMap, kMap, {RequestFault::kForbidden});
  EXPECT_EQ(write({.meta = {.key = kMap}}, true).outcome, Outcome::kForbidden);
}

}  // namespace
}  // namespace gang::sim
