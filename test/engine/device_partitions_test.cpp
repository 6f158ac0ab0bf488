// Gangs over GPUs that are cut into partitions, as NVIDIA's driver publishes A100 GPUs with 40 GB:
// one counter set for each GPU, a device for each profile and place. What is found or proved takes
// few steps, however many ways there are to cut.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;
using test::pod_group;

/// What a partition takes, and where in the memory of its GPU it may begin.
struct Profile {
  const char* name;
  int multiprocessors;
  int copy_engines;
  int memory_mib;
  int slices;
  std::vector<int> starts;
};

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> list = {
      {"1g.5gb", 14, 1, 4'864, 1, {0, 1, 2, 3, 4, 5, 6}},
      {"2g.10gb", 28, 2, 9'856, 2, {0, 2, 4}},
      {"3g.20gb", 42, 3, 19'968, 4, {0, 4}},
      {"4g.20gb", 56, 4, 19'968, 4, {0}},
      {"7g.40gb", 98, 7, 40'192, 8, {0}},
  };
  return list;
}

api::QuantityMap counters_of(const Profile& profile, int start) {
  api::QuantityMap counters = {
      {"copy-engines", api::Quantity::from_units(profile.copy_engines)},
      {"memory", *api::Quantity::parse(fmt::format("{}Mi", profile.memory_mib))}};
  for (int i = 0; i < profile.slices; ++i) {
    counters.emplace_back(fmt::format("memory-slice-{}", start + i), api::Quantity::from_units(1));
  }
  counters.emplace_back("multiprocessors", api::Quantity::from_units(profile.multiprocessors));
  return counters;
}

api::ResourceSlice slice_named(const std::string& node_name, const std::string& name, int count) {
  api::ResourceSlice slice;
  slice.meta.key.name = node_name + "-" + name;
  slice.meta.uid.text = "uid-" + slice.meta.key.name;
  slice.driver = "gpu.nvidia.com";
  slice.pool = node_name;
  slice.pool_slice_count = count;
  slice.place.node_name = node_name;
  return slice;
}

/// A gang of pods that ask for one partition each, over one node.
class Partitions : public testing::Test {
 protected:
  Partitions() {
    api::DeviceClass mig;
    mig.meta.key.name = "mig";
    mig.meta.uid.text = "uid-mig";
    cluster_.add(mig);
  }

  void add_node(const std::string& name, int gpus) {
    cluster_.add(node(name).cpu("256"));
    api::ResourceSlice counters = slice_named(name, "0-counters", gpus + 1);
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const std::string set = fmt::format("gpu-{}-counter-set", gpu);
      counters.shared_counters.push_back({.name = set, .counters = counters_of(profiles()[4], 0)});
      api::ResourceSlice devices = slice_named(name, fmt::format("1-gpu-{}", gpu), gpus + 1);
      for (const Profile& profile : profiles()) {
        for (const int start : profile.starts) {
          api::Device device{.name = fmt::format("gpu-{}-mig-{}-{}", gpu, profile.name[0], start)};
          device.attributes = {{"parent", fmt::format("GPU-{}-{}", name, gpu)},
                               {"profile", std::string(profile.name)}};
          device.consumes_counters.push_back(
              {.counter_set = set, .counters = counters_of(profile, start)});
          devices.devices.push_back(device);
        }
      }
      cluster_.add(devices);
    }
    cluster_.add(counters);
  }

  static api::DeviceAsk ask_for(const std::string& profile) {
    api::DeviceAsk wanted{.class_name = "mig"};
    wanted.selectors.push_back(
        {.expression =
             fmt::format(R"(device.attributes["gpu.nvidia.com"].profile == "{}")", profile)});
    return wanted;
  }

  /// Adds `count` members that ask for a partition of that profile each.
  void ask(const std::string& profile, int count) {
    add_members({.name = "r", .exactly = ask_for(profile)}, count);
  }

  /// The same for the first of some profiles that can be had.
  void ask_first_of(const std::vector<std::string>& profiles, int count) {
    api::DeviceRequest request{.name = "r"};
    for (const std::string& profile : profiles) {
      request.first_available.push_back(ask_for(profile));
      request.first_available.back().name = fmt::format("a{}", request.first_available.size());
    }
    add_members(request, count);
  }

  void add_members(const api::DeviceRequest& request, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = fmt::format("p{:03}", asked_++);
      api::ResourceClaim claim;
      claim.meta.key = {"default", name};
      claim.meta.uid.text = "uid-" + name;
      claim.spec.requests.push_back(request);
      cluster_.add(claim);
      api::Pod made = pod(name).group("g").cpu("1").rules({.resource_claims = true}).build();
      made.claims = {{.name = "r", .claim_name = name}};
      cluster_.add(made);
    }
    cluster_.update(pod_group("g").min(asked_).version(100 + asked_).build());
  }

  /// "placed", "impossible" or "limit"; checks what was placed.
  std::string outcome() {
    const Decision decision = cluster_.decide("g");
    const auto* plan = std::get_if<Plan>(&decision);
    if (plan == nullptr) {
      const bool is_limit = std::get<Explanation>(decision).verdict == Verdict::kSearchLimitReached;
      return is_limit ? "limit" : "impossible";
    }
    EXPECT_EQ(plan->assignments.size(), static_cast<std::size_t>(asked_));
    check(*plan);
    return "placed";
  }

  /// Adds up what the plan takes of each counter.
  static void check(const Plan& plan) {
    std::map<std::string, api::Quantity> taken;
    for (const ClaimWrite& write : plan.claims) {
      const std::string& device = write.allocation->results.at(0).device;
      const std::string pool = write.allocation->results.at(0).pool;
      const std::size_t at = device.find("-mig-");
      const char size = device[at + 5];
      const int start = std::stoi(device.substr(at + 7));
      for (const Profile& profile : profiles()) {
        if (profile.name[0] != size) continue;
        for (const auto& [name, amount] : counters_of(profile, start)) {
          taken[pool + device.substr(0, at) + name] += amount;
        }
      }
    }
    for (const auto& [name, amount] : taken) {
      for (const auto& [counter, whole] : counters_of(profiles()[4], 0)) {
        if (!name.ends_with(counter)) continue;
        EXPECT_LE(amount, whole) << name;
      }
    }
  }

  [[nodiscard]] std::int64_t steps() const { return cluster_.planner.stats().search_steps; }

  TestCluster cluster_;
  int asked_ = 0;
};

TEST_F(Partitions, OneCardHoldsSevenSmallOnesAndTwoLargeOnes) {
  add_node("n1", 1);
  ask("1g.5gb", 7);
  EXPECT_EQ(outcome(), "placed");
  ask("1g.5gb", 1);
  EXPECT_EQ(outcome(), "impossible");
}

TEST_F(Partitions, EightCardsAreFilledToTheLast) {
  add_node("n1", 8);
  ask("1g.5gb", 56);
  EXPECT_EQ(outcome(), "placed");
  EXPECT_LT(steps(), 1'000);
}

TEST_F(Partitions, OneTooManyIsProvedAtOnce) {
  add_node("n1", 8);
  ask("3g.20gb", 17);
  EXPECT_EQ(outcome(), "impossible");
  EXPECT_LT(steps(), 1'000);
}

TEST_F(Partitions, WhatHasFewPlacesComesFirst) {
  add_node("n1", 8);
  ask("1g.5gb", 24);
  ask("4g.20gb", 8);
  EXPECT_EQ(outcome(), "placed") << "small ones first would leave no place for a large one";
  EXPECT_LT(steps(), 1'000);
}

TEST_F(Partitions, SearchGoesBackWhereTheFirstPlacesAreWrong) {
  add_node("n1", 8);
  ask("3g.20gb", 8);
  ask("2g.10gb", 16);
  EXPECT_EQ(outcome(), "placed") << "each card takes one large one, in its second half";
  EXPECT_LT(steps(), 5'000);
}

TEST_F(Partitions, EqualCardsAreCountedOnceInAProof) {
  add_node("n1", 8);
  ask("3g.20gb", 8);
  ask("2g.10gb", 17);
  EXPECT_EQ(outcome(), "impossible");
  EXPECT_LT(steps(), 20'000);
}

TEST_F(Partitions, PartitionsOfTwoNodesServeOneGang) {
  add_node("n1", 4);
  add_node("n2", 4);
  ask("3g.20gb", 8);
  ask("2g.10gb", 16);
  EXPECT_EQ(outcome(), "placed");
  EXPECT_LT(steps(), 50'000);
}

TEST_F(Partitions, GangTakesLaterAlternativesOverTwoNodes) {
  add_node("n1", 2);
  add_node("n2", 2);
  for (const int more : {1, 4, 3, 1, 1, 7, 11}) {
    ask_first_of({"7g.40gb", "3g.20gb", "1g.5gb"}, more);
    EXPECT_EQ(outcome(), "placed") << asked_;
  }
  EXPECT_EQ(asked_, 28) << "as many as there are of the smallest";
  ask_first_of({"7g.40gb", "3g.20gb", "1g.5gb"}, 1);
  EXPECT_EQ(outcome(), "impossible");
  EXPECT_LT(steps(), 100'000) << "of all eight";
}

TEST_F(Partitions, LaterAlternativesFillManyCards) {
  add_node("n1", 8);
  add_node("n2", 8);
  ask_first_of({"7g.40gb", "3g.20gb", "1g.5gb"}, 112);
  EXPECT_EQ(outcome(), "placed");
  EXPECT_LT(steps(), 50'000);
}

}  // namespace
}  // namespace gang::engine
