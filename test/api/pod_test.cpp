#include "gang/api/pod.h"

#include <gtest/gtest.h>

namespace gang::api {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

ResourceList resources(const Entries& entries) {
  ResourceList list;
  for (const auto& [name, text] : entries) list.set(name, *Quantity::parse(text));
  return list;
}

Container container(ContainerKind kind, const Entries& entries) {
  Container made;
  made.kind = kind;
  made.requests = resources(entries);
  return made;
}

constexpr auto kMain = ContainerKind::kMain;
constexpr auto kInit = ContainerKind::kInit;
constexpr auto kSidecar = ContainerKind::kSidecar;

std::int64_t cpu(const Pod& pod, RequestBasis basis = RequestBasis::kSpec) {
  const ResourceList requests = effective_requests(pod, basis);
  const Quantity* quantity = requests.find("cpu");
  return quantity == nullptr ? -1 : whole("cpu", *quantity);
}

TEST(EffectiveRequests, B182SidecarsBeforeAnInitContainerRunBesideIt) {
  Pod pod;
  pod.overhead = resources({{"cpu", "250m"}});
  pod.containers = {container(kSidecar, {{"cpu", "1"}}), container(kInit, {{"cpu", "3"}}),
                    container(kMain, {{"cpu", "1"}}), container(kMain, {{"cpu", "1"}})};
  EXPECT_EQ(cpu(pod), 4250);
  std::swap(pod.containers[0], pod.containers[1]);
  EXPECT_EQ(cpu(pod), 3250);
}

TEST(EffectiveRequests, AreExactWithinAPodAndRoundedOnce) {
  Pod pod;
  pod.containers = {container(kMain, {{"cpu", "1500u"}}), container(kMain, {{"cpu", "1500u"}})};
  EXPECT_EQ(cpu(pod), 3);
}

TEST(EffectiveRequests, InitPeaksCountPerResource) {
  Pod pod;
  pod.containers = {container(kInit, {{"memory", "4Gi"}}), container(kInit, {{"cpu", "2"}}),
                    container(kMain, {{"cpu", "1"}, {"memory", "1Gi"}})};
  EXPECT_EQ(effective_requests(pod, RequestBasis::kSpec),
            resources({{"cpu", "2"}, {"memory", "4Gi"}}));
}

TEST(EffectiveRequests, B184PodLevelValuesReplaceTheSumOfSupportedNames) {
  Pod pod;
  pod.containers = {container(kMain, {{"cpu", "500m"}, {"nvidia.com/gpu", "1"}}),
                    container(kMain, {{"cpu", "500m"}})};
  pod.pod_level = PodLevelResources{.requests = resources({{"cpu", "3"}, {"storage", "1"}})};
  pod.overhead = resources({{"cpu", "100m"}});
  EXPECT_EQ(effective_requests(pod, RequestBasis::kSpec),
            resources({{"cpu", "3100m"}, {"nvidia.com/gpu", "1"}}));
  EXPECT_TRUE(effective_requests(Pod{}, RequestBasis::kSpec).empty());
}

Pod resized(std::string spec, std::string allocated, std::string actuated) {
  Pod pod;
  pod.containers = {container(kMain, {{"cpu", std::move(spec)}})};
  if (!allocated.empty()) pod.containers[0].allocated = resources({{"cpu", allocated}});
  if (!actuated.empty()) pod.containers[0].actuated = resources({{"cpu", actuated}});
  return pod;
}

TEST(EffectiveRequests, OnANodeTheLargestOfSpecAllocatedAndActuatedCounts) {
  EXPECT_EQ(cpu(resized("1", "2", "3"), RequestBasis::kStatus), 3000);
  EXPECT_EQ(cpu(resized("4", "2", "3"), RequestBasis::kStatus), 4000);
  EXPECT_EQ(cpu(resized("1", "2", ""), RequestBasis::kStatus), 2000);
  EXPECT_EQ(cpu(resized("1", "", "3"), RequestBasis::kStatus), 3000);
  EXPECT_EQ(cpu(resized("1", "", ""), RequestBasis::kStatus), 1000);
  EXPECT_EQ(cpu(resized("1", "2", "3"), RequestBasis::kSpec), 1000);
}

TEST(EffectiveRequests, AResizeThatIsInfeasibleDoesNotCountAndADeferredOneDoes) {
  Pod pod = resized("8", "2", "1");
  pod.conditions = {{.type = "PodResizePending", .reason = "Deferred"}};
  EXPECT_EQ(cpu(pod, RequestBasis::kStatus), 8000);
  pod.conditions[0].reason = "Infeasible";
  EXPECT_EQ(cpu(pod, RequestBasis::kStatus), 2000);
  EXPECT_EQ(cpu(pod, RequestBasis::kSpec), 8000);
}

TEST(EffectiveRequests, PodLevelStatusReplacesTheAggregatesOfContainers) {
  Pod pod = resized("1", "5", "5");
  pod.pod_level = PodLevelResources{.requests = resources({{"cpu", "2"}}),
                                    .actuated = resources({{"cpu", "3"}}),
                                    .allocated = resources({{"cpu", "4"}})};
  EXPECT_EQ(cpu(pod, RequestBasis::kStatus), 4000);
  pod.pod_level->requests = resources({{"cpu", "6"}});
  EXPECT_EQ(cpu(pod, RequestBasis::kStatus), 6000);
  pod.conditions = {{.type = "PodResizePending", .reason = "Infeasible"}};
  EXPECT_EQ(cpu(pod, RequestBasis::kStatus), 4000);
}

TEST(NonZeroRequests, EveryContainerWithoutARequestCountsTheDefault) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  Pod pod;
  pod.containers = {container(kMain, {}), container(kMain, {{"cpu", "0"}})};
  const NonZeroRequests both{100, 400 * kMiB};
  EXPECT_EQ(nonzero_requests(pod, RequestBasis::kSpec), both);
  EXPECT_EQ(nonzero_requests(pod, RequestBasis::kStatus), both);
  pod.containers.insert(pod.containers.begin(), container(kInit, {{"memory", "1Gi"}}));
  EXPECT_EQ(nonzero_requests(pod, RequestBasis::kSpec), (NonZeroRequests{100, 1024 * kMiB}));
}

TEST(NonZeroRequests, OnANodePodLevelValuesReplaceAndDefaultsFillOnlyTheRest) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  Pod pod;
  pod.containers = {container(kMain, {}), container(kMain, {{"cpu", "1"}})};
  pod.pod_level = PodLevelResources{.requests = resources({{"cpu", "3"}})};
  EXPECT_EQ(nonzero_requests(pod, RequestBasis::kStatus), (NonZeroRequests{3000, 400 * kMiB}));
  EXPECT_EQ(nonzero_requests(pod, RequestBasis::kSpec), (NonZeroRequests{1100, 400 * kMiB}));
}

TEST(HostPorts, ConflictOnEqualOrWildcardAddresses) {
  const HostPort any{"0.0.0.0", "TCP", 80};
  const HostPort one{"10.0.0.1", "TCP", 80};
  EXPECT_TRUE(conflicts(any, any));
  EXPECT_TRUE(conflicts(any, one));
  EXPECT_TRUE(conflicts(one, any));
  EXPECT_TRUE(conflicts(one, one));
  EXPECT_FALSE(conflicts(one, {"10.0.0.2", "TCP", 80}));
  EXPECT_FALSE(conflicts(any, {"0.0.0.0", "UDP", 80}));
  EXPECT_FALSE(conflicts(any, {"0.0.0.0", "TCP", 81}));
  EXPECT_FALSE(conflicts({"::", "TCP", 80}, one));
  EXPECT_TRUE(conflicts({"::", "TCP", 80}, {"::", "TCP", 80}));
}

}  // namespace
}  // namespace gang::api
