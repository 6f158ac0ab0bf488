#include "device_fixture.h"

namespace gang::cluster {
namespace {

using api::Kind;
using test::list_begin;
using test::list_end;

class GangClaimsTest : public DeviceStateTest {
 protected:
  /// Whether the change is about the pod's gang and nothing but it.
  bool tells_of(const Change& change, const api::Pod& pod) {
    return change.gangs == std::vector<GangId>{gang_of(pod)->id} && change.status_only.empty();
  }
};

const api::ClaimEntry kNamed{.name = "gpu", .claim_name = "shared"};
const api::ClaimEntry kMade{.name = "gpu", .template_name = "gpus"};

TEST_F(GangClaimsTest, EntriesLeadToClaimsOrSayWhyNot) {
  struct Row {
    const char* what;
    std::vector<api::ClaimEntry> entries;
    std::vector<api::ClaimEntryStatus> statuses;
    const char* expected;
  };
  const Row rows[] = {
      {"no claims", {}, {}, ""},
      {"by name", {kNamed}, {}, "shared ok"},
      {"a name nobody has",
       {{.name = "x", .claim_name = "none"}},
       {},
       "could not find ResourceClaim \"default/none\""},
      {"not made yet", {kMade}, {}, "pod \"default/p\": ResourceClaim not created yet"},
      {"from no template",
       {{.name = "gpu", .template_name = "typo"}},
       {},
       "pod \"default/p\": ResourceClaim not created yet, ResourceClaimTemplate \"default/typo\" "
       "does not exist"},
      {"made", {kMade}, {{"gpu", "p-gpu"}}, "p-gpu ok"},
      {"none is needed", {kMade}, {{"gpu", ""}}, ""},
      {"made for another pod",
       {kMade},
       {{"gpu", "q-gpu"}},
       "ResourceClaim default/q-gpu was not created for Pod default/p (Pod is not owner)"},
      {"made by nobody",
       {kMade},
       {{"gpu", "shared"}},
       "ResourceClaim default/shared was not created for Pod default/p (Pod is not owner)"},
      {"made and gone",
       {kMade},
       {{"gpu", "gone"}},
       "could not find ResourceClaim \"default/gone\""},
      {"going",
       {{.name = "x", .claim_name = "going"}},
       {},
       "resourceclaim \"going\" is being deleted"},
      {"unreadable",
       {{.name = "x", .claim_name = "odd"}},
       {},
       "ResourceClaim default/odd: spec.devices: odd"},
      {"neither name nor template",
       {{.name = "x"}},
       {},
       "pod \"default/p\": claim x: none of the supported fields are set"},
      {"the same twice", {kNamed, {.name = "again", .claim_name = "shared"}}, {}, "shared ok"},
      {"in order", {kMade, kNamed}, {{"gpu", "p-gpu"}}, "p-gpu ok; shared ok"},
  };
  api::ResourceClaim going = claim("going");
  going.meta.deletion_time = test::at_second(5);
  api::ResourceClaim odd = claim("odd");
  odd.meta.unreadable = "spec.devices: odd";
  tell({added(claim("shared")), added(form("gpus")), added(going), added(odd),
        added(owned(claim("p-gpu"), "Pod", "p", "uid-default-p")),
        added(owned(claim("q-gpu"), "Pod", "q", "uid-default-q"))});
  for (const Row& row : rows) {
    const api::Pod p = with_claims(pod("p"), row.entries, row.statuses);
    tell(updated(p));
    EXPECT_EQ(claims_of(p), row.expected) << row.what;
  }
}

TEST_F(GangClaimsTest, MembersPointIntoTheClaimsOfTheGang) {
  tell({added(claim("a")), added(claim("b")), added(pod_group("g").min(2)),
        added(with_claims(pod("g-0").group("g"),
                          {{.name = "x", .claim_name = "b"}, {.name = "y", .claim_name = "a"}})),
        added(with_claims(pod("g-1").group("g"), {{.name = "x", .claim_name = "a"}})),
        added(pod("g-2").group("g")),
        added(with_claims(pod("g-3").group("g").on("n1"), {{.name = "x", .claim_name = "c"}}))});
  EXPECT_EQ(claims_of("g"), "b ok; a ok");
  const Gang value = gang("g").value();
  EXPECT_EQ(member(value, "g-0")->claims, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(member(value, "g-1")->claims, (std::vector<std::int32_t>{1}));
  EXPECT_TRUE(member(value, "g-2")->claims.empty());
  EXPECT_TRUE(member(value, "g-3")->claims.empty()) << "it has its devices";
}

TEST_F(GangClaimsTest, ClaimsOfThePodGroupComeFirstAndEqualEntriesOfPodsMeanThem) {
  const api::Pod member_pod = with_claims(
      pod("g-0").group("g"), {{.name = "own", .claim_name = "mine"}, kMade}, {{"gpu", "g-gpu"}});
  tell({added(form("gpus")), added(claim("mine")), added(member_pod),
        added(with_claims(pod_group("g"), {kMade}))});
  EXPECT_EQ(claims_of("g"),
            "PodGroup \"default/g\": ResourceClaim not created yet (group); mine ok; "
            "could not find ResourceClaim \"default/g-gpu\" (group)");
  tell({added(owned(claim("g-gpu"), "PodGroup", "g", "uid-default-g")),
        updated(with_claims(pod_group("g"), {kMade}, {{"gpu", "g-gpu"}}))});
  EXPECT_EQ(claims_of("g"), "g-gpu ok (group); mine ok");
  EXPECT_EQ(member(gang("g").value(), "g-0")->claims, (std::vector<std::int32_t>{1, 0}));

  api::ResourceClaim foreign = owned(claim("g-gpu"), "PodGroup", "g", "uid-default-g");
  foreign.meta.controller->api_group = "scheduling.volcano.sh";
  tell(updated(foreign));
  EXPECT_NE(claims_of("g").find("was not created for PodGroup default/g"), std::string::npos);
  tell(updated(owned(claim("g-gpu"), "PodGroup", "h", "uid-default-h")));
  EXPECT_EQ(claims_of("g"),
            "ResourceClaim default/g-gpu was not created for PodGroup default/g (PodGroup is not "
            "owner) (group); mine ok; ResourceClaim default/g-gpu was not created for Pod "
            "default/g-0 (neither Pod nor PodGroup g is the owner) (group)");
}

TEST_F(GangClaimsTest, AnEntryThatDiffersFromTheGroupsIsThePodsOwn) {
  tell({added(claim("shared")), added(claim("other")),
        added(with_claims(pod("g-0").group("g"), {{.name = "gpu", .claim_name = "other"}})),
        added(with_claims(pod_group("g"), {kNamed}))});
  EXPECT_EQ(claims_of("g"), "shared ok (group); other ok");
}

TEST_F(GangClaimsTest, AClaimThatComesChangesOrGoesTellsItsGangs) {
  const api::Pod p = with_claims(pod("p"), {kNamed});
  tell({added(p), added(with_claims(pod("q"), {{.name = "x", .claim_name = "other"}}))});
  EXPECT_TRUE(tells_of(tell(added(claim("shared"))), p));
  EXPECT_TRUE(tells_of(tell(updated(claim("shared", {result("n1", "gpu-0")}))), p));
  EXPECT_EQ(gang_of(p)->claims.at(0).allocation->results.size(), 1U);

  api::ResourceClaim reserved = claim("shared", {result("n1", "gpu-0")});
  reserved.reserved_for.push_back({.resource = "pods", .name = "x", .uid = {"u"}});
  EXPECT_TRUE(tells_of(tell(updated(reserved)), p)) << "somebody uses it now";
  reserved.reserved_for.push_back({.resource = "pods", .name = "y", .uid = {"v"}});
  const Change joined = tell(updated(reserved));
  EXPECT_EQ(joined.gangs.size(), 1U);
  EXPECT_EQ(joined.status_only, joined.gangs) << "another consumer does not concern it";
  reserved.reserved_for.resize(256);
  EXPECT_TRUE(tells_of(tell(updated(reserved)), p)) << "nobody can join any more";

  EXPECT_TRUE(tells_of(tell(deleted(reserved)), p));
  tell(added(claim("shared")));
  tell({list_begin(Kind::kResourceClaim), added(claim("other"))});
  EXPECT_TRUE(tells_of(tell(list_end(Kind::kResourceClaim)), p));
  EXPECT_EQ(claims_of(p), "could not find ResourceClaim \"default/shared\"");
}

TEST_F(GangClaimsTest, AdminAccessNeedsTheLabelOfTheNamespace) {
  api::ResourceClaim admin = claim("shared");
  admin.spec.requests.push_back({.name = "r", .exactly = api::DeviceAsk{.admin_access = true}});
  const api::Pod p = with_claims(pod("p"), {kNamed});
  tell({added(admin), added(p), added(with_claims(pod("q"), {{.name = "x", .claim_name = "o"}})),
        added(claim("o"))});
  const std::string problem =
      "ResourceClaim default/shared asks for admin access, and namespace default lacks the label "
      "resource.kubernetes.io/admin-access: \"true\"";
  EXPECT_EQ(claims_of(p), problem) << "the Namespace is not known";
  EXPECT_EQ(claims_of(pod("q")), "o ok");

  const auto labelled = [](const std::string& name, const std::string& value) {
    api::Namespace name_space;
    name_space.meta.key.name = name;
    name_space.meta.uid.text = "uid-" + name;
    name_space.meta.labels = {{std::string(api::kAdminAccess), value}};
    return api::Delta{
        .type = api::DeltaType::kUpdated, .kind = Kind::kNamespace, .object = name_space};
  };
  EXPECT_TRUE(tell(labelled("default", "yes")).gangs.empty());
  EXPECT_EQ(claims_of(p), problem);
  EXPECT_TRUE(tell(labelled("other", "true")).gangs.empty());
  const Change change = tell(labelled("default", "true"));
  EXPECT_EQ(change.gangs.size(), 2U) << "all that have claims there";
  EXPECT_TRUE(change.status_only.empty());
  EXPECT_EQ(claims_of(p), "shared ok");

  EXPECT_EQ(tell(labelled("default", "")).gangs.size(), 2U);
  EXPECT_EQ(claims_of(p), problem);
  admin.allocation = claim("x", {result("n1", "gpu-0")}).allocation;
  tell(updated(admin));
  EXPECT_EQ(claims_of(p), "shared ok") << "it has its devices";
}

TEST_F(GangClaimsTest, ClaimThatTheLabelKeepsFromBeingMadeSaysSo) {
  api::ResourceClaimTemplate admin = form("gpus");
  admin.spec.requests.push_back({.name = "r", .exactly = api::DeviceAsk{.admin_access = true}});
  const api::Pod p = with_claims(pod("p"), {kMade});
  tell({added(admin), added(p)});
  EXPECT_EQ(claims_of(p),
            "pod \"default/p\": ResourceClaim not created yet, ResourceClaimTemplate "
            "\"default/gpus\" asks for admin access, and namespace default lacks the label "
            "resource.kubernetes.io/admin-access: \"true\"");
  tell(deleted(admin));
  admin = form("gpus");
  admin.meta.uid.text = "uid-another";
  EXPECT_TRUE(tells_of(tell(added(admin)), p));
  EXPECT_EQ(claims_of(p), "pod \"default/p\": ResourceClaim not created yet");
}

TEST_F(GangClaimsTest, OnlyThoseWhoReferToAClaimAreTold) {
  const api::Pod p = with_claims(pod("p"), {kMade});
  tell({added(p), added(with_claims(pod_group("g"), {kNamed})), added(pod("g-0").group("g"))});
  EXPECT_TRUE(tells_of(tell(added(form("gpus"))), p));
  EXPECT_TRUE(tell(updated(form("gpus"))).gangs.empty());
  EXPECT_TRUE(tells_of(tell(deleted(form("gpus"))), p));
  EXPECT_TRUE(tell(added(claim("p-gpu"))).gangs.empty());

  const api::Pod made = with_claims(pod("p"), {kMade}, {{"gpu", "p-gpu"}});
  EXPECT_TRUE(tells_of(tell(updated(made)), p)) << "the claim was made for it";
  EXPECT_TRUE(tells_of(tell(deleted(claim("p-gpu"))), p));
  EXPECT_TRUE(tell(added(form("gpus"))).gangs.empty()) << "it has its claim";
  EXPECT_EQ(tell(added(claim("shared"))).gangs, std::vector<GangId>{gang("g")->id});

  tell({deleted(made), deleted(with_claims(pod_group("g"), {kNamed}))});
  EXPECT_TRUE(tell(added(claim("p-gpu"))).gangs.empty());
  EXPECT_TRUE(tell(deleted(claim("shared"))).gangs.empty());
}

TEST_F(GangClaimsTest, APodThatIsBoundRefersToNothingAnyMore) {
  const api::Pod p = with_claims(pod("g-0").group("g"), {kNamed});
  tell({added(p), added(claim("shared"))});
  EXPECT_EQ(claims_of("g"), "shared ok");
  api::Pod bound = p;
  bound.node_name = "n1";
  tell(updated(bound));
  EXPECT_EQ(claims_of("g"), "");
  EXPECT_TRUE(tell(deleted(claim("shared"))).gangs.empty());
}

class AssumedAllocations : public DeviceStateTest {
 protected:
  void SetUp() override {
    tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(claim("c")), added(pod_)});
    state_.assume_allocation({"uid-c"}, *claim("c", {result("n1", "gpu-0")}).allocation);
    EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  }

  api::Pod pod_ = with_claims(pod("p"), {{.name = "x", .claim_name = "c"}});
};

TEST_F(AssumedAllocations, CountAtOnceAndShowInTheGang) {
  const GangClaim seen = gang_of(pod_)->claims.at(0);
  EXPECT_TRUE(seen.is_assumed);
  EXPECT_EQ(seen.allocation->results.at(0).device, "gpu-0");
  EXPECT_FALSE(seen.claim->allocation);
  tell(updated(claim("c")));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0") << "a version without an allocation ends nothing";
}

TEST_F(AssumedAllocations, EndWhenTheWatchShowsTheSame) {
  const Change change = tell(updated(claim("c", {result("n1", "gpu-0")})));
  EXPECT_FALSE(change.devices_gained || change.devices_lost);
  EXPECT_FALSE(gang_of(pod_)->claims.at(0).is_assumed);
  state_.forget_allocation({"uid-c"});
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  tell(updated(claim("c")));
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(AssumedAllocations, EndWhenTheWatchShowsAnother) {
  const Change change = tell(updated(claim("c", {result("n1", "gpu-1")})));
  EXPECT_TRUE(change.devices_gained && change.devices_lost);
  EXPECT_EQ(taken("n1", "gpu-0"), "");
  EXPECT_EQ(taken("n1", "gpu-1"), "1+0");
}

TEST_F(AssumedAllocations, EndWhenForgotten) {
  state_.forget_allocation({"uid-c"});
  EXPECT_EQ(taken("n1", "gpu-0"), "");
  state_.forget_allocation({"uid-c"});
  EXPECT_EQ(gang_of(pod_)->claims.at(0).allocation, nullptr);
}

TEST_F(AssumedAllocations, EndWhenTheClaimGoes) {
  EXPECT_TRUE(tell(deleted(claim("c"))).devices_gained);
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(AssumedAllocations, EndWhenAnotherClaimHasTheName) {
  api::ResourceClaim other = claim("c");
  other.meta.uid.text = "uid-other";
  EXPECT_TRUE(tell(added(other)).devices_gained);
  EXPECT_EQ(taken("n1", "gpu-0"), "");
  state_.assume_allocation({"uid-other"}, *claim("c", {result("n1", "gpu-1")}).allocation);
  EXPECT_EQ(taken("n1", "gpu-1"), "1+0");
}

/// What is assumed of a claim that is still to be made for the pod p.
class ExpectedClaims : public DeviceStateTest {
 protected:
  void SetUp() override {
    tell(added(slice("s1", "n1", {"gpu-0", "gpu-1"})));
    state_.assume_new_claim({"default", "x"}, {"uid-p"}, *held().allocation);
    EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  }

  static api::ResourceClaim made(api::ResourceClaim claim, const std::string& pod = "uid-p") {
    claim.meta.annotations = {{std::string(api::kExtendedClaim), "true"}};
    claim.meta.controller = api::ControllerRef{"Pod", "p", {pod}};
    return claim;
  }
  static api::ResourceClaim held() { return claim("x", {result("n1", "gpu-0")}); }
};

TEST_F(ExpectedClaims, GoOverToTheClaimThatIsMade) {
  tell(added(made(claim("x"))));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_EQ(state_.recompute(), "");
  const Change change = tell(updated(made(held())));
  EXPECT_FALSE(change.devices_gained || change.devices_lost);
  state_.forget_new_claim({"default", "x"});
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  tell(deleted(made(held())));
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(ExpectedClaims, EndWhenTheClaimIsShownWithItsDevices) {
  tell(added(made(held())));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_EQ(state_.recompute(), "");
}

TEST_F(ExpectedClaims, EndWhenForgottenBeforeAndAfterTheClaimIsShown) {
  state_.forget_new_claim({"default", "x"});
  EXPECT_EQ(taken("n1", "gpu-0"), "");
  state_.assume_new_claim({"default", "x"}, {"uid-p"}, *held().allocation);
  tell(added(made(claim("x"))));
  state_.forget_new_claim({"default", "x"});
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(ExpectedClaims, AreNotMetByTheClaimOfAnother) {
  tell(added(made(claim("x"), "uid-q")));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_EQ(state_.recompute(), "");
  state_.forget_new_claim({"default", "x"});
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(ExpectedClaims, AreFoundByTheirPod) {
  EXPECT_TRUE(state_.extended_claims({"uid-p"}).empty());
  tell({added(made(claim("x"))), added(made(claim("y"))), added(claim("z"))});
  ASSERT_EQ(state_.extended_claims({"uid-p"}).size(), 2U);
  EXPECT_EQ(state_.extended_claims({"uid-p"})[1]->meta.key.name, "y");
  tell({deleted(made(claim("x"))), deleted(made(claim("y")))});
  EXPECT_TRUE(state_.extended_claims({"uid-p"}).empty());
}

}  // namespace
}  // namespace gang::cluster
