// DeviceCounts and NodeIndex: after any history they equal new ones.
#include "engine/device_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/cluster_fixture.h"
#include "engine/node_index.h"
#include "engine/table_cache.h"

namespace gang::engine {
namespace {

using test::node;

api::ResourceSlice slice_of(std::mt19937& random) {
  const std::string number = std::to_string(random() % 5);
  api::ResourceSlice slice;
  slice.meta.key.name = "s" + number;
  slice.meta.uid.text = "uid-s" + number;
  slice.driver = "d";
  // Two of the slices are of one pool, now and then of one that misses some.
  const bool is_of_several = number == "0" || number == "1";
  slice.pool = is_of_several ? "pool0" : "pool" + number;
  slice.pool_slice_count = is_of_several && random() % 3 > 0 ? 2 : 1;
  slice.place.node_name = "n" + std::to_string(random() % 4);
  for (std::uint32_t i = random() % 4; i > 0; --i) {
    slice.devices.push_back({.name = (number == "1" ? "h" : "g") + std::to_string(i)});
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
  claim.allocation->results.push_back(
      {.driver = "d",
       .pool = "pool" + std::to_string(random() % 5),
       .device = (random() % 4 == 0 ? "h" : "g") + std::to_string(1 + random() % 3)});
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

std::string text_of(const std::string& node, const NodeDevices& devices) {
  return node + " " + std::to_string(devices.free) + "+" + std::to_string(devices.used) +
         (devices.is_exclusive ? "" : "*") + "\n";
}

std::string text_of(const DeviceCounts& counts, const cluster::Snapshot& snapshot) {
  std::string text;
  for (const cluster::NodeIndex index : snapshot.by_name()) {
    text += text_of(snapshot.node(index)->name, counts.of(index));
  }
  return text;
}

void add_part(const cluster::PoolPart& part, const cluster::DeviceUsage& usage,
              NodeDevices& devices) {
  for (const cluster::PoolDevice& device : part.devices) {
    add_device(*device.device, usage.find(device.id) != nullptr, devices);
  }
}

/// By hand: of ready pools the devices of the slices that name the node.
NodeDevices devices_of(const std::string& node, const cluster::DeviceView& view) {
  NodeDevices devices;
  for (const cluster::PoolIndex pool : view.by_name()) {
    if (view.pool(pool).state() != cluster::PoolState::kReady) continue;
    for (const cluster::PartPtr& part : view.pool(pool).parts()) {
      if (part->slice->place.node_name == node) add_part(*part, view.usage(), devices);
    }
  }
  return devices;
}

std::string text_by_hand(const cluster::Snapshot& snapshot) {
  std::string text;
  for (const cluster::NodeIndex index : snapshot.by_name()) {
    const std::string& name = snapshot.node(index)->name;
    text += text_of(name, devices_of(name, *snapshot.devices()));
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
      ASSERT_EQ(text_of(kept, *snapshot), text_by_hand(*snapshot)) << seed << " " << i;
    }
  }
}

/// Ranks in order, from all nodes at once.
std::string sorted_text(const cluster::Snapshot& snapshot, const CapacityTable& table,
                        const DeviceCounts& counts, std::int64_t least) {
  std::vector<NodeKey> keys;
  for (std::uint32_t rank = 0; rank < table.size(); ++rank) {
    const NodeDevices& here = counts.of(snapshot.by_name()[rank]);
    if (table.entry(rank).capacity == 0 || (here.is_exclusive && here.free < least)) continue;
    keys.emplace_back(rank, NodeRating{.all_wait = here.all_wait(),
                                       .is_unused = here.used == 0,
                                       .free = here.free,
                                       .score = table.entry(rank).score});
  }
  std::ranges::sort(keys);
  std::string text;
  for (const NodeKey& key : keys) text += std::to_string(key.rank()) + " ";
  return text;
}

std::string walked_text(NodeIndex::Walk walk) {
  std::string text;
  while (const auto key = walk.next()) text += std::to_string(key->rank()) + " ";
  return text;
}

/// What a planner keeps of one class, and the index beside it.
class IndexWorld {
 public:
  IndexWorld() : tables_(options_) { cluster_.add(test::pod("p").cpu("1")); }

  void step(std::mt19937& random) {
    change(cluster_, random);
    const std::string name = "busy" + std::to_string(random() % 6);
    const std::string on = "n" + std::to_string(random() % 4);
    if (random() % 3 == 0) cluster_.update(test::pod(name).cpu("1").on(on));
    if (random() % 3 > 0) compare(random() % 2 == 0);
  }

 private:
  void compare(bool looks_early) {
    const auto snapshot = cluster_.state.snapshot();
    tables_.begin(*snapshot);
    CapacityTable& table =
        *tables_.current(*snapshot, {.pod_class = cluster_.gang("p").classes.front()}, stats_);
    counts_.update(snapshot->devices(), *snapshot);
    if (table.size() > 0) {
      // As an attempt changes it and puts it back.
      const NodeEntry entry = table.entry(0);
      table.set(0, {});
      if (looks_early) index_.update(*snapshot, table, counts_);
      table.set(0, entry);
    }
    index_.update(*snapshot, table, counts_);
    for (const std::int64_t least : {0, 1, 2, 3}) {
      EXPECT_EQ(walked_text(index_.walk(least)), sorted_text(*snapshot, table, counts_, least));
    }
  }

  const Options options_;
  TestCluster cluster_;
  PlannerStats stats_;
  TableCache tables_;
  DeviceCounts counts_;
  NodeIndex index_{false};
};

TEST(NodeIndex, HasTheNodesInOrderAfterAnyHistory) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    IndexWorld world;
    for (int i = 0; i < 150 && !testing::Test::HasFailure(); ++i) world.step(random);
  }
}

TEST(NodeIndex, ReadsAllWhereMoreChangedThanIsKept) {
  ChangeLog log;
  log.add(7);
  ChangeLog::Mark mark = 0;
  EXPECT_FALSE(log.since(mark)) << "nothing was read";
  mark = log.read_all();
  log.add(3);
  ASSERT_TRUE(log.since(mark));
  EXPECT_EQ(log.since(mark)->size(), 1u);
  for (int i = 0; i < 10'000; ++i) log.add(1);
  EXPECT_FALSE(log.since(mark));
  mark = log.read_all();
  log.add_all();
  EXPECT_FALSE(log.since(mark));
}

}  // namespace
}  // namespace gang::engine
