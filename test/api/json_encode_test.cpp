#include "api/json_test_support.h"
#include "gang/api/claim_write.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

const TimePoint kTime = *parse_rfc3339("2026-11-30T01:02:03.5Z");

TEST(EncodeBinding, CarriesBothPreconditionsAndTheStamp) {
  EXPECT_EQ(encode_binding({.pod = {"ml", "train-0"},
                            .uid = {"u1"},
                            .resource_version = {"7"},
                            .node_name = "n1",
                            .annotations = {{"gang-scheduler.dev/round", "r1"}}}),
            R"({"apiVersion":"v1","kind":"Binding","metadata":{"annotations":)"
            R"({"gang-scheduler.dev/round":"r1"},"name":"train-0","namespace":"ml",)"
            R"("resourceVersion":"7","uid":"u1"},"target":{"kind":"Node","name":"n1"}})");
}

TEST(EncodeBinding, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(
      encode_binding({.pod = {"ml", "a"}, .uid = {"u1"}, .node_name = "n1"}),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","namespace":"ml","uid":"u1"},)"
      R"("target":{"kind":"Node","name":"n1"}})");
}

TEST(EncodePodStatusPatch, WritesTheWholeConditionAndTheNomination) {
  PodStatusPatch patch{.pod = {"ml", "a"}, .uid = {"u1"}};
  patch.condition = Condition{.type = "PodScheduled",
                              .status = ConditionStatus::kFalse,
                              .reason = "Unschedulable",
                              .message = "0/1 nodes are available.",
                              .last_transition_time = kTime,
                              .observed_generation = 2};
  patch.nominated_node_name = "n1";
  EXPECT_EQ(encode_pod_status_patch(patch),
            R"({"metadata":{"uid":"u1"},"status":{"conditions":[{)"
            R"("lastTransitionTime":"2026-11-30T01:02:03Z","message":"0/1 nodes are available.",)"
            R"("observedGeneration":2,"reason":"Unschedulable","status":"False",)"
            R"("type":"PodScheduled"}],"nominatedNodeName":"n1"}})");
}

TEST(EncodePodStatusPatch, AnEmptyNominationIsTakenAwayAndAnAbsentOneLeftAlone) {
  PodStatusPatch patch{.uid = {"u1"}, .resource_version = {"9"}, .nominated_node_name = ""};
  EXPECT_EQ(
      encode_pod_status_patch(patch),
      R"({"metadata":{"resourceVersion":"9","uid":"u1"},"status":{"nominatedNodeName":null}})");
  patch.nominated_node_name.reset();
  EXPECT_EQ(encode_pod_status_patch(patch),
            R"({"metadata":{"resourceVersion":"9","uid":"u1"},"status":{}})");
}

TEST(EncodePodStatusPatch, WritesTheClaimOfExtendedResources) {
  PodStatusPatch patch{.uid = {"u1"}};
  patch.extended_claim =
      ExtendedClaimStatus{"p-x", {{"main", "x.org/gpu", "container-0-request-0"}}};
  EXPECT_EQ(encode_pod_status_patch(patch),
            R"({"metadata":{"uid":"u1"},"status":{"extendedResourceClaimStatus":{)"
            R"("requestMappings":[{"containerName":"main","requestName":"container-0-request-0",)"
            R"("resourceName":"x.org/gpu"}],"resourceClaimName":"p-x"}}})");
}

TEST(EncodeNewClaim, WritesNameOwnerAndRequests) {
  NewClaim claim{.claim = {"ns", "p-extended-resources-0a"},
                 .generate_name = "p-extended-resources-",
                 .pod = "p",
                 .pod_uid = {"u1"}};
  claim.requests = {
      {.name = "container-0-request-2", .exactly = DeviceAsk{.class_name = "gpu", .count = 3}}};
  EXPECT_EQ(
      encode_new_claim(claim),
      R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"annotations":{)"
      R"("resource.kubernetes.io/extended-resource-claim":"true"},)"
      R"("generateName":"p-extended-resources-","name":"p-extended-resources-0a",)"
      R"("namespace":"ns","ownerReferences":[{"apiVersion":"v1","controller":true,"kind":"Pod",)"
      R"("name":"p","uid":"u1"}]},"spec":{"devices":{"requests":[{"exactly":{)"
      R"("allocationMode":"ExactCount","count":3,"deviceClassName":"gpu"},)"
      R"("name":"container-0-request-2"}]}}})");
}

TEST(EncodeNewClaim, LeavesOutAPrefixThatTheServerRefuses) {
  NewClaim claim{.claim = {"ns", "x"}, .generate_name = std::string(253, 'p'), .pod = "p"};
  EXPECT_NE(encode_new_claim(claim).find("generateName"), std::string::npos);
  claim.generate_name += "-";
  EXPECT_EQ(encode_new_claim(claim).find("generateName"), std::string::npos);
}

TEST(EncodePodGroupStatusPatch, WritesEmptyMessagesSoThatAMergeReplacesOldOnes) {
  const PodGroupStatusPatch patch{.group = {"ml", "train"},
                                  .uid = {"u2"},
                                  .conditions = {{.type = std::string(kInitiallyScheduled),
                                                  .status = ConditionStatus::kTrue,
                                                  .reason = "Scheduled",
                                                  .last_transition_time = kTime}}};
  EXPECT_EQ(encode_pod_group_status_patch(patch),
            R"({"metadata":{"uid":"u2"},"status":{"conditions":[{)"
            R"("lastTransitionTime":"2026-11-30T01:02:03Z","message":"","reason":"Scheduled",)"
            R"("status":"True","type":"PodGroupInitiallyScheduled"}]}})");
}

TEST(EncodeDeleteOptions, HasThePreconditions) {
  EXPECT_EQ(encode_delete_options({"u1"}, {"7"}),
            R"({"apiVersion":"v1","kind":"DeleteOptions",)"
            R"("preconditions":{"resourceVersion":"7","uid":"u1"}})");
  EXPECT_EQ(encode_delete_options({"u1"}, {}),
            R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":"u1"}})");
}

Event event_with(std::string note) {
  return {.regarding = {"v1", "Pod", {"ml", "a"}, {"u1"}, {"7"}},
          .name = "a.18",
          .type = "Warning",
          .reason = "FailedScheduling",
          .action = "Scheduling",
          .note = std::move(note),
          .reporting_controller = "gang-scheduler",
          .reporting_instance = "gang-scheduler-host",
          .time = kTime};
}

TEST(EncodeEvent, IsAnEventsV1Event) {
  EXPECT_EQ(encode_event(event_with("100% full")),
            R"({"action":"Scheduling","apiVersion":"events.k8s.io/v1",)"
            R"("eventTime":"2026-11-30T01:02:03.500000Z","kind":"Event",)"
            R"("metadata":{"name":"a.18","namespace":"ml"},"note":"100% full",)"
            R"("reason":"FailedScheduling","regarding":{"apiVersion":"v1","kind":"Pod","name":"a",)"
            R"("namespace":"ml","resourceVersion":"7","uid":"u1"},)"
            R"("reportingController":"gang-scheduler","reportingInstance":"gang-scheduler-host",)"
            R"("type":"Warning"})");
}

TEST(EncodeEvent, OfAClusterWideObjectLiesInDefault) {
  Event event = event_with("x");
  event.regarding.key.name_space.clear();
  const std::string json = encode_event(event);
  EXPECT_NE(json.find(R"("metadata":{"name":"a.18","namespace":"default"})"), std::string::npos);
  EXPECT_NE(json.find(R"("kind":"Pod","name":"a","resourceVersion")"), std::string::npos);
}

std::string note_of(const std::string& note) {
  const std::string json = encode_event(event_with(note));
  const std::size_t begin = json.find(R"("note":")") + 8;
  return json.substr(begin, json.find(R"(","reason")") - begin);
}

TEST(EncodeEvent, CutsLongNotesAtACodePoint) {
  EXPECT_EQ(note_of(std::string(1'024, 'x')), std::string(1'024, 'x'));
  EXPECT_EQ(note_of(std::string(1'025, 'x')), std::string(1'020, 'x') + " ...");
  EXPECT_EQ(note_of(std::string(1'019, 'x') + "\xC3\xBC" + std::string(9, 'x')),
            std::string(1'019, 'x') + " ...");
  EXPECT_EQ(note_of(std::string(1'018, 'x') + "\xC3\xBC" + std::string(9, 'x')),
            std::string(1'018, 'x') + "\xC3\xBC ...");
}

TEST(EncodeEvent, BytesThatAreNoUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(note_of("a\xFF"), "a\xEF\xBF\xBD");
  EXPECT_LE(note_of(std::string(1'024, '\xFF')).size(), 1'024u);
  EXPECT_NE(encode_binding({.pod = {"ml", "\xFF"}}).find("\xEF\xBF\xBD"), std::string::npos);
}

}  // namespace
}  // namespace gang::api
