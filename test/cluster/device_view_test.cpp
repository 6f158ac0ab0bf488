#include "device_fixture.h"

#include <algorithm>

namespace gang::cluster {
namespace {

using api::Kind;
using test::list_begin;
using test::list_end;
using test::mark;

class Devices : public DeviceStateTest {
 protected:
  static api::ResourceSlice shared_slice(const std::string& name, const std::string& pool) {
    api::ResourceSlice shared = slice(name, pool, {"port-0"});
    shared.place = {.all_nodes = true};
    return shared;
  }
};

TEST_F(Devices, AnEmptyClusterHasAnEmptyView) {
  EXPECT_EQ(text_of(*view()), "shared:\nclasses:\ntaken: 0\n");
  EXPECT_EQ(seen_by("n1"), "");
}

TEST_F(Devices, ANodeSeesItsOwnPoolsAndTheSharedOnes) {
  tell({added(slice("s2", "n2", {"gpu-0"})), added(slice("s1", "n1", {"gpu-0", "gpu-1"})),
        added(shared_slice("s3", "fabric"))});
  EXPECT_EQ(seen_by("n1"), "n1/gpu-0 n1/gpu-1 fabric/port-0");
  EXPECT_EQ(seen_by("n2"), "n2/gpu-0 fabric/port-0");
  EXPECT_EQ(seen_by("n3"), "fabric/port-0");
  EXPECT_EQ(text_of(*view()),
            "pool d/fabric 0 : port-0[]\npool d/n1 0 : gpu-0[] gpu-1[]\npool d/n2 0 : gpu-0[]\n"
            "shared: fabric\nclasses:\ntaken: 0\n");
}

TEST_F(Devices, APoolOfSeveralNodesIsFoundByEach) {
  api::ResourceSlice a = slice("a", "rack", {"gpu-0"});
  a.place.node_name = "n1";
  api::ResourceSlice b = slice("b", "rack", {"gpu-1"});
  b.place.node_name = "n2";
  a.pool_slice_count = b.pool_slice_count = 2;
  tell({added(a), added(b)});
  EXPECT_EQ(seen_by("n1"), "rack/gpu-0 rack/gpu-1");
  EXPECT_EQ(seen_by("n2"), "rack/gpu-0 rack/gpu-1");
  b.place = {.all_nodes = true};
  tell(updated(b));
  EXPECT_EQ(view()->local_pools("n1").size(), 0U) << "a shared pool is not a node's too";
  EXPECT_EQ(seen_by("n9"), "rack/gpu-0 rack/gpu-1");
}

TEST_F(Devices, APoolIsCompleteWhenAllSlicesOfItsNewestGenerationAreThere) {
  api::ResourceSlice first = slice("a", "n1", {"gpu-0"});
  first.pool_slice_count = 2;
  tell(added(first));
  EXPECT_EQ(view()->pool(view()->by_name()[0]).state(), PoolState::kIncomplete);
  api::ResourceSlice second = slice("b", "n1", {"gpu-1"});
  second.pool_slice_count = 2;
  tell(added(second));
  EXPECT_EQ(view()->pool(view()->by_name()[0]).state(), PoolState::kReady);
  tell(deleted(first));
  EXPECT_EQ(view()->pool(view()->by_name()[0]).state(), PoolState::kIncomplete);
  tell(deleted(second));
  EXPECT_TRUE(view()->by_name().empty());
  EXPECT_EQ(seen_by("n1"), "");
}

TEST_F(Devices, OnlyThePoolThatChangedIsBuiltAnew) {
  tell({added(slice("s1", "n1", {"gpu-0"})), added(slice("s2", "n2", {"gpu-0"}))});
  const auto before = view();
  tell(updated(slice("s2", "n2", {"gpu-0", "gpu-1"})));
  const auto after = view();
  EXPECT_EQ(&before->pool(before->by_name()[0]), &after->pool(after->by_name()[0]));
  EXPECT_NE(&before->pool(before->by_name()[1]), &after->pool(after->by_name()[1]));
  EXPECT_LT(before->generation(), after->generation());
}

/// Three slices of one pool: "a" of counters, "b" whose device takes of them, "c" with two others.
std::vector<api::ResourceSlice> slices_of_rack() {
  api::ResourceSlice a = slice("a", "rack", {});
  a.shared_counters = {{.name = "set", .counters = {{"size", api::Quantity::from_units(4)}}}};
  api::ResourceSlice b = slice("b", "rack", {"part-0"});
  b.devices[0].consumes_counters = {
      {.counter_set = "set", .counters = {{"size", api::Quantity::from_units(1)}}}};
  std::vector<api::ResourceSlice> slices{a, b, slice("c", "rack", {"gpu-0", "gpu-1"})};
  for (api::ResourceSlice& one : slices) one.pool_slice_count = 3;
  return slices;
}

TEST_F(Devices, OfAPoolOnlyThePartsThatChangedAreBuiltAnew) {
  std::vector<api::ResourceSlice> slices = slices_of_rack();
  for (const api::ResourceSlice& one : slices) tell(added(one));
  std::vector<PartPtr> parts = view()->pool({0}).parts();
  ASSERT_EQ(parts.size(), 3U);
  // Tells it and names the slices whose parts are others then.
  const auto rebuilt = [&](const api::Delta& delta) {
    tell(delta);
    const std::vector<PartPtr>& now = view()->pool({0}).parts();
    std::string names;
    for (const PartPtr& part : now) {
      if (std::ranges::count(parts, part) == 0) names += part->slice->meta.key.name;
    }
    parts = now;
    return names;
  };
  slices[2].devices[1].name = "gpu-2";
  slices[2].meta.resource_version.text = "2";
  EXPECT_EQ(rebuilt(updated(slices[2])), "c");
  slices[0].shared_counters[0].counters[0].second = api::Quantity::from_units(8);
  slices[0].meta.resource_version.text = "3";
  EXPECT_EQ(rebuilt(updated(slices[0])), "a") << "the counter is where it was";
  slices[0].shared_counters.insert(slices[0].shared_counters.begin(), {.name = "other"});
  slices[0].meta.resource_version.text = "4";
  EXPECT_EQ(rebuilt(updated(slices[0])), "ab") << "what takes of counters finds them again";
  EXPECT_EQ(rebuilt(added(rule("r", "rack", "gpu-2"))), "c");
  EXPECT_EQ(rebuilt(deleted(rule("r", "rack", "gpu-2"))), "c");
  EXPECT_EQ(rebuilt(added(rule("all", "rack", ""))), "bc") << "counters are no devices";
  EXPECT_EQ(text_of(*view()).substr(0, 62),
            "pool d/rack 0 : part-0[ all set/size=1of8] gpu-0[ all] gpu-2[ ");
}

TEST_F(Devices, ARuleForADeviceThatNoPoolHasChangesNothing) {
  tell(added(slice("s1", "n1", {"gpu-0"})));
  const auto before = view();
  tell(added(rule("r", "", "gpu-7")));
  std::vector<PoolIndex> changed;
  view()->changed_pools(*before, changed);
  EXPECT_TRUE(changed.empty());
  tell(updated(slice("s1", "n1", {"gpu-7"})));
  EXPECT_EQ(text_of(*view()).substr(0, 25), "pool d/n1 0 : gpu-7[ r]\ns");
}

TEST_F(Devices, WhatChangesNothingLeavesTheViewAlone) {
  api::ResourceSlice one = slice("s1", "n1", {"gpu-0"});
  tell({added(one), added(device_class("gpu")), added(rule("sick", "n1", "")),
        added(claim("c", {result("n1", "gpu-0")})), added(node("n1"))});
  const auto before = view();
  const auto unchanged = [](const Change& change) {
    return change.gangs.empty() && !change.devices_gained && !change.devices_lost;
  };
  EXPECT_TRUE(unchanged(tell(updated(one))));
  one.meta.labels = {{"a", "b"}};
  one.meta.generation = 7;
  EXPECT_TRUE(unchanged(tell(updated(one))));
  EXPECT_TRUE(unchanged(tell(updated(device_class("gpu")))));
  EXPECT_TRUE(unchanged(tell(updated(rule("sick", "n1", "")))));
  EXPECT_TRUE(unchanged(tell(updated(claim("c", {result("n1", "gpu-0")})))));
  EXPECT_TRUE(unchanged(tell(added(rule("other", "n9", "")))));
  tell(updated(node("n1").gpu(8)));
  EXPECT_EQ(view(), before);
}

TEST_F(Devices, SnapshotsAreNewWhenDevicesAre) {
  tell(added(node("n1")));
  const auto before = state_.snapshot();
  tell(added(slice("s1", "n1", {"gpu-0"})));
  const auto after = state_.snapshot();
  EXPECT_LT(before->generation(), after->generation());
  EXPECT_EQ(after, state_.snapshot());
}

TEST_F(Devices, RulesTaintTheDevicesTheySelect) {
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(slice("s2", "n2", {"gpu-0"})),
        added(rule("one", "n1", "gpu-1")), added(rule("all", "", "")),
        added(rule("name", "", "gpu-0"))});
  EXPECT_EQ(text_of(*view()),
            "pool d/n1 0 : gpu-0[ all name] gpu-1[ all one]\npool d/n2 0 : gpu-0[ all name]\n"
            "shared:\nclasses:\ntaken: 0\n");
  const Change healed = tell(deleted(rule("all", "", "")));
  EXPECT_TRUE(healed.devices_gained);
  EXPECT_FALSE(healed.devices_lost);
  EXPECT_EQ(text_of(*view()),
            "pool d/n1 0 : gpu-0[ name] gpu-1[ one]\npool d/n2 0 : gpu-0[ name]\n"
            "shared:\nclasses:\ntaken: 0\n");
  const Change moved = tell(updated(rule("one", "n2", "gpu-0")));
  EXPECT_TRUE(moved.devices_gained && moved.devices_lost);
  EXPECT_EQ(text_of(*view()),
            "pool d/n1 0 : gpu-0[ name] gpu-1[]\npool d/n2 0 : gpu-0[ name one]\n"
            "shared:\nclasses:\ntaken: 0\n");
}

TEST_F(Devices, YoungestClassStandsBehindAResourceAndEachBehindItsOwn) {
  const auto named = [](const std::string& name, std::int64_t created) {
    api::DeviceClass one = device_class(name);
    one.extended_resource_name = "example.com/gpu";
    one.meta.creation_time = test::at_second(created);
    return one;
  };
  const auto winner = [this] { return view()->extended_resources()->at("example.com/gpu"); };
  tell({added(named("b", 5)), added(named("c", 5)), added(named("a", 1))});
  EXPECT_EQ(winner(), "b") << "the youngest, then the smaller name";
  EXPECT_EQ(view()->extended_resources()->at("deviceclass.resource.kubernetes.io/a"), "a");
  tell(updated(named("a", 9)));
  EXPECT_EQ(winner(), "a");
  tell(deleted(named("a", 9)));
  EXPECT_EQ(winner(), "b");
  tell({deleted(named("b", 5)), deleted(named("c", 5))});
  EXPECT_TRUE(view()->extended_resources()->empty());
}

TEST_F(Devices, EachChangeHasItsDirection) {
  struct Row {
    const char* what;
    api::Delta delta;
    bool gained;
    bool lost;
  };
  tell(added(slice("s1", "n1", {"gpu-0"})));
  const Row rows[] = {
      {"a slice comes", added(slice("s2", "n2", {"gpu-0"})), true, true},
      {"a class comes", added(device_class("gpu")), true, false},
      {"a class goes", deleted(device_class("gpu")), false, true},
      {"a rule taints", added(rule("sick", "n1", "")), false, true},
      {"a rule goes", deleted(rule("sick", "n1", "")), true, false},
      {"a device is taken", added(claim("c", {result("n1", "gpu-0")})), false, true},
      {"a device is freed", updated(claim("c")), true, false},
      {"a share is taken", updated(claim("c", {share("n1", "gpu-0", "1Gi")})), true, true},
      {"its claim goes", deleted(claim("c")), true, false},
      {"a claim waits", added(claim("c2")), false, false},
  };
  for (const Row& row : rows) {
    const Change change = tell(row.delta);
    EXPECT_EQ(change.devices_gained, row.gained) << row.what;
    EXPECT_EQ(change.devices_lost, row.lost) << row.what;
    EXPECT_FALSE(change.nodes) << row.what;
  }
}

TEST_F(Devices, AllocationsCountWhetherTheDeviceIsKnownOrNot) {
  tell(added(claim("early", {result("n1", "gpu-0")})));
  EXPECT_EQ(view()->usage().size(), 1U);
  tell(added(slice("s1", "n1", {"gpu-0", "gpu-1"})));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_EQ(taken("n1", "gpu-1"), "");
  tell(deleted(slice("s1", "n1", {})));
  EXPECT_EQ(view()->usage().size(), 1U) << "still held by the claim";
  tell(added(slice("s1", "n1", {"gpu-0"})));
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  tell(deleted(claim("early")));
  EXPECT_EQ(taken("n1", "gpu-0"), "");
}

TEST_F(Devices, TwoClaimsOnOneDeviceFreeItTogetherAndSharesAddUp) {
  api::DeviceResult admin = result("n1", "gpu-0");
  admin.admin_access = true;
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(claim("a", {result("n1", "gpu-0")})),
        added(claim("b", {result("n1", "gpu-0")})), added(claim("watcher", {admin})),
        added(claim("c", {share("n1", "gpu-1", "2Gi")})),
        added(claim("d", {share("n1", "gpu-1", "3Gi")}))});
  EXPECT_EQ(taken("n1", "gpu-0"), "2+0");
  EXPECT_EQ(taken("n1", "gpu-1"), "0+2 memory=5Gi");
  tell({deleted(claim("a")), deleted(claim("c")), deleted(claim("watcher"))});
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_EQ(taken("n1", "gpu-1"), "0+1 memory=3Gi");
}

/// "b has gpu-0 of a" for each, joined by "; ".
std::string double_bookings(const Change& change) {
  std::string text;
  for (const DeviceTrouble& trouble : change.device_troubles) {
    const auto* one = std::get_if<api::DoubleBooking>(&trouble);
    if (one == nullptr) continue;
    text += (text.empty() ? "" : "; ") + one->claim->meta.key.name + " has " + one->device.text() +
            " of " + one->other->meta.key.name;
  }
  return text;
}

TEST_F(Devices, ASecondClaimOnADeviceIsToldOnce) {
  api::DeviceResult admin = result("n1", "gpu-0");
  admin.admin_access = true;
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(claim("a", {result("n1", "gpu-0")}))});
  EXPECT_EQ(double_bookings(tell(added(claim("watcher", {admin})))), "");
  EXPECT_EQ(double_bookings(tell(added(claim("b", {result("n1", "gpu-0")})))),
            "b has d/n1/gpu-0 of a");
  api::ResourceClaim again = claim("b", {result("n1", "gpu-0")});
  again.meta.resource_version = {"99"};
  again.reserved_for.push_back({.resource = "pods", .name = "p", .uid = {"uid-p"}});
  EXPECT_EQ(double_bookings(tell(updated(again))), "") << "the same devices";
  EXPECT_EQ(double_bookings(tell(added(claim("c", {result("n1", "gpu-0")})))),
            "c has d/n1/gpu-0 of a; c has d/n1/gpu-0 of b");
  EXPECT_EQ(double_bookings(tell(added(claim("x", {share("n1", "gpu-1", "2Gi")})))), "");
  EXPECT_EQ(double_bookings(tell(added(claim("y", {share("n1", "gpu-1", "3Gi")})))), "");
  EXPECT_EQ(double_bookings(tell(added(claim("z", {result("n1", "gpu-1")})))),
            "z has d/n1/gpu-1 of x; z has d/n1/gpu-1 of y");
}

TEST_F(Devices, WhatIsAssumedIsNoSecondClaimUntilItIsShown) {
  tell({added(slice("s1", "n1", {"gpu-0"})), added(claim("a"))});
  api::Allocation allocation;
  allocation.results = {result("n1", "gpu-0")};
  state_.assume_allocation(claim("a").meta.uid, allocation);
  EXPECT_EQ(double_bookings(tell(added(claim("b", {result("n1", "gpu-0")})))), "");
  api::ResourceClaim shown = claim("a", {result("n1", "gpu-0")});
  shown.meta.resource_version = {"99"};
  EXPECT_EQ(double_bookings(tell(updated(shown))), "a has d/n1/gpu-0 of b");
}

/// "a lacks d/n1/gpu-0" for each, joined by "; ".
std::string hidden_devices(const Change& change) {
  std::string text;
  for (const DeviceTrouble& trouble : change.device_troubles) {
    const auto* one = std::get_if<LostDevice>(&trouble);
    if (one == nullptr) continue;
    text += (text.empty() ? "" : "; ") + one->claim->meta.key.name + " lacks " + one->device.text();
  }
  return text;
}

TEST_F(Devices, AHeldDeviceThatItsSliceShowsNoMoreIsTold) {
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(slice("s2", "n2", {"gpu-0"}))});
  static_cast<void>(view());
  EXPECT_EQ(hidden_devices(tell(added(claim("a", {result("n1", "gpu-0")})))), "") << "it is shown";
  EXPECT_EQ(hidden_devices(tell(deleted(slice("s2", "n2", {"gpu-0"})))), "") << "nobody's";
  EXPECT_EQ(hidden_devices(tell(deleted(slice("s1", "n1", {"gpu-0", "gpu-1"})))),
            "a lacks d/n1/gpu-0");
  EXPECT_EQ(state_.shows({"d", "n1", "gpu-0"}), false);
  tell(added(slice("s1", "n1", {"gpu-0"})));
  EXPECT_EQ(state_.shows({"d", "n1", "gpu-0"}), true);
  EXPECT_EQ(hidden_devices(tell(added(claim("b", {result("n1", "gpu-9")})))), "b lacks d/n1/gpu-9");
  EXPECT_EQ(state_.shows({"d", "n1", "gpu-9"}), false);
}

TEST_F(Devices, AViewWithoutClaimsLeavesTheStateAsItIs) {
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(claim("a", {result("n1", "gpu-0")})),
        added(claim("b", {result("n1", "gpu-1")})), added(claim("c", {result("n2", "gone")}))});
  const auto shown = [this](const std::string& name) { return state_.claim({"default", name}); };
  const auto without = state_.snapshot_without({shown("a"), shown("c")});
  EXPECT_EQ(text_of(*without->devices()),
            "pool d/n1 0 : gpu-0[] gpu-1[1+0]\nshared:\nclasses:\ntaken: 1\n");
  EXPECT_EQ(text_of(*view()), "pool d/n1 0 : gpu-0[1+0] gpu-1[1+0]\nshared:\nclasses:\ntaken: 3\n");
  EXPECT_EQ(state_.recompute(), "");
}

TEST_F(Devices, APoolNamesWhatClaimsHoldAndNoSliceShows) {
  const auto pool_text = [this] {
    const std::string text = text_of(*view());
    return text.substr(0, text.find('\n'));
  };
  tell({added(slice("s1", "n1", {"gpu-0", "gpu-1"})), added(claim("b", {result("n1", "gpu-0")}))});
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-0[1+0] gpu-1[]");
  tell(updated(slice("s1", "n1", {"gpu-1"})));
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-1[] unseen gpu-0 of b");
  // Claims come and go without a word of the slices.
  tell({added(claim("a", {result("n1", "gpu-0")})), added(claim("c", {result("n1", "gpu-9")}))});
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-1[] unseen gpu-0 of a unseen gpu-9 of c");
  tell({deleted(claim("a")), deleted(claim("c"))});
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-1[] unseen gpu-0 of b");
  tell(updated(slice("s1", "n1", {"gpu-0", "gpu-1"})));
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-0[1+0] gpu-1[]");
  tell({updated(slice("s1", "n1", {"gpu-1"})), deleted(claim("b"))});
  EXPECT_EQ(pool_text(), "pool d/n1 0 : gpu-1[]");
}

TEST_F(Devices, WhatNoSliceShowsIsTheSameWhoeverComesFirst) {
  tell(added(claim("b", {result("n1", "gpu-0"), result("n1", "gpu-1")})));
  tell(added(slice("s1", "n1", {"gpu-1"})));
  EXPECT_EQ(text_of(*view()),
            "pool d/n1 0 : gpu-1[1+0] unseen gpu-0 of b\nshared:\nclasses:\ntaken: 2\n");
  api::DeviceResult admin = result("n1", "gpu-7");
  admin.admin_access = true;
  const auto before = view();
  tell(added(claim("watcher", {admin})));
  EXPECT_EQ(view(), before) << "who only looks holds nothing";
}

TEST_F(Devices, AViewNeverChangesOnceTaken) {
  tell({added(slice("s1", "n1", {"gpu-0"})), added(slice("s2", "n2", {"gpu-0"})),
        added(claim("a", {result("n1", "gpu-0")}))});
  const auto before = view();
  const std::string text = text_of(*before);
  tell({deleted(claim("a")), added(claim("b", {result("n2", "gpu-0")})),
        deleted(slice("s1", "n1", {})), added(slice("s3", "n3", {"gpu-0"})),
        added(device_class("gpu"))});
  EXPECT_NE(text_of(*view()), text);
  EXPECT_EQ(text_of(*before), text);
}

TEST_F(Devices, RelistsRemoveWhatWasDeletedInBetween) {
  tell({added(slice("s1", "n1", {"gpu-0"})), added(slice("s2", "n2", {"gpu-0"})),
        added(claim("a", {result("n1", "gpu-0")})), added(rule("sick", "n2", "")),
        added(device_class("gpu"))});
  tell({list_begin(Kind::kResourceClaim), list_begin(Kind::kResourceSlice),
        added(slice("s2", "n2", {"gpu-0"})), list_begin(Kind::kDeviceTaintRule),
        list_begin(Kind::kDeviceClass)});
  EXPECT_EQ(taken("n1", "gpu-0"), "1+0");
  EXPECT_TRUE(tell(list_end(Kind::kResourceClaim)).devices_gained);
  EXPECT_EQ(taken("n1", "gpu-0"), "");
  tell({list_end(Kind::kResourceSlice), list_end(Kind::kDeviceTaintRule)});
  tell(list_end(Kind::kDeviceClass));
  EXPECT_EQ(text_of(*view()), "pool d/n2 0 : gpu-0[]\nshared:\nclasses:\ntaken: 0\n");
}

TEST_F(Devices, AKindThatIsNotServedIsEmpty) {
  tell({added(slice("s1", "n1", {"gpu-0"})), added(claim("a", {result("n1", "gpu-0")})),
        mark(api::DeltaType::kUnserved, Kind::kResourceSlice),
        mark(api::DeltaType::kUnserved, Kind::kResourceClaim)});
  EXPECT_EQ(text_of(*view()), "shared:\nclasses:\ntaken: 0\n");
}

TEST_F(Devices, WithoutConsumableCapacitySharesTakeTheDeviceWhole) {
  ClusterState plain(test::kOurScheduler, {.consumable_capacity = false});
  plain.apply(added(slice("s1", "n1", {"gpu-0"})));
  plain.apply(added(claim("a", {share("n1", "gpu-0", "1Gi")})));
  EXPECT_EQ(text_of(*plain.snapshot()->devices()),
            "pool d/n1 0 : gpu-0[1+0]\nshared:\nclasses:\ntaken: 1\n");
  EXPECT_EQ(plain.recompute(), "");
}

}  // namespace
}  // namespace gang::cluster
