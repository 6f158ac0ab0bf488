#include "kube/resource_path.h"

#include <gtest/gtest.h>

namespace gang::kube {
namespace {

TEST(ResourcePath, NamesTheCollectionOfEachKind) {
  EXPECT_EQ(collection_path(api::Kind::kPod, ""), "/api/v1/pods");
  EXPECT_EQ(collection_path(api::Kind::kFinishedPod, "ns"), "/api/v1/namespaces/ns/pods");
  EXPECT_EQ(collection_path(api::Kind::kNode, "ns"), "/api/v1/nodes");
  EXPECT_EQ(collection_path(api::Kind::kNamespace, ""), "/api/v1/namespaces");
  EXPECT_EQ(collection_path(api::Kind::kPodGroup, ""), "/apis/scheduling.k8s.io/v1beta1/podgroups");
  EXPECT_EQ(collection_path(api::Kind::kWorkload, ""), "/apis/scheduling.k8s.io/v1beta1/workloads");
  EXPECT_EQ(collection_path(api::Kind::kCompositePodGroup, ""),
            "/apis/scheduling.k8s.io/v1alpha3/compositepodgroups");
  EXPECT_EQ(collection_path(api::Kind::kPriorityClass, "ns"),
            "/apis/scheduling.k8s.io/v1/priorityclasses");
}

TEST(ResourcePath, TheKindsOfDevicesMayBeAbsent) {
  EXPECT_EQ(collection_path(api::Kind::kResourceSlice, "ns"),
            "/apis/resource.k8s.io/v1/resourceslices");
  EXPECT_EQ(collection_path(api::Kind::kResourceClaim, "ns"),
            "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims");
  EXPECT_EQ(collection_path(api::Kind::kResourceClaimTemplate, "ns"),
            "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaimtemplates");
  EXPECT_EQ(collection_path(api::Kind::kDeviceClass, "ns"),
            "/apis/resource.k8s.io/v1/deviceclasses");
  EXPECT_EQ(collection_path(api::Kind::kDeviceTaintRule, "ns"),
            "/apis/resource.k8s.io/v1/devicetaintrules");
  for (const api::Kind kind :
       {api::Kind::kResourceSlice, api::Kind::kResourceClaim, api::Kind::kResourceClaimTemplate,
        api::Kind::kDeviceClass, api::Kind::kDeviceTaintRule}) {
    EXPECT_TRUE(is_optional(kind));
  }
}

TEST(ResourcePath, EncodesNamesSoThatTheyStayOnePathSegment) {
  EXPECT_EQ(object_path(api::Kind::kPod, {"a/b", "../c?d"}),
            "/api/v1/namespaces/a%2Fb/pods/..%2Fc%3Fd");
  EXPECT_EQ(object_path(api::Kind::kPodGroup, {"ns", "g"}),
            "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups/g");
}

TEST(ListWatchPaths, SelectsPodsThatAreNotTerminal) {
  const ListWatchPaths paths({.kind = api::Kind::kPod});
  EXPECT_EQ(paths.list(500, ""),
            "/api/v1/pods?limit=500&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3D"
            "Failed");
  EXPECT_EQ(paths.watch("12", 300),
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=12&timeoutSeconds=300"
            "&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed");
}

TEST(ListWatchPaths, SelectsFinishedPodsOfOneScheduler) {
  const ListWatchPaths paths({.kind = api::Kind::kFinishedPod, .scheduler_name = "gs"});
  EXPECT_EQ(paths.list(2, "t+/="),
            "/api/v1/pods?limit=2&fieldSelector=status.phase%21%3DPending%2Cstatus.phase%21%3D"
            "Running%2Cstatus.phase%21%3DUnknown%2Cspec.schedulerName%3Dgs&continue=t%2B%2F%3D");
}

TEST(ListWatchPaths, AsksWatchListForAllWithoutAResourceVersion) {
  EXPECT_EQ(ListWatchPaths({.kind = api::Kind::kNode}).watch_list(400),
            "/api/v1/nodes?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
            "&allowWatchBookmarks=true&timeoutSeconds=400");
}

}  // namespace
}  // namespace gang::kube
