#include "app/kind_notes.h"

#include <gtest/gtest.h>

namespace gang::app {
namespace {

using api::DeltaType;
using api::Kind;

/// What is noted when a kind is told to be in some state, line after line; "-" when nothing
/// changed.
std::string note(KindNotes& notes, DeltaType type, Kind kind = Kind::kPodGroup) {
  const auto observed = notes.observe({.type = type, .kind = kind});
  std::string text;
  for (const KindNote& line : observed) {
    text += (text.empty() || line.message.empty() ? "" : "\n") + line.message;
  }
  return observed.empty() ? "-" : text;
}

/// The notes on a server that has shown one kind.
KindNotes with_nodes() {
  KindNotes notes;
  note(notes, DeltaType::kListEnd, Kind::kNode);
  return notes;
}

TEST(KindNotes, SaysOnceWhatAnUnservedKindMeansAndWhichGateToSet) {
  KindNotes notes = with_nodes();
  const std::string message = note(notes, DeltaType::kUnserved);
  EXPECT_NE(message.find("PodGroups are not served: pods without a group are scheduled"),
            std::string::npos);
  EXPECT_NE(message.find("--feature-gates=GenericWorkload=true"), std::string::npos);
  EXPECT_NE(message.find("--runtime-config=scheduling.k8s.io/v1beta1=true"), std::string::npos);
  EXPECT_EQ(note(notes, DeltaType::kUnserved), "-");
}

TEST(KindNotes, HoldsBackWhatIsNotServedUntilTheServerHasShownAKind) {
  KindNotes notes;
  EXPECT_EQ(note(notes, DeltaType::kUnserved), "");
  EXPECT_EQ(notes.state("PodGroup"), KindState::kUnserved);
  EXPECT_EQ(note(notes, DeltaType::kUnserved, Kind::kWorkload), "");
  const std::string told = note(notes, DeltaType::kListEnd, Kind::kNode);
  EXPECT_EQ(told.find("PodGroups are not served"), 0U) << told;
  EXPECT_NE(told.find("\nWorkloads are not served"), std::string::npos) << told;
  EXPECT_EQ(note(notes, DeltaType::kListEnd, Kind::kNamespace), "");
}

TEST(KindNotes, TakesARefusalForAnApiServerAndSaysNothingOfAKindThatCameMeanwhile) {
  KindNotes notes;
  note(notes, DeltaType::kUnserved);
  EXPECT_EQ(note(notes, DeltaType::kListEnd), "");
  KindNotes refused;
  note(refused, DeltaType::kUnserved);
  EXPECT_NE(note(refused, DeltaType::kForbidden, Kind::kNode).find("PodGroups are not served"),
            std::string::npos);
}

TEST(KindNotes, NamesTheGateOfTrees) {
  KindNotes notes = with_nodes();
  const std::string message = note(notes, DeltaType::kUnserved, Kind::kCompositePodGroup);
  EXPECT_NE(message.find("--feature-gates=CompositePodGroup=true"), std::string::npos);
  EXPECT_NE(message.find("v1alpha3=true"), std::string::npos);
}

TEST(KindNotes, SaysWhatIsLostWithoutTheKindsOfDevices) {
  struct Row {
    Kind kind;
    const char* loss;
    const char* mend;
  };
  constexpr const char* kSwitch = "--runtime-config=resource.k8s.io/v1=true";
  const Row rows[] = {
      {Kind::kResourceSlice, "there are no devices to allocate", kSwitch},
      {Kind::kResourceClaim, "pods and PodGroups that need one wait", kSwitch},
      {Kind::kResourceClaimTemplate, "a claim that is to be made from one never comes", kSwitch},
      {Kind::kDeviceClass, "claims that ask for devices are not allocated", kSwitch},
      {Kind::kDeviceTaintRule, "only the taints in ResourceSlices count",
       "DRADeviceTaintRules=true"}};
  for (const Row& row : rows) {
    KindNotes notes = with_nodes();
    const std::string message = note(notes, DeltaType::kUnserved, row.kind);
    EXPECT_NE(message.find(row.loss), std::string::npos) << message;
    EXPECT_NE(message.find(row.mend), std::string::npos) << message;
  }
}

TEST(KindNotes, NamesTheRightsOfAForbiddenKind) {
  KindNotes notes;
  EXPECT_EQ(note(notes, DeltaType::kForbidden, Kind::kNode),
            "not allowed to list and watch Node objects: nothing is scheduled until the rights of "
            "deploy/rbac.yaml are given");
}

TEST(KindNotes, SaysWhenAnAbsentKindComes) {
  KindNotes notes = with_nodes();
  note(notes, DeltaType::kUnserved);
  note(notes, DeltaType::kListBegin);
  EXPECT_EQ(note(notes, DeltaType::kListEnd), "PodGroup objects are served now");
  note(notes, DeltaType::kForbidden);
  note(notes, DeltaType::kListBegin);
  EXPECT_EQ(note(notes, DeltaType::kListEnd), "PodGroup objects are served now");
}

TEST(KindNotes, IsSilentAboutTheOrdinaryCourse) {
  KindNotes notes;
  EXPECT_EQ(note(notes, DeltaType::kListBegin), "-");
  EXPECT_EQ(note(notes, DeltaType::kAdded), "-");
  EXPECT_EQ(note(notes, DeltaType::kListEnd), "");
  EXPECT_EQ(note(notes, DeltaType::kUpdated), "-");
  EXPECT_EQ(note(notes, DeltaType::kBookmark), "-");
  EXPECT_EQ(note(notes, DeltaType::kListBegin), "-");
  EXPECT_EQ(note(notes, DeltaType::kListEnd), "-");
}

TEST(KindNotes, KnowsTheWorseStateOfTheTwoWatchesOnPods) {
  KindNotes notes;
  EXPECT_EQ(notes.state("Pod"), KindState::kNotListed);
  note(notes, DeltaType::kListEnd, Kind::kPod);
  EXPECT_EQ(notes.state("Pod"), KindState::kNotListed);
  note(notes, DeltaType::kListEnd, Kind::kFinishedPod);
  EXPECT_EQ(notes.state("Pod"), KindState::kServed);
  note(notes, DeltaType::kForbidden, Kind::kPod);
  EXPECT_EQ(notes.state("Pod"), KindState::kForbidden);
  note(notes, DeltaType::kUnserved, Kind::kWorkload);
  EXPECT_EQ(notes.state("Workload"), KindState::kUnserved);
}

TEST(KindNotes, NamesTheKindsThatAreMissingAndWhy) {
  KindNotes notes;
  for (int i = 0; i < api::kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (kind != Kind::kNode && kind != Kind::kPodGroup) note(notes, DeltaType::kListEnd, kind);
  }
  note(notes, DeltaType::kListBegin, Kind::kNode);
  EXPECT_EQ(notes.missing(), "Node: not listed yet, PodGroup: not listed yet");
  note(notes, DeltaType::kListEnd, Kind::kNode);
  note(notes, DeltaType::kUnserved, Kind::kPodGroup);
  EXPECT_EQ(notes.missing(), "");
  note(notes, DeltaType::kForbidden, Kind::kPodGroup);
  note(notes, DeltaType::kForbidden, Kind::kFinishedPod);
  EXPECT_EQ(notes.missing(), "Pod: forbidden, PodGroup: forbidden");
}

}  // namespace
}  // namespace gang::app
