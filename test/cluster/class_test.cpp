// PodClass: equal scheduling fields share one, any other field makes another.
#include "cluster/state_fixture.h"

#include <functional>

namespace gang::cluster {
namespace {

class Classes : public StateTest {};

TEST_F(Classes, EqualPodsShareOneWhateverTheyAreCalled) {
  tell({added(pod("a").group("g").gpu(1).tolerates("x")),
        added(pod("b").group("h").in("other").gpu(1).tolerates("x").priority(7))});
  EXPECT_EQ(state_.counts().classes, 1u);
  EXPECT_EQ(gang("g")->classes[0], gang("h", "other")->classes[0]);
}

TEST_F(Classes, EveryFieldMatters) {
  const api::NodeSelectorTerm term{.expressions = {{"zone", "In", {"a"}}}, .fields = {}};
  const api::NodeSelectorTerm field{.expressions = {}, .fields = {{"zone", "In", {"a"}}}};
  const std::vector<std::function<void(test::PodBuilder&)>> changes = {
      [](auto& p) { p.gpu(2); },
      [](auto& p) { p.cpu("1"); },
      [](auto& p) { p.cpu("0"); },
      [](auto& p) { p.selects("zone", "a"); },
      [](auto& p) { p.selects("zone", "b"); },
      [&](auto& p) { p.requires_term(term); },
      [&](auto& p) { p.requires_term(field); },
      [&](auto& p) { p.prefers(1, term); },
      [&](auto& p) { p.prefers(2, term); },
      [](auto& p) { p.tolerates("x"); },
      [](auto& p) {
        p.tolerates({"x", "Equal", "v", "NoSchedule"});
      },
      [](auto& p) { p.host_port(80); },
      [](auto& p) { p.host_port(80, "UDP"); },
      [](auto& p) { p.rules({.volumes = true}); },
      [](auto& p) { p.rules({.resource_claims = true}); },
      [](auto& p) { p.unreadable("spec.x: bad"); },
      [](auto& p) {
        p.init("i", {{test::kGpu, "1"}});
      },
      [](auto& p) {
        p.init("j", {{test::kGpu, "1"}});
      },
  };
  tell(added(pod("plain").group("g")));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    test::PodBuilder p = pod("p" + std::to_string(i)).group("g");
    changes[i](p);
    tell(added(p));
  }
  EXPECT_EQ(state_.counts().classes, changes.size() + 1);
  EXPECT_EQ(gang("g")->classes.size(), changes.size() + 1);
}

TEST_F(Classes, RestWithoutPodsAndAreFoundAgain) {
  const auto a = pod("a").gpu(1);
  tell(added(a));
  const std::shared_ptr<const PodClass> held = gang_of(a)->classes[0];
  tell(updated(test::PodBuilder(a).on("n1")));
  EXPECT_EQ(state_.counts().classes, 0u);
  EXPECT_EQ(held->requests.back().amount, 1);
  tell(added(pod("b").gpu(1)));
  EXPECT_EQ(gang_of(pod("b"))->classes[0], held);
}

TEST_F(Classes, AreDroppedAfterManyOthersAndNeverComeBack) {
  constexpr int kResting = 256;
  const auto a = pod("a").gpu(1);
  tell(added(a));
  const std::shared_ptr<const PodClass> held = gang_of(a)->classes[0];
  tell(deleted(a));
  for (int i = 0; i < kResting; ++i) {
    const auto other = pod("other").gpu(2 + i);
    tell({added(other), deleted(other)});
  }
  EXPECT_EQ(state_.counts().classes, 0u);
  tell(added(pod("b").gpu(1)));
  EXPECT_NE(gang_of(pod("b"))->classes[0]->id, held->id);
}

TEST_F(Classes, RequestsAreSortedAndHoldThePodSlot) {
  const auto a = pod("a").gpu(1).cpu("1").memory("0");
  tell(added(a));
  const std::vector<ResourceAmount> expected{{kCpu, 1000}, {kPods, 1}, {ResourceId{4}, 1}};
  EXPECT_EQ(gang_of(a)->classes[0]->requests, expected);
  EXPECT_EQ(state_.snapshot()->resources().at(4), "nvidia.com/gpu");
}

TEST_F(Classes, AreNumberedByFirstPendingMember) {
  tell({added(pod("a").group("g").created(1).gpu(1)), added(pod("b").group("g").created(2)),
        added(pod("c").group("g").created(3).gpu(1))});
  const Gang g = gang("g").value();
  EXPECT_EQ(g.classes.size(), 2u);
  EXPECT_EQ(g.members[0].class_index, 0);
  EXPECT_EQ(g.members[1].class_index, 1);
  EXPECT_EQ(g.members[2].class_index, 0);
}

TEST_F(Classes, ANewResourceNameMakesANewSnapshot) {
  const auto before = state_.snapshot();
  tell(added(pod("a").gpu(1)));
  EXPECT_EQ(before->resources().size(), 4u);
  EXPECT_EQ(state_.snapshot()->resources().size(), 5u);
  EXPECT_GT(state_.snapshot()->generation(), before->generation());
}

}  // namespace
}  // namespace gang::cluster
