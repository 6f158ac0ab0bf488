#include "gang/kube/claim_client.h"

#include "kube/kube_fixture.h"
#include "support/wire.h"

namespace gang::kube {
namespace {

using test::FakeHttpServer;
using test::FakeRequest;
using test::FakeResponder;
using test::Reports;

constexpr const char* kClaimPath = "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c";
constexpr const char* kClaim =
    R"({"kind":"ResourceClaim","spec":{},)"
    R"("metadata":{"namespace":"ns","name":"c","uid":"u","resourceVersion":"8"}})";
constexpr const char* kMapPath = "/api/v1/namespaces/sys/configmaps";
constexpr const char* kMap =
    R"({"kind":"ConfigMap","data":{"a":"b"},)"
    R"("metadata":{"namespace":"sys","name":"m","uid":"u","resourceVersion":"3"}})";

class ClaimClientTest : public test::KubeTest {
 protected:
  void SetUp() override { client_ = make_http_claim_client(connect(server_.url())); }

  void on(const std::string& path, int status, const std::string& body) {
    server_.on(path, [=](const FakeRequest&, FakeResponder& out) { out.json(status, body, ""); });
  }

  ClaimDone claim_done() {
    return [this](const Answer& answer, std::optional<api::ResourceClaim> claim) {
      seen_.add(std::string(outcome_name(answer.outcome)) + " " +
                (claim ? claim->meta.resource_version.text : "-"));
    };
  }

  ConfigMapDone map_done() {
    return [this](const Answer& answer, std::optional<api::ConfigMap> map) {
      seen_.add(std::string(outcome_name(answer.outcome)) + " " + (map ? map->data["a"] : "-"));
    };
  }

  std::string next() {
    ++expected_;
    EXPECT_TRUE(seen_.wait_for(expected_));
    const auto all = seen_.values();
    return all.size() < expected_ ? "" : all[expected_ - 1];
  }

  FakeHttpServer server_;
  std::unique_ptr<ClaimClient> client_;
  Reports<std::string> seen_;
  std::size_t expected_ = 0;
};

TEST_F(ClaimClientTest, PatchesFinalizersAndStatusByMerge) {
  on(kClaimPath, 200, kClaim);
  on(std::string(kClaimPath) + "/status", 200, kClaim);
  client_->patch_claim({.claim = {"ns", "c"}, .uid = {"u"}, .resource_version = {"7"}},
                       claim_done());
  EXPECT_EQ(next(), "ok 8");
  client_->patch_claim_status({.claim = {"ns", "c"}, .uid = {"u"}, .resource_version = {"8"}},
                              claim_done());
  EXPECT_EQ(next(), "ok 8");
  const auto requests = server_.requests();
  EXPECT_EQ(requests[0].method, "PATCH");
  EXPECT_EQ(requests[0].headers.at("content-type"), "application/merge-patch+json");
  EXPECT_EQ(requests[0].target(), std::string(kClaimPath) + "?timeout=5s");
  EXPECT_EQ(requests[1].target(), std::string(kClaimPath) + "/status?timeout=5s");
  EXPECT_NE(requests[1].body.find("\"resourceVersion\":\"8\""), std::string::npos);
}

constexpr const char* kStatusPath =
    "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status";
constexpr const char* kProtobuf = "application/vnd.kubernetes.protobuf";

/// A 422 of that one cause: "reason field".
std::string refusal(const std::string& cause) {
  const std::size_t blank = cause.find(' ');
  return R"({"kind":"Status","status":"Failure","code":422,"reason":"Invalid","message":"bad",)"
         R"("details":{"causes":[{"reason":")" +
         cause.substr(0, blank) + R"(","field":")" + cause.substr(blank + 1) +
         R"(","message":"m"}]}})";
}

/// A claim that refuses PATCHes. What it answers is said before the first request.
class RewriteTest : public ClaimClientTest {
 protected:
  void read_as(int status, const std::string& body, const char* type = kProtobuf) {
    server_.on(kClaimPath,
               [=](const FakeRequest&, FakeResponder& out) { out.answer(status, type, body); });
  }

  std::string patch_finalizer() {
    const api::ClaimPatch patch{
        .claim = {"ns", "c"}, .uid = {"u"}, .resource_version = {"7"}, .finalizers = {"a/b"}};
    client_->patch_claim(patch, [this, done = claim_done()](const Answer& answer, auto claim) {
      message_ = answer.message;
      done(answer, claim);
    });
    return next();
  }

  std::string patch_status(api::ClaimStatusPatch::Part part) {
    client_->patch_claim_status({.claim = {"ns", "c"},
                                 .uid = {"u"},
                                 .resource_version = {"7"},
                                 .allocation_part = part,
                                 .reserved_for = {{"", "pods", "p", {"p-1"}}}},
                                claim_done());
    return next();
  }

  [[nodiscard]] std::string methods() const {
    std::string methods;
    for (const FakeRequest& request : server_.requests()) methods += request.method + " ";
    return methods;
  }

  std::string message_;
};

TEST_F(RewriteTest, AFinalizerThatTheSpecRefusesIsWrittenInProtobuf) {
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  read_as(200, test::wire_claim());
  on(kClaimPath, 200, kClaim);
  EXPECT_EQ(patch_finalizer(), "ok 8");
  EXPECT_EQ(methods(), "PATCH GET PUT ");
  const auto requests = server_.requests();
  EXPECT_EQ(requests[1].headers.at("accept"), kProtobuf);
  EXPECT_EQ(requests[1].target(), std::string(kClaimPath) + "?timeout=5s");
  EXPECT_EQ(requests[2].headers.at("content-type"), kProtobuf);
  EXPECT_EQ(requests[2].headers.at("accept"), "application/json");
  EXPECT_EQ(requests[2].target(), std::string(kClaimPath) + "?timeout=5s");
  EXPECT_EQ(requests[2].body, test::wire_claim(test::wire(14, "a/b")));
}

TEST_F(RewriteTest, AReservationThatAllocationOrDevicesRefuseIsWrittenInProtobuf) {
  const std::string allocation = test::wire(1, "allocation");
  const std::string consumer = test::wire(
      2, test::wire(1, "") + test::wire(3, "pods") + test::wire(4, "p") + test::wire(5, "p-1"));
  on(kStatusPath, 422, refusal("FieldValueInvalid status.allocation"));
  on(kStatusPath, 200, kClaim);
  on(kStatusPath, 422, refusal("FieldValueForbidden status.devices"));
  on(kStatusPath, 200, kClaim);
  read_as(200, test::wire_claim("", allocation));
  for (const std::size_t count : {3U, 6U}) {
    EXPECT_EQ(patch_status(api::ClaimStatusPatch::Part::kKeep), "ok 8");
    const auto requests = server_.requests();
    ASSERT_EQ(requests.size(), count);
    EXPECT_EQ(requests.back().method, "PUT");
    EXPECT_EQ(requests.back().path, kStatusPath);
    EXPECT_EQ(requests.back().body, test::wire_claim("", allocation + consumer));
  }
}

TEST_F(RewriteTest, WhatIsRefusedForWhatItWritesStaysRefused) {
  on(kClaimPath, 422, refusal("FieldValueInvalid metadata.uid"));
  on(kClaimPath, 422, refusal("FieldValueForbidden metadata.finalizers"));
  on(kClaimPath, 422, "spec: field is immutable");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(patch_finalizer(), "invalid -");
  on(kStatusPath, 422, refusal("FieldValueForbidden status.allocation"));
  on(kStatusPath, 422, refusal("FieldValueInvalid status.allocation"));
  EXPECT_EQ(patch_status(api::ClaimStatusPatch::Part::kKeep), "invalid -");
  EXPECT_EQ(patch_status(api::ClaimStatusPatch::Part::kSet), "invalid -");
  EXPECT_EQ(methods(), "PATCH PATCH PATCH PATCH PATCH ");
}

TEST_F(RewriteTest, AClaimThatChangedBeforeItWasReadIsAConflict) {
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  read_as(200, test::wire_object("ResourceClaim",
                                 test::wire(1, test::wire(5, "u") + test::wire(6, "9"))));
  EXPECT_EQ(patch_finalizer(), "conflict -");
  EXPECT_EQ(methods(), "PATCH GET ");
}

TEST_F(RewriteTest, AClaimThatChangesBeforeItIsWrittenIsTheServersConflict) {
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  read_as(200, test::wire_claim());
  on(kClaimPath, 409, R"({"kind":"Status","status":"Failure","code":409,"reason":"Conflict"})");
  EXPECT_EQ(patch_finalizer(), "conflict -");
}

TEST_F(RewriteTest, AWriteThatIsRefusedInProtobufTooIsRefused) {
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  read_as(200, test::wire_claim());
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  EXPECT_EQ(patch_finalizer(), "invalid -");
  EXPECT_EQ(methods(), "PATCH GET PUT ");
}

TEST_F(RewriteTest, BytesThatAreNoClaimLeaveTheRefusal) {
  on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
  read_as(200, "k8s");
  EXPECT_EQ(patch_finalizer(), "invalid -");
  EXPECT_EQ(message_,
            "HTTP 422 Invalid: bad; FieldValueInvalid spec: m; nor can it be written in protobuf: "
            "protobuf: these are not the bytes of an object");
}

TEST_F(RewriteTest, AReadThatFailsSaysWhatItWasFor) {
  struct Row {
    int status;
    const char* type;
    std::string body;
    const char* outcome;
    const char* message;
  };
  const std::string absent =
      test::wire_object("Status", test::wire(3, "no such claim") + test::wire(4, "NotFound"));
  const std::vector<Row> rows = {
      {404, kProtobuf, absent, "not_found -", "HTTP 404 NotFound: no such claim"},
      {406, "application/json", R"({"kind":"Status","message":"only JSON"})", "invalid -",
       "HTTP 406: only JSON"},
      {200, "application/json", kClaim, "unknown -",
       "the answer is no protobuf: some proxy between us and the API server?"}};
  for (const Row& row : rows) {
    on(kClaimPath, 422, refusal("FieldValueInvalid spec"));
    read_as(row.status, row.body, row.type);
  }
  for (const Row& row : rows) {
    EXPECT_EQ(patch_finalizer(), row.outcome);
    EXPECT_EQ(message_, std::string("the claim cannot be read in protobuf: ") + row.message);
  }
}

TEST_F(RewriteTest, NothingIsRewrittenForAClientThatIsGone) {
  const auto connection = connect(server_.url());
  client_ = make_http_claim_client(connection);
  test::Gate gate;
  server_.on(kClaimPath, [&gate](const FakeRequest&, FakeResponder& out) {
    gate.wait();
    out.json(422, refusal("FieldValueInvalid spec"), "");
  });
  client_->patch_claim({.claim = {"ns", "c"}, .uid = {"u"}, .resource_version = {"7"}},
                       claim_done());
  EXPECT_TRUE(server_.wait_for_requests(1));
  client_.reset();
  gate.open();
  EXPECT_EQ(next(), "invalid -");
  EXPECT_EQ(methods(), "PATCH ");
}

TEST_F(ClaimClientTest, MakesAndDeletesClaims) {
  on("/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims", 201, kClaim);
  on(kClaimPath, 200, R"({"kind":"Status","status":"Success"})");
  client_->create_claim({.claim = {"ns", "p-extended-resources-1"},
                         .generate_name = "p-extended-resources-",
                         .pod = "p",
                         .pod_uid = {"u-p"}},
                        claim_done());
  EXPECT_EQ(next(), "ok 8");
  client_->delete_claim({.claim = {"ns", "c"}, .uid = {"u"}},
                        [this](const Answer& answer) { seen_.add(outcome_name(answer.outcome)); });
  EXPECT_EQ(next(), "ok");
  const auto requests = server_.requests();
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_NE(requests[0].body.find("\"generateName\":\"p-extended-resources-\""), std::string::npos);
  EXPECT_EQ(requests[1].method, "DELETE");
  EXPECT_NE(requests[1].body.find("\"preconditions\":{\"uid\":\"u\"}"), std::string::npos);
}

TEST_F(ClaimClientTest, TellsConflictsAndWhatIsGone) {
  on(kClaimPath, 409, R"({"kind":"Status","status":"Failure","code":409,"reason":"Conflict"})");
  client_->read_claim({"ns", "c"}, claim_done());
  EXPECT_EQ(next(), "conflict -");
  client_->read_claim({"ns", "gone"}, claim_done());
  EXPECT_EQ(next(), "not_found -");
}

TEST_F(ClaimClientTest, KeepsConfigMaps) {
  on(kMapPath, 201, kMap);
  on(std::string(kMapPath) + "/m", 200, kMap);
  api::ConfigMap map;
  map.meta.key = {"sys", "m"};
  client_->create_config_map(map, map_done());
  EXPECT_EQ(next(), "ok b");
  map.meta.resource_version.text = "3";
  client_->update_config_map(map, map_done());
  EXPECT_EQ(next(), "ok b");
  client_->read_config_map(map.meta.key, map_done());
  EXPECT_EQ(next(), "ok b");
  client_->delete_config_map(
      {.map = map.meta.key, .uid = {"u"}, .resource_version = {"3"}},
      [this](const Answer& answer) { seen_.add(outcome_name(answer.outcome)); });
  EXPECT_EQ(next(), "ok");
  std::string methods;
  for (const FakeRequest& request : server_.requests()) methods += request.method + " ";
  EXPECT_EQ(methods, "POST PUT GET DELETE ");
}

TEST_F(ClaimClientTest, ListsConfigMapsOfALabel) {
  const std::string item =
      R"({"data":{"a":"b"},"metadata":{"namespace":"sys","name":"m","uid":"u"}})";
  on(kMapPath, 200,
     R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"9"},"items":[)" + item + "," + item +
         "]}");
  client_->list_config_maps("sys", "a.dev/kind=intent",
                            [this](const Answer& answer, std::vector<api::ConfigMap> maps) {
                              seen_.add(std::string(outcome_name(answer.outcome)) + " " +
                                        std::to_string(maps.size()) + maps.at(0).data["a"]);
                            });
  EXPECT_EQ(next(), "ok 2b");
  EXPECT_EQ(server_.requests()[0].target(),
            std::string(kMapPath) + "?timeout=5s&labelSelector=a.dev%2Fkind%3Dintent");
}

TEST_F(ClaimClientTest, AListThatCannotBeReadIsNoAnswer) {
  on(kMapPath, 200, R"({"items":[{"metadata":{}}]})");
  client_->list_config_maps(
      "sys", "a=b", [this](const Answer& answer, std::vector<api::ConfigMap> maps) {
        seen_.add(std::string(outcome_name(answer.outcome)) + " " + std::to_string(maps.size()));
      });
  EXPECT_EQ(next(), "unknown 0");
}

}  // namespace
}  // namespace gang::kube
