#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "api/gzip.h"
#include "gang/api/claim_write.h"
#include "gang/api/intent.h"
#include "gang/base/base64.h"

namespace gang::api {
namespace {

Intent intent() {
  return {.gang = {"ml", "train"},
          .gang_uid = {"g-1"},
          .minimum = 4,
          .base = 1,
          .need = 3,
          .epoch = "e7",
          .stamp = "round=e7-3;need=3;minimum=4;plan=0011223344556677",
          .phase = IntentPhase::kAborting,
          .members = {{{"ml", "train-0"}, {"p-0"}, "n1"}},
          .claims = {{{"ml", "train-0-gpu"}, {"c-0"}, true}, {{"ml", "net"}, {"c-1"}, false}}};
}

TEST(IntentTest, IsReadAsItWasWritten) {
  const ConfigMap map = to_config_map(intent(), "gang-system", {"17"});
  EXPECT_EQ(map.meta.key.text(), "gang-system/intent-g-1");
  const auto read = decode_config_map(encode_config_map(map));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->meta.resource_version.text, "17");
  EXPECT_EQ(read->data, map.data);
  const auto again = intent_from(*read);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, intent());
}

TEST(IntentTest, AClaimThatTheRoundMakesHasNoUid) {
  Intent made = intent();
  made.claims = {
      {.claim = {"ml", "train-0-extended-resources-1"}, .allocates = true, .made_for = {"p-0"}}};
  const auto read = intent_from(to_config_map(made, "gang-system"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, made);
  made.claims[0].made_for = {};
  const auto refused = intent_from(to_config_map(made, "gang-system"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("claims[0]: names no claim"), std::string::npos);
}

TEST(IntentTest, CarriesTheLabelThatItIsListedBy) {
  const std::string body = encode_config_map(to_config_map(intent(), "gang-system"));
  EXPECT_NE(body.find(R"("labels":{"gang-scheduler.dev/kind":"intent"})"), std::string::npos);
  EXPECT_EQ(body.find("resourceVersion"), std::string::npos) << "a new one has no version";
}

TEST(IntentTest, WhatIsNoIntentIsRefusedByName) {
  const std::pair<std::string, std::string> rows[] = {
      {"", "data.intent is missing; delete the ConfigMap if no round is under way"},
      {"{}", "data.intent has format 0, this version reads 1; run the version that wrote it"},
      {R"({"format":2})",
       "data.intent has format 2, this version reads 1; run the version that wrote it"},
      {R"({"format":1,"gang":{"name":"g","uid":"u"},"phase":"Sleeping"})",
       "data.intent: phase: is no phase of an intent"},
      {R"({"format":1,"phase":"Claiming","gang":{"name":"g","uid":"u"},"members":[{"name":"p"}]})",
       "data.intent: members[0]: names no object; it was not written by this scheduler"},
  };
  for (const auto& [text, why] : rows) {
    ConfigMap map;
    map.meta.key = {"ns", "intent-u"};
    if (!text.empty()) map.data["intent"] = text;
    const auto read = intent_from(map);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message, "ConfigMap ns/intent-u: " + why);
  }
}

TEST(IntentTest, AForeignGangOrNamespaceIsRefused) {
  ConfigMap map = to_config_map(intent(), "gang-system");
  map.meta.key.name = "intent-g-2";
  EXPECT_FALSE(intent_from(map)) << "the name says another gang";
  Intent wide = intent();
  wide.claims[0].claim.name_space = "other";
  EXPECT_FALSE(intent_from(to_config_map(wide, "gang-system")));
}

TEST(IntentTest, WhatIsStoredIsKnownByItsName) {
  ConfigMap map = to_config_map(intent(), "gang-system", {"17"});
  EXPECT_EQ(stored_intent_from(map).intent, intent());
  EXPECT_EQ(stored_intent_from(map).problem, "");
  map.data["intent"] = "[]";
  const StoredIntent broken = stored_intent_from(map);
  EXPECT_EQ(broken.intent.gang_uid.text, "g-1");
  EXPECT_NE(broken.problem, "");
  EXPECT_EQ(broken.meta.resource_version.text, "17");
}

/// A uid as the server makes them: nothing about it can be guessed.
Uid random_uid(std::mt19937_64& random) {
  return {fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", random() & 0xffffffffU,
                      random() & 0xffffU, random() & 0xfffU, random() & 0xfffU,
                      random() & 0xffffffffffffU)};
}

/// Every member has a claim of its own, made from a template.
Intent large_intent(int members) {
  Intent large = intent();
  large.members.clear();
  large.claims.clear();
  std::mt19937_64 random(7);
  for (int i = 0; i < members; ++i) {
    const std::string name = fmt::format("train-worker-{}-{:05x}", i, random() & 0xfffffU);
    large.members.push_back(
        {{"ml", name}, random_uid(random), fmt::format("gpu-node-{:04}.cluster.local", i / 8)});
    large.claims.push_back({{"ml", fmt::format("{}-gpu-{:05x}", name, random() & 0xfffffU)},
                            random_uid(random),
                            true});
  }
  return large;
}

TEST(IntentTest, OfTenThousandMembersFitsIntoAConfigMap) {
  const ConfigMap map = to_config_map(large_intent(10'000), "gang-system");
  ASSERT_EQ(map.data.size(), 1U);
  EXPECT_EQ(map.data.begin()->first, "intent.gz");
  EXPECT_LT(map.data.begin()->second.size(), 1'000'000U) << "the server takes 1 MiB of data";
  const auto read = decode_config_map(encode_config_map(map));
  ASSERT_TRUE(read) << read.error().message;
  const auto again = intent_from(*read);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, large_intent(10'000));
}

TEST(IntentTest, OfUsualSizeStaysReadable) {
  EXPECT_TRUE(to_config_map(large_intent(800), "gang-system").data.contains("intent"));
}

TEST(IntentTest, WhatIsPackedButNoIntentIsRefusedByName) {
  const std::string packed = to_config_map(large_intent(2'000), "ns").data.at("intent.gz");
  const std::pair<std::string, std::string> rows[] = {
      {"", "it is no gzip, or cut"},
      {"!", "no base64"},
      {encode_base64("plain"), "it is no gzip, or cut"},
      {packed.substr(0, 4'000), "it is no gzip, or cut"},
      {encode_base64(pack_gzip("{}") + "x"), "it is no gzip, or cut"},
      {encode_base64(pack_gzip(std::string((16U << 20U) + 1, ' '))),
       "more than 16777216 bytes are packed in it"},
  };
  for (const auto& [text, why] : rows) {
    ConfigMap map;
    map.meta.key = {"ns", "intent-u"};
    map.data["intent.gz"] = text;
    const auto read = intent_from(map);
    ASSERT_FALSE(read) << why;
    EXPECT_EQ(read.error().message, "ConfigMap ns/intent-u: data.intent.gz: " + why);
  }
}

TEST(ClaimWriteTest, AFenceIsAnAnnotation) {
  EXPECT_EQ(encode_claim_patch(
                {.claim = {"ml", "c"}, .uid = {"u"}, .resource_version = {"5"}, .fence = "e7-5"}),
            R"({"metadata":{"annotations":{"gang-scheduler.dev/fence":"e7-5"},"finalizers":[],)"
            R"("resourceVersion":"5","uid":"u"}})");
}

TEST(ClaimWriteTest, EveryWriteCarriesUidAndVersion) {
  EXPECT_EQ(encode_claim_patch({.claim = {"ml", "c"},
                                .uid = {"u"},
                                .resource_version = {"5"},
                                .finalizers = {"a/b", std::string(kClaimFinalizer)}}),
            R"({"metadata":{"finalizers":["a/b","resource.kubernetes.io/delete-protection"],)"
            R"("resourceVersion":"5","uid":"u"}})");
}

TEST(ClaimWriteTest, AllocationAndReservationAreOneWrite) {
  ClaimStatusPatch patch{.claim = {"ml", "c"},
                         .uid = {"u"},
                         .resource_version = {"5"},
                         .allocation_part = ClaimStatusPatch::Part::kSet,
                         .reserved_for = {{.resource = "pods", .name = "p", .uid = {"p-1"}},
                                          {.api_group = "scheduling.k8s.io",
                                           .resource = "podgroups",
                                           .name = "g",
                                           .uid = {"g-1"}}}};
  patch.allocation.results.push_back(
      {.request = "gpu", .driver = "d", .pool = "n1", .device = "gpu-0"});
  EXPECT_EQ(encode_claim_status_patch(patch),
            R"({"metadata":{"resourceVersion":"5","uid":"u"},"status":{"allocation":{"devices":)"
            R"({"results":[{"device":"gpu-0","driver":"d","pool":"n1","request":"gpu"}]}},)"
            R"("reservedFor":[{"name":"p","resource":"pods","uid":"p-1"},)"
            R"({"apiGroup":"scheduling.k8s.io","name":"g","resource":"podgroups","uid":"g-1"}]}})");
}

TEST(ClaimWriteTest, ClearingTakesDevicesAndReservationsAway) {
  const ClaimStatusPatch patch{.claim = {"ml", "c"},
                               .uid = {"u"},
                               .resource_version = {"5"},
                               .allocation_part = ClaimStatusPatch::Part::kClear};
  EXPECT_EQ(encode_claim_status_patch(patch),
            R"({"metadata":{"resourceVersion":"5","uid":"u"},"status":{"allocation":null,)"
            R"("devices":null,"reservedFor":[]}})");
}

}  // namespace
}  // namespace gang::api
