// DeviceCounts: after any history the counts equal those of a new one.
#include "engine/device_counts.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;

api::ResourceSlice slice_of(std::mt19937& random) {
  const std::string number = std::to_string(random() % 5);
  api::ResourceSlice slice;
  slice.meta.key.name = "s" + number;
  slice.meta.uid.text = "uid-s" + number;
  slice.driver = "d";
  slice.pool = "pool" + number;
  slice.pool_slice_count = 1;
  slice.place.node_name = "n" + std::to_string(random() % 4);
  for (std::uint32_t i = random() % 4; i > 0; --i) {
    slice.devices.push_back({.name = "g" + std::to_string(i)});
    slice.devices.back().allow_multiple_allocations = random() % 9 == 0;
  }
  return slice;
}

api::ResourceClaim claim_of(std::mt19937& random) {
  const std::string number = std::to_string(random() % 8);
  api::ResourceClaim claim;
  claim.meta.key = {"default", "c" + number};
  claim.meta.uid.text = "uid-c" + number;
  if (random() % 3 == 0) return claim;
  claim.allocation.emplace();
  claim.allocation->results.push_back({.driver = "d",
                                       .pool = "pool" + std::to_string(random() % 5),
                                       .device = "g" + std::to_string(1 + random() % 3)});
  return claim;
}

void change(TestCluster& cluster, std::mt19937& random) {
  switch (random() % 8) {
    case 0:
      cluster.update(slice_of(random));
      break;
    case 1:
      cluster.remove(slice_of(random));
      break;
    case 2:
      cluster.update(node("n" + std::to_string(random() % 4)));
      break;
    case 3:
      cluster.remove(node("n" + std::to_string(random() % 4)).build());
      break;
    case 4:
      cluster.remove(claim_of(random));
      break;
    default:
      cluster.update(claim_of(random));
  }
}

std::string text_of(const DeviceCounts& counts, const cluster::Snapshot& snapshot) {
  std::string text;
  for (const cluster::NodeIndex index : snapshot.by_name()) {
    const NodeDevices& devices = counts.of(index);
    text += snapshot.node(index)->name + " " + std::to_string(devices.free) + "+" +
            std::to_string(devices.used) + (devices.is_exclusive ? "" : "*") + "\n";
  }
  return text;
}

TEST(DeviceCounts, EqualNewOnesAfterAnyHistory) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    TestCluster cluster;
    DeviceCounts kept;
    for (int i = 0; i < 150; ++i) {
      change(cluster, random);
      if (random() % 3 == 0) continue;
      const auto snapshot = cluster.state.snapshot();
      kept.update(snapshot->devices(), *snapshot);
      DeviceCounts fresh;
      fresh.update(snapshot->devices(), *snapshot);
      ASSERT_EQ(text_of(kept, *snapshot), text_of(fresh, *snapshot)) << seed << " " << i;
    }
  }
}

}  // namespace
}  // namespace gang::engine
