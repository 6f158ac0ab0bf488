#include "gang/kube/claim_client.h"

#include "kube/kube_fixture.h"

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
