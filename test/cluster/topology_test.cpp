// Domains of the label keys that PodGroups name, while nodes come, go and get other labels.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class Domains : public StateTest {
 protected:
  /// "r1: n1 n2; r2: n3"; "none" where the key is no level.
  std::string text(const std::string& key = "rack") {
    const auto snapshot = state_.snapshot();
    const auto level = snapshot->level(key);
    if (level == nullptr) return "none";
    std::map<std::string, std::string> texts;
    for (std::uint32_t i = 0; i < level->domains.size(); ++i) {
      const Domain& domain = *level->domains[i];
      for (const NodeIndex n : domain.nodes) {
        texts[domain.value] += " " + snapshot->node(n)->name;
        EXPECT_EQ(level->domain_of(n), i);
      }
    }
    std::string all;
    for (const auto& [value, names] : texts) all += (all.empty() ? "" : "; ") + value + ":" + names;
    return all;
  }
};

TEST_F(Domains, AreKnownOfKeysThatAPodGroupNames) {
  tell(added(node("n1").label("rack", "r1")));
  EXPECT_EQ(text(), "none");
  tell(added(pod_group("a").topology("rack")));
  EXPECT_EQ(text(), "r1: n1");
  tell(added(pod_group("b").topology("rack")));
  tell(deleted(pod_group("a").topology("rack")));
  EXPECT_EQ(text(), "r1: n1");
  tell(deleted(pod_group("b").topology("rack")));
  EXPECT_EQ(text(), "none");
}

TEST_F(Domains, HaveTheirNodesByName) {
  tell({added(pod_group("a").topology("rack")), added(node("n3").label("rack", "r1")),
        added(node("n1").label("rack", "r1")), added(node("n2").label("rack", "r1"))});
  EXPECT_EQ(text(), "r1: n1 n2 n3");
}

TEST_F(Domains, TakeTheEmptyValueForOneAndNodesWithoutTheLabelForNone) {
  tell({added(pod_group("a").topology("rack")), added(node("n1")),
        added(node("n2").label("rack", "")), added(node("n3").label("rack", ""))});
  EXPECT_EQ(text(), ": n2 n3");
}

TEST_F(Domains, FollowTheLabelsOfTheirNodes) {
  tell({added(pod_group("a").topology("rack")), added(node("n1").label("rack", "r1")),
        added(node("n2").label("rack", "r1"))});
  const auto before = state_.snapshot();
  tell(updated(node("n1").label("rack", "r2")));
  EXPECT_EQ(text(), "r1: n2; r2: n1");
  tell(updated(node("n2")));
  EXPECT_EQ(text(), "r2: n1");
  tell(deleted(node("n1")));
  EXPECT_EQ(text(), "");
  EXPECT_EQ(before->level("rack")->domains.at(0)->nodes.size(), 2u);
}

TEST_F(Domains, KeepTheirIndexesWhileOthersComeAndGo) {
  tell({added(pod_group("a").topology("rack")), added(node("n1").label("rack", "r1")),
        added(node("n2").label("rack", "r2"))});
  const auto before = state_.snapshot()->level("rack");
  tell({deleted(node("n1").label("rack", "r1")), added(node("n3").label("rack", "r3"))});
  const auto after = state_.snapshot()->level("rack");
  EXPECT_EQ(after->id, before->id);
  EXPECT_EQ(after->domains.at(1), before->domains.at(1));
  EXPECT_EQ(after->domains.size(), 2u);
  EXPECT_EQ(text(), "r2: n2; r3: n3");
}

TEST_F(Domains, LoseTheNodesThatAListDoesNotTell) {
  tell({added(pod_group("a").topology("rack")), added(node("n1").label("rack", "r1")),
        added(node("n2").label("rack", "r1"))});
  tell({test::list_begin(api::Kind::kNode), added(node("n2").label("rack", "r1")),
        test::list_end(api::Kind::kNode)});
  EXPECT_EQ(text(), "r1: n2");
}

TEST_F(Domains, AreASnapshotOfTheirOwn) {
  tell({added(pod_group("a").topology("rack")), added(node("n1").label("rack", "r1")),
        added(node("n2").label("rack", "r2")), added(node("n3").label("rack", "r2"))});
  const auto whole = state_.snapshot();
  const auto level = whole->level("rack");
  const Snapshot part = whole->within(level->domains.at(level->domain_of(index("n3").value())));
  EXPECT_TRUE(part.is_part());
  EXPECT_EQ(part.node_count(), 2u);
  EXPECT_EQ(part.rank_of("n3"), 1u);
  EXPECT_EQ(part.rank_of("n1"), std::nullopt);
  EXPECT_EQ(part.node(part.by_name().at(0))->name, "n2");
  EXPECT_FALSE(whole->is_part());
}

TEST_F(Domains, AreNewsOnlyWhereALabelChanges) {
  tell({added(pod_group("a").topology("rack")), added(node("n1").label("rack", "r1"))});
  const auto before = state_.snapshot()->level("rack");
  tell(updated(node("n1").label("rack", "r1").label("other", "x")));
  EXPECT_EQ(state_.snapshot()->level("rack"), before);
  tell(added(pod_group("b").topology("zone")));
  EXPECT_EQ(state_.snapshot()->level("rack"), before);
  EXPECT_EQ(text("zone"), "");
}

}  // namespace
}  // namespace gang::cluster
