#include "api/json_test_support.h"
#include "gang/api/json.h"

namespace gang::api {
namespace {

TEST(DecodeWatchEvent, ReadsTheObjectWhereverItStands) {
  const std::string pod = data_file("pod.json");
  const auto after = decode_watch_event(Kind::kPod, R"({"type":"ADDED","object":)" + pod + "}");
  const auto before = decode_watch_event(Kind::kPod, R"({"object":)" + pod + R"(,"type":"ADDED"})");
  ASSERT_TRUE(after) << after.error().message;
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_EQ(after->type, WatchEventType::kAdded);
  EXPECT_EQ(after->resource_version.text, "48213");
  EXPECT_EQ(after->object, before->object);
  EXPECT_EQ(std::get<Pod>(after->object), *decode_pod(pod));
}

TEST(DecodeWatchEvent, ReadsTheKindsOfDevices) {
  const auto decode = [](Kind kind, const std::string& spec) {
    const auto event = decode_watch_event(
        kind, R"({"type":"ADDED","object":{"kind":")" + std::string(kind_name(kind)) +
                  R"(","metadata":{"name":"a","resourceVersion":"5"},"spec":)" + spec + "}}");
    EXPECT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->resource_version.text, "5");
    EXPECT_EQ(meta_of(event->object).unreadable, "");
    return event->object;
  };
  EXPECT_EQ(std::get<ResourceSlice>(decode(Kind::kResourceSlice, R"({"driver":"d"})")).driver, "d");
  const std::string devices = R"({"devices":{"requests":[{"name":"r","exactly":
      {"deviceClassName":"gpu"}}]}})";
  const auto claim = std::get<ResourceClaim>(decode(Kind::kResourceClaim, devices));
  EXPECT_EQ(claim.spec.requests.at(0).exactly->class_name, "gpu");
  const auto form = std::get<ResourceClaimTemplate>(
      decode(Kind::kResourceClaimTemplate, R"({"spec":)" + devices + "}"));
  EXPECT_EQ(form.spec, claim.spec);
  const auto device_class = std::get<DeviceClass>(
      decode(Kind::kDeviceClass, R"({"extendedResourceName":"example.com/gpu"})"));
  EXPECT_EQ(device_class.extended_resource_name, "example.com/gpu");
  const auto rule =
      std::get<DeviceTaintRule>(decode(Kind::kDeviceTaintRule, R"({"taint":{"key":"sick"}})"));
  EXPECT_EQ(rule.taint.key, "sick");
}

TEST(DecodeWatchEvent, TheInitialEventsOfEveryKindEnd) {
  for (int i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    const auto event =
        decode_watch_event(kind, R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7",
            "annotations":{"k8s.io/initial-events-end":"true"}}}})");
    ASSERT_TRUE(event) << kind_name(kind);
    EXPECT_TRUE(event->initial_events_end) << kind_name(kind);
  }
}

TEST(DecodeWatchEvent, PathsStartAtTheLine) {
  const auto event = decode_watch_event(
      Kind::kPod,
      R"({"type":"MODIFIED","object":{"metadata":{"name":"a"},"spec":{"priority":"x"}}})");
  ASSERT_TRUE(event);
  EXPECT_EQ(meta_of(event->object).unreadable,
            "spec.priority: \"x\" is not a whole number of 32 bits; write digits only");
}

TEST(DecodeWatchEvent, KnowsEveryType) {
  const std::string object = R"(,"object":{"metadata":{"name":"n","resourceVersion":"5"}}})";
  const auto type = [&](const std::string& name) {
    return decode_watch_event(Kind::kNode, R"({"type":")" + name + "\"" + object)->type;
  };
  EXPECT_EQ(type("ADDED"), WatchEventType::kAdded);
  EXPECT_EQ(type("MODIFIED"), WatchEventType::kModified);
  EXPECT_EQ(type("DELETED"), WatchEventType::kDeleted);
  EXPECT_EQ(type("BOOKMARK"), WatchEventType::kBookmark);
  EXPECT_EQ(type("ERROR"), WatchEventType::kError);
}

TEST(DecodeWatchEvent, ABookmarkMovesTheVersionAndMayEndTheInitialEvents) {
  const auto plain = decode_watch_event(Kind::kPod,
                                        R"({"type":"BOOKMARK","object":{"kind":"Pod",
          "metadata":{"resourceVersion":"99","creationTimestamp":null},
          "spec":{"containers":null}}})");
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->resource_version.text, "99");
  EXPECT_FALSE(plain->initial_events_end);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(plain->object));

  const auto end =
      decode_watch_event(Kind::kPod,
                         R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7",
          "annotations":{"k8s.io/initial-events-end":"true"}}}})");
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->initial_events_end);
}

TEST(DecodeWatchEvent, AnErrorCarriesItsStatus) {
  const auto event = decode_watch_event(
      Kind::kPod,
      R"({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},
          "status":"Failure","message":"too old resource version: 1 to 2",
          "reason":"Expired","code":410
}
})");
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->status.code, 410);
  EXPECT_EQ(event->status.reason, "Expired");
  EXPECT_EQ(event->status.message, "too old resource version: 1 to 2");
}

TEST(DecodeWatchEvent, FailsOnLinesThatMustLeadToARelist) {
  for (const std::string line :
       {R"({"type":"ADDED"})", R"({"object":{"metadata":{"name":"a"}}})",
        R"({"type":"PATCHED","object":{"metadata":{"name":"a"}}})", R"({"type":1})",
        R"({"type":"ADDED","object":{"kind":"Node","metadata":{"name":"a"}}})",
        R"({"type":"ADDED","object":[]})", R"({"type":"BOOKMARK","object":{"metadata":{}}})",
        R"({"type":"ADDED","object":{"metadata":{"name":"a"}})", "", "<html>"}) {
    EXPECT_FALSE(decode_watch_event(Kind::kPod, line)) << line;
  }
}

TEST(DecodeStatus, ReadsCodeReasonCausesAndRetry) {
  const Status status = decode_status(
      R"({"kind":"Status","status":"Failure","code":422,"reason":"Invalid","message":"bad",
          "details":{"retryAfterSeconds":3,"causes":[
             {"reason":"FieldValueInvalid","message":"immutable","field":"metadata.uid"},
             {"message":"m"},{"field":"f"}]}})");
  EXPECT_EQ(status.code, 422);
  EXPECT_EQ(status.reason, "Invalid");
  EXPECT_EQ(status.message, "bad");
  EXPECT_EQ(status.retry_after_seconds, 3);
  EXPECT_EQ(status.causes,
            (std::vector<std::string>{"FieldValueInvalid metadata.uid: immutable", "m", "f"}));
}

TEST(DecodeStatus, PlainTextIsTheMessageCutAtACodePoint) {
  const Status plain = decode_status("too many requests, please try again later.\n");
  EXPECT_EQ(plain.code, 0);
  EXPECT_EQ(plain.message, "too many requests, please try again later.\n");
  EXPECT_FALSE(plain.retry_after_seconds);
  EXPECT_EQ(decode_status(std::string(1'023, 'x') + "\xC3\xBC").message.size(), 1'023u);
  EXPECT_EQ(decode_status(R"({"kind":"Pod","code":7})").code, 0);
  EXPECT_EQ(decode_status("").message, "");
}

TEST(DecodeStatus, BrokenPartsAreLeftOut) {
  const Status status = decode_status(
      R"({"kind":"Status","code":"x","reason":5,"message":{},
          "details":{"retryAfterSeconds":-1,"causes":7}})");
  EXPECT_EQ(status.code, 0);
  EXPECT_EQ(status.reason, "");
  EXPECT_FALSE(status.retry_after_seconds);
  EXPECT_TRUE(status.causes.empty());
}

}  // namespace
}  // namespace gang::api
