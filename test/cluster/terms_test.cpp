// Required anti-affinity of pods on nodes: which terms a pending pod meets, and where they hold.
#include "cluster/state_fixture.h"

namespace gang::cluster {
namespace {

class TermsTest : public StateTest {
 protected:
  /// A pod on a node that refuses pods with app=<app> near it.
  static api::Pod repelling(const std::string& name, const std::string& on,
                            const std::string& app) {
    api::Pod result = pod(name).on(on).scheduler("other");
    api::PodAntiAffinityTerm term{.topology_key = "zone", .namespaces = {"default"}};
    term.selector.emplace().requirements = {{.key = "app", .op = "In", .values = {app}}};
    result.anti_affinity = {term};
    return result;
  }
  static api::Pod wanting(const std::string& name, const std::string& app,
                          const std::string& name_space = "default") {
    api::Pod result = pod(name).in(name_space);
    result.meta.labels = {{"app", app}};
    return result;
  }
  /// "zone=a zone=b" of all terms that the lone pod meets; "-" for a term that holds nowhere.
  std::string closed(const std::string& name, const std::string& name_space = "default") {
    const auto id = state_.find_gang(api::Uid{"uid-" + name_space + "-" + name});
    const auto gang = state_.gang(id.value());
    const auto snapshot = state_.snapshot();
    std::string text;
    for (const TermId term : gang->classes.at(0)->repelled_by) {
      const auto domain = snapshot->term(term);
      if (!text.empty()) text += " ";
      if (domain == nullptr || domain->values.empty()) text += "-";
      for (std::size_t i = 0; domain != nullptr && i < domain->values.size(); ++i) {
        text += (i == 0 ? "" : " ") + domain->key + "=" + domain->values[i];
      }
    }
    return text;
  }
};

TEST_F(TermsTest, HoldUnderTheLabelOfTheNodeWhicheverComesFirst) {
  tell({added(wanting("w", "web")), added(repelling("r", "n1", "web"))});
  EXPECT_EQ(closed("w"), "-") << "the Node is not known";
  tell(added(node("n1").label("zone", "a")));
  EXPECT_EQ(closed("w"), "zone=a");
  tell(updated(node("n1").label("zone", "b")));
  EXPECT_EQ(closed("w"), "zone=b");
  tell(deleted(node("n1")));
  EXPECT_EQ(closed("w"), "-");
}

TEST_F(TermsTest, AreCountedPerValue) {
  tell({added(node("n1").label("zone", "a")), added(node("n2").label("zone", "a"))});
  tell({added(repelling("r1", "n1", "web")), added(repelling("r2", "n2", "web"))});
  tell({added(wanting("w", "web")), deleted(repelling("r1", "n1", "web"))});
  EXPECT_EQ(closed("w"), "zone=a");
  tell(deleted(repelling("r2", "n2", "web")));
  EXPECT_EQ(closed("w"), "-");
}

TEST_F(TermsTest, SplitClassesOnlyWhereTheyReadALabel) {
  tell({added(wanting("w", "web")), added(wanting("b", "batch"))});
  EXPECT_EQ(state_.counts().classes, 1U) << "no rule reads the label";
  const Change change = tell(added(repelling("r", "n1", "web")));
  EXPECT_EQ(state_.counts().classes, 2U);
  ASSERT_EQ(change.gangs.size(), 1U) << "the pod that is refused now";
  EXPECT_EQ(change.gangs[0], *state_.find_gang(api::Uid{"uid-default-w"}));
  EXPECT_EQ(closed("b"), "");
}

TEST_F(TermsTest, DoNotReachOtherNamespacesByThemselves) {
  tell({added(repelling("r", "n1", "web")), added(wanting("w", "web", "other"))});
  EXPECT_EQ(closed("w", "other"), "");
}

TEST_F(TermsTest, NamespaceSelectorReadsLabelsAndMatchesWhatIsNotKnown) {
  api::Pod running = repelling("r", "n1", "web");
  running.anti_affinity[0].namespaces.clear();
  running.anti_affinity[0].namespace_selector.emplace().requirements = {
      {.key = "team", .op = "In", .values = {"x"}}};
  tell({added(node("n1").label("zone", "a")), added(running)});
  tell(added(wanting("w", "web", "other")));
  EXPECT_EQ(closed("w", "other"), "zone=a") << "the Namespace is not known";
  api::Namespace name_space;
  name_space.meta.key.name = "other";
  name_space.meta.uid.text = "uid-other";
  name_space.meta.labels = {{"team", "y"}};
  tell({.type = api::DeltaType::kAdded, .kind = api::Kind::kNamespace, .object = name_space});
  EXPECT_EQ(closed("w", "other"), "");
  name_space.meta.labels = {{"team", "x"}};
  tell({.type = api::DeltaType::kUpdated, .kind = api::Kind::kNamespace, .object = name_space});
  EXPECT_EQ(closed("w", "other"), "zone=a");
}

TEST_F(TermsTest, StayWithATerminatingPodAndGoWithAFinishedOne) {
  tell({added(node("n1").label("zone", "a")), added(repelling("r", "n1", "web"))});
  tell(added(wanting("w", "web")));
  api::Pod going = repelling("r", "n1", "web");
  going.meta.deletion_time = test::at_second(5);
  tell(updated(going));
  EXPECT_EQ(closed("w"), "zone=a");
  going.phase = api::PodPhase::kSucceeded;
  tell(updated(going));
  EXPECT_EQ(closed("w"), "-");
}

TEST_F(TermsTest, RejectionsAreToldOnceForEachPod) {
  tell(added(pod_group("g").min(1)));
  api::Pod failed = pod("p").group("g").on("n1").phase(api::PodPhase::kFailed);
  failed.status_reason = "OutOfcpu";
  const auto told = [&](api::DeltaType type) {
    return tell({.type = type, .kind = api::Kind::kFinishedPod, .object = failed}).rejections;
  };
  const std::vector<Rejection> first = told(api::DeltaType::kAdded);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].failure.node_name, "n1");
  EXPECT_EQ(first[0].failure.pod.name, "p");
  EXPECT_EQ(first[0].failure.reason, "OutOfcpu");
  EXPECT_TRUE(told(api::DeltaType::kUpdated).empty());
  told(api::DeltaType::kDeleted);
  failed.status_reason = "Evicted";
  EXPECT_TRUE(told(api::DeltaType::kAdded).empty()) << "it ran there";
}

}  // namespace
}  // namespace gang::cluster
