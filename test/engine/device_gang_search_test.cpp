#include "engine/device_gang_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "device_gang_fixture.h"

namespace gang::engine {
namespace {

/// Three nodes with two devices each.
void add_six(GangDeviceWorld& world) {
  for (const char* name : {"n1", "n2", "n3"}) {
    world.node(name, 8).device({name, "a"}).device({name, "b"});
  }
}

void add_members(GangDeviceWorld& world, int count, const TestClaim& claim) {
  for (int i = 0; i < count; ++i) world.member({world.claim(claim)});
}

TEST(DeviceGangSearch, PlacesEveryMemberWithADeviceOfItsOwn) {
  GangDeviceWorld world;
  add_six(world);
  add_members(world, 4, {});
  EXPECT_EQ(world.run(4), "m0=n1 m1=n1 m2=n2 m3=n2");
  EXPECT_EQ(world.given(2), "n2/a");
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, ProvesThatTheDevicesAreTooFew) {
  GangDeviceWorld world;
  add_six(world);
  add_members(world, 7, {});
  EXPECT_EQ(world.run(7), "");
  EXPECT_EQ(world.end(), SearchEnd::kImpossible);
}

TEST(DeviceGangSearch, FillsThePartlyUsedNodeFirst) {
  GangDeviceWorld world;
  world.node("n1", 8).device({"n1", "a"}).device({"n1", "b"});
  world.node("n2", 8).device({"n2", "a", "", true}).device({"n2", "b"});
  add_members(world, 1, {});
  EXPECT_EQ(world.run(1), "m0=n2");
}

TEST(DeviceGangSearch, GoesBackWhenOneMemberTookWhatOnlyAnotherCanUse) {
  GangDeviceWorld world;
  world.node("n1", 8).device({"n1", "a", "big"}).device({"n1", "b"});
  const std::size_t any = world.claim({});
  const std::size_t big = world.claim({.model = "big"});
  world.member({any}).member({big});
  EXPECT_EQ(world.run(2), "m0=n1 m1=n1");
  EXPECT_EQ(world.given(any), "n1/b");
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, SharedClaimIsDecidedOnceAndBindsAllToItsNode) {
  GangDeviceWorld world;
  world.node("n1", 2).device({"n1", "a"}).node("n2", 4).device({"n2", "a"});
  const std::size_t shared = world.claim({});
  for (int i = 0; i < 4; ++i) world.member({shared});
  EXPECT_EQ(world.run(4), "m0=n2 m1=n2 m2=n2 m3=n2");
  EXPECT_EQ(world.given(shared), "n2/a");
}

TEST(DeviceGangSearch, SharedClaimIsMovedWhenOwnClaimsDoNotFitThere) {
  GangDeviceWorld world;
  world.node("n1", 9).device({"n1", "a"}).device({"n1", "b"});
  world.node("n2", 4).device({"n2", "a"}).device({"n2", "b"}).device({"n2", "c"});
  const std::size_t shared = world.claim({});
  world.member({shared, world.claim({})}).member({shared, world.claim({})});
  EXPECT_EQ(world.run(2), "m0=n2 m1=n2") << "n1 is roomier and has a device too few";
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, ClaimWithDevicesBindsItsUsers) {
  GangDeviceWorld world;
  add_six(world);
  world.member({world.claim({.held_by = "n3/a"})});
  EXPECT_EQ(world.run(1), "m0=n3");
}

TEST(DeviceGangSearch, DevicesOfTheFabricServeAnyNode) {
  GangDeviceWorld world;
  world.node("n1", 1).node("n2", 1).device({"net", "a"}).device({"net", "b"});
  add_members(world, 2, {});
  EXPECT_EQ(world.run(2), "m0=n1 m1=n2");
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, MemberThatFitsNowhereIsLeftOutWhereOthersAreEnough) {
  GangDeviceWorld world;
  add_six(world);
  world.member({world.claim({.model = "none"})});
  add_members(world, 2, {.count = 2});
  EXPECT_EQ(world.run(2), "m1=n1 m2=n2");
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, SaysThatItReachedItsLimit) {
  GangDeviceWorld world;
  world.steps_max = 6;
  add_six(world);
  add_members(world, 7, {});
  EXPECT_EQ(world.run(7), "");
  EXPECT_EQ(world.end(), SearchEnd::kLimit);
}

TEST(DeviceGangSearch, DevicesThatDifferOnlyInTheirNamesAreTriedOnce) {
  GangDeviceWorld world;
  for (const char* node : {"n1", "n2"}) {
    world.node(node, 9);
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) world.device({node, name});
  }
  add_members(world, 3, {.count = 3});
  add_members(world, 2, {.count = 2});
  EXPECT_EQ(world.run(5), "m0=n1 m1=n1 m2=n2 m3=n2 m4=n2");
  GangDeviceWorld full;
  full.node("n1", 9).node("n2", 9);
  for (const char* node : {"n1", "n2"}) {
    for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) full.device({node, name});
  }
  add_members(full, 3, {.count = 4});
  add_members(full, 1, {.count = 2});
  full.run(4);
  EXPECT_EQ(full.end(), SearchEnd::kImpossible) << "proved within the limit";
}

TEST(DeviceGangSearch, LaterAlternativesAreTakenWhereTheFirstLeaveMembersOut) {
  GangDeviceWorld world;
  world.node("n1", 8).node("n2", 8).device({.pool = "n2", .name = "a", .model = "big"});
  world.device({.pool = "n1", .name = "a", .model = "big", .chip = "x", .size = 4});
  world.device({.pool = "n1", .name = "b", .model = "part", .chip = "x", .size = 2});
  world.device({.pool = "n1", .name = "c", .model = "part", .chip = "x", .size = 2});
  add_members(world, 3, {.model = "big", .else_count = 1, .else_model = "part"});
  EXPECT_EQ(world.run(3), "m0=n1 m1=n2 m2=n1");
  EXPECT_EQ(world.given(0), "n1/b");
  EXPECT_EQ(world.given(1), "n2/a");
  EXPECT_EQ(world.given(2), "n1/c");
  EXPECT_EQ(world.problem(), "");
}

TEST(DeviceGangSearch, NodesWhoseDevicesAreReadyComeFirst) {
  GangDeviceWorld world;
  world.node("n1", 8).device({.pool = "n1", .name = "a", .waits = true});
  world.node("n2", 8).device({.pool = "n2", .name = "a"}).device({.pool = "n2", .name = "b"});
  world.node("n3", 8).device({.pool = "n3", .name = "a", .is_held = true, .waits = true});
  world.device({.pool = "n3", .name = "b", .waits = true});
  add_members(world, 3, {});
  EXPECT_EQ(world.run(3), "m0=n2 m1=n2 m2=n3") << "then those with devices in use";
}

TEST(DeviceGangSearch, WhatIsReadyCountsPerMemberAndNotPerNode) {
  GangDeviceWorld world;
  world.node("n1", 8).device({.pool = "n1", .name = "a", .model = "big", .waits = true});
  world.device({.pool = "n1", .name = "b"});
  world.node("n2", 8).device({.pool = "n2", .name = "a", .model = "big"});
  world.device({.pool = "n2", .name = "b"}).device({.pool = "n2", .name = "c"});
  world.member({world.claim({.model = "big"})});
  EXPECT_EQ(world.run(1), "m0=n2");
}

TEST(DeviceGangSearch, AvoidedDevicesAreLeftOut) {
  for (const int count : {1, 2}) {
    GangDeviceWorld world;
    world.node("n1", 8).device({.pool = "n1", .name = "a", .is_avoided = true});
    world.device({.pool = "n1", .name = "b"});
    add_members(world, count, {});
    EXPECT_EQ(world.run(count), count == 1 ? "m0=n1" : "");
    EXPECT_EQ(world.problem(), "");
    const SearchEnd end = count == 1 ? SearchEnd::kPlaced : SearchEnd::kImpossible;
    EXPECT_EQ(world.end(), end);
  }
}

TEST(DeviceGangSearch, PoolsWithAnAvoidedDeviceComeLast) {
  GangDeviceWorld world;
  world.node("n1", 8).device({.pool = "n1", .name = "a", .waits = true, .is_avoided = true});
  world.device({.pool = "n1", .name = "b", .waits = true});
  world.node("n2", 8).device({.pool = "n2", .name = "a", .waits = true});
  world.device({.pool = "n2", .name = "b", .waits = true});
  add_members(world, 1, {});
  EXPECT_EQ(world.run(1), "m0=n2");
}

/// Tries every node and every set of devices for every member.
class BruteForce {
 public:
  explicit BruteForce(const GangDeviceWorld& world)
      : world_(world), claims_(world.claims()), used_of_(world.devices().size()) {
    for (std::size_t i = 0; i < world.devices().size(); ++i) {
      if (world.devices()[i].is_held) take(i, std::max(1, world.devices()[i].capacity));
    }
  }

  bool can_place(std::size_t need) { return place(0, 0, need); }

 private:
  /// Whether the device has that much, and its chip room for it.
  bool has_room(std::size_t i, int amount) const {
    const TestDevice& device = world_.devices()[i];
    const int whole = std::max(1, device.capacity);
    if (used_of_[i] + (device.capacity > 0 ? amount : whole) > whole) return false;
    if (used_of_[i] > 0 || device.chip.empty()) return true;
    const auto chip = chips_.find(device.pool + "/" + device.chip);
    const int before = chip == chips_.end() ? 0 : chip->second;
    return before + device.size <= GangDeviceWorld::kChipSize;
  }

  void take(std::size_t i, int amount) {
    const TestDevice& device = world_.devices()[i];
    const bool was_used = used_of_[i] > 0;
    used_of_[i] += device.capacity > 0 ? amount : (amount > 0 ? 1 : -1);
    const int by = (used_of_[i] > 0 ? 1 : 0) - (was_used ? 1 : 0);
    chips_[device.pool + "/" + device.chip] += by * device.size;
  }

  bool place(std::size_t member, std::size_t placed, std::size_t need) {
    if (placed >= need) return true;
    if (placed + world_.members().size() - member < need) return false;
    for (const auto& [node, slots] : world_.slots()) {
      if (used_[node] >= slots) continue;
      ++used_[node];
      const bool fits = give(member, 0, node, [&] { return place(member + 1, placed + 1, need); });
      --used_[node];
      if (fits) return true;
    }
    return place(member + 1, placed, need);
  }

  bool give(std::size_t member, std::size_t at, const std::string& node,
            const std::function<bool()>& then) {
    if (at == world_.members()[member].size()) return then();
    const std::size_t claim = world_.members()[member][at];
    const auto next = [&] { return give(member, at + 1, node, then); };
    if (const auto known = given_.find(claim); known != given_.end()) {
      return is_usable(known->second, node) && next();
    }
    if (choose(claim, node, 0, {}, next)) return true;
    TestClaim& wanted = claims_[claim];
    if (wanted.else_count == 0) return false;
    const TestClaim as_first = wanted;
    wanted.count = wanted.else_count;
    wanted.model = wanted.else_model;
    const bool is_solved = choose(claim, node, 0, {}, next);
    wanted = as_first;
    return is_solved;
  }

  bool choose(std::size_t claim, const std::string& node, std::size_t from,
              const std::vector<std::size_t>& so_far, const std::function<bool()>& then) {
    const TestClaim wanted = claims_[claim];
    if (static_cast<int>(so_far.size()) == wanted.count) {
      given_[claim] = so_far;
      const bool is_solved = then();
      given_.erase(claim);
      return is_solved;
    }
    for (std::size_t i = from; i < world_.devices().size(); ++i) {
      const TestDevice& device = world_.devices()[i];
      const bool is_wanted = wanted.model.empty() || wanted.model == device.model;
      const bool is_out = device.is_held || device.is_avoided;
      if (is_out || !is_wanted || !is_usable({i}, node)) continue;
      const int amount = world_.asked_of(device, wanted);
      if (!has_room(i, amount)) continue;
      take(i, amount);
      std::vector<std::size_t> more = so_far;
      more.push_back(i);
      const bool is_solved = choose(claim, node, i + 1, more, then);
      take(i, -amount);
      if (is_solved) return true;
    }
    return false;
  }

  bool is_usable(const std::vector<std::size_t>& devices, const std::string& node) const {
    return std::ranges::all_of(devices, [&](std::size_t i) {
      const std::string& pool = world_.devices()[i].pool;
      return !world_.slots().contains(pool) || pool == node;
    });
  }

  const GangDeviceWorld& world_;
  std::vector<TestClaim> claims_;     ///< each as it is asked for now
  std::vector<int> used_of_;          ///< by device
  std::map<std::string, int> chips_;  ///< what is taken of each
  std::map<std::string, int> used_;
  std::map<std::size_t, std::vector<std::size_t>> given_;
};

/// What the devices of a random world may be.
enum class Flavour { kWhole, kPartitions, kShares };

TestDevice any_device(const std::string& pool, int number, Flavour flavour, std::mt19937& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  TestDevice device{.pool = pool, .name = "g" + std::to_string(number)};
  device.model = up_to(2) == 0 ? "big" : "";
  device.is_held = up_to(4) == 0;
  device.is_avoided = !device.is_held && up_to(6) == 0;
  device.waits = up_to(3) == 0;
  if (flavour == Flavour::kPartitions && up_to(4) > 0) {
    device.chip = up_to(1) == 0 ? "x" : "y";
    device.size = 1 + up_to(2);
  }
  if (flavour == Flavour::kShares) device.capacity = 1 + up_to(3);
  return device;
}

/// Up to three nodes, a fabric pool, unlike claims, some of them shared.
void fill_at_random(GangDeviceWorld& world, Flavour flavour, std::mt19937& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  const int node_count = 1 + up_to(2);
  for (int i = 0; i < node_count; ++i) {
    const std::string node = "n" + std::to_string(i);
    world.node(node, 1 + up_to(2));
    for (int d = up_to(3); d > 0; --d) world.device(any_device(node, d, flavour, random));
  }
  for (int d = up_to(2); d > 0; --d) world.device(any_device("net", d, flavour, random));
  world.free_all_but_one_of_a_chip();
  std::vector<std::size_t> shared;
  for (int i = up_to(1); i > 0; --i) {
    shared.push_back(world.claim({.count = 1, .of_group = up_to(1) == 0}));
  }
  for (int i = 2 + up_to(2); i > 0; --i) {
    std::vector<std::size_t> claims;
    if (!shared.empty() && up_to(1) == 0) claims.push_back(shared[0]);
    if (up_to(3) > 0) {
      claims.push_back(world.claim(
          {.count = 1 + up_to(1), .model = up_to(3) == 0 ? "big" : "", .amount = 1 + up_to(1)}));
    }
    world.member(claims);
  }
}

/// A chip that can be given out whole, or in parts.
void add_chip(GangDeviceWorld& world, const std::string& pool, const std::string& chip,
              std::mt19937& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  const auto part = [&](const std::string& name, const std::string& model, int size) {
    world.device({.pool = pool,
                  .name = chip + "-" + name,
                  .model = model,
                  .is_held = up_to(9) == 0,
                  .chip = chip,
                  .size = size});
  };
  if (up_to(4) > 0) part("whole", "big", GangDeviceWorld::kChipSize);
  for (int i = up_to(3); i > 0; --i) part("part-" + std::to_string(i), "part", 1 + up_to(1));
}

/// Two or three nodes with chips, and members that take a whole one or some of its parts.
void fill_with_alternatives(GangDeviceWorld& world, std::mt19937& random) {
  const auto up_to = [&](int most) { return static_cast<int>(random() % (most + 1)); };
  for (int i = 2 + (up_to(3) == 0 ? 1 : 0); i > 0; --i) {
    const std::string node = "n" + std::to_string(i);
    world.node(node, 1 + up_to(4));
    add_chip(world, node, "x", random);
    if (up_to(2) == 0) add_chip(world, node, "y", random);
    if (up_to(3) == 0) world.device({.pool = node, .name = "alone", .model = "big"});
  }
  if (up_to(9) == 0) add_chip(world, "net", "x", random);
  world.free_all_but_one_of_a_chip();
  TestClaim wanted{.model = "big", .else_count = 1 + (up_to(4) == 0 ? 1 : 0), .else_model = "part"};
  if (up_to(3) == 0) std::swap(wanted.model, wanted.else_model);
  const bool are_alike = up_to(2) > 0;
  for (int i = 2 + up_to(3); i > 0; --i) {
    if (!are_alike && up_to(1) == 0) wanted.else_count = up_to(2);
    world.member({world.claim(wanted)});
  }
}

using Filling = std::function<void(GangDeviceWorld&, std::mt19937&)>;

void compare_with_brute_force(const Filling& fill, unsigned seeds) {
  unsigned placed_count = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    std::mt19937 random(seed);
    GangDeviceWorld world;
    fill(world, random);
    const std::size_t need = 1 + random() % world.members().size();
    const bool can = BruteForce(world).can_place(need);
    world.run(static_cast<std::int32_t>(need));
    ASSERT_NE(world.end(), SearchEnd::kLimit) << "seed " << seed;
    ASSERT_EQ(world.end() == SearchEnd::kPlaced, can) << "seed " << seed;
    ASSERT_EQ(world.problem(), "") << "seed " << seed;
    placed_count += can ? 1 : 0;
  }
  EXPECT_GT(placed_count, seeds / 6);
  EXPECT_LT(placed_count, seeds - seeds / 6);
}

void compare_with_brute_force(Flavour flavour, unsigned seeds) {
  compare_with_brute_force(
      [flavour](GangDeviceWorld& world, std::mt19937& random) {
        fill_at_random(world, flavour, random);
      },
      seeds);
}

TEST(DeviceGangSearch, AgreesWithBruteForceOnSmallWorlds) {
  compare_with_brute_force(Flavour::kWhole, 3'000);
}

TEST(DeviceGangSearch, AgreesWithBruteForceOverPartitions) {
  compare_with_brute_force(Flavour::kPartitions, 3'000);
}

TEST(DeviceGangSearch, AgreesWithBruteForceOverShares) {
  compare_with_brute_force(Flavour::kShares, 3'000);
}

TEST(DeviceGangSearch, AgreesWithBruteForceOverAlternatives) {
  compare_with_brute_force(fill_with_alternatives, 3'000);
}

}  // namespace
}  // namespace gang::engine
