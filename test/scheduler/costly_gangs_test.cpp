// Gangs whose attempts take much work: who waits for them, and that they get on.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "scheduler/device_world.h"

namespace gang::test {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Names = std::vector<std::string>;

/// A plan stops after one device, and the next attempt of the namespace costs it its place.
scheduler::Options small_limits() {
  scheduler::Options options;
  options.engine.selector_steps_max = 10'000;
  options.engine.device_steps_max = 20;
  options.engine.search_steps_max = 20;
  return options;
}

class CostlyGangsTest : public testing::Test {
 protected:
  CostlyGangsTest() { world.add_device_node("n1", 4); }

  /// A pod whose claim no device serves; to say so of one takes more than a plan may spend.
  void add_costly(const std::string& name, std::int64_t created, std::int32_t priority = 0) {
    api::ResourceClaim claim = gpu_claim(name);
    claim.meta.key.name_space = "costly";
    claim.spec.requests[0].exactly->selectors = {
        {.expression = "lists.range(40).all(a, lists.range(40).all(b, a + b >= 0)) && "
                       "device.driver == '" +
                       name + "'"}};
    world.put_claim(claim);
    api::Pod made = pod_in("costly", name, created, priority).cpu("1").build();
    made.rules.resource_claims = true;
    made.claims = {{.name = "gpu", .claim_name = name}};
    world.add(made);
  }
  void add_plain(const std::string& name_space, const std::string& name, std::int64_t created) {
    world.add(pod_in(name_space, name, created, 0).cpu("1").build());
  }
  /// Fits nowhere, which is seen at a glance.
  void add_hopeless(const std::string& name_space, const std::string& name, std::int64_t created) {
    world.add(pod_in(name_space, name, created, 0).cpu("1000").build());
  }

  [[nodiscard]] Names attempted() const {
    Names names;
    for (const auto& attempt : world.attempts) names.push_back(attempt.gang.key.name);
    return names;
  }

  DeviceWorld world{small_limits()};

 private:
  static PodBuilder pod_in(const std::string& name_space, const std::string& name,
                           std::int64_t created, std::int32_t priority) {
    return pod(name).in(name_space).created(created).priority(priority).controller("Job", name);
  }
};

TEST_F(CostlyGangsTest, GangOfAnotherNamespaceWaitsForOneOfThem) {
  for (int i = 0; i < 5; ++i) add_costly("c" + std::to_string(i), i, 100);
  add_plain("other", "plain", 900);
  world.run();
  EXPECT_EQ(attempted(), (Names{"c0", "plain", "c1", "c2", "c3", "c4"}));
  ASSERT_EQ(world.notices.size(), 1U);
  EXPECT_TRUE(world.notices[0].starts_with(
      "namespace costly: attempts of its gangs take long, the last one of c0 "))
      << world.notices[0];
}

TEST_F(CostlyGangsTest, EachOfThemComesToItsEnd) {
  for (int i = 0; i < 30; ++i) add_costly("c" + std::to_string(i), i);
  world.pass(minutes(30));
  std::map<std::string, engine::Verdict> verdicts;
  for (const engine::Explanation& one : world.explanations) {
    verdicts[one.gang.key.name] = one.verdict;
  }
  ASSERT_EQ(verdicts.size(), 30U);
  for (const auto& [name, verdict] : verdicts) {
    EXPECT_EQ(verdict, engine::Verdict::kImpossibleOnFleet) << name;
  }
}

TEST_F(CostlyGangsTest, NamespaceHasItsPlaceAgainAfterSomeTime) {
  for (int i = 0; i < 3; ++i) add_costly("c" + std::to_string(i), i);
  world.run();
  EXPECT_EQ(world.notices.size(), 1U);
  world.pass(seconds(1)).clear();
  add_plain("costly", "older", 10);
  add_plain("other", "younger", 20);
  world.run();
  EXPECT_EQ(attempted(), (Names{"older", "younger"}));
}

TEST_F(CostlyGangsTest, CheapGangsOfANamespaceBehindWaitWithIt) {
  add_costly("c0", 0);
  add_plain("costly", "own", 10);
  add_plain("other", "plain", 20);
  world.run();
  EXPECT_EQ(attempted(), (Names{"c0", "plain", "own"}));
}

TEST_F(CostlyGangsTest, ManyGangsThatFailCheaplyKeepTheirPlaces) {
  for (int i = 0; i < 300; ++i) add_hopeless("many", "h" + std::to_string(i), i);
  add_plain("other", "plain", 900);
  world.run();
  const Names names = attempted();
  ASSERT_EQ(names.size(), 301U);
  EXPECT_EQ(names.back(), "plain");
  EXPECT_EQ(names.front(), "h0");
  EXPECT_TRUE(world.notices.empty());
}

}  // namespace
}  // namespace gang::test
