#include "engine/overlay.h"

#include <gtest/gtest.h>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::pod;

/// Two nodes and the classes of two lone pods.
class OverlayTest : public testing::Test {
 protected:
  OverlayTest() {
    cluster_.add(node("n1").gpu(8)).add(node("n2").gpu(8));
    cluster_.add(pod("old").on("n1").cpu("1").host_port(80));
    cluster_.add(pod("a").cpu("500m").gpu(2).host_port(8080));
    cluster_.add(pod("b").memory("1Gi"));
    snapshot_ = cluster_.state.snapshot();
    a_ = cluster_.gang("a").classes.front();
    b_ = cluster_.gang("b").classes.front();
    n1_ = snapshot_->by_name()[0];
    n2_ = snapshot_->by_name()[1];
    overlay_.begin(*snapshot_);
  }
  ~OverlayTest() override { overlay_.rollback(0); }

  [[nodiscard]] std::int64_t cpu(cluster::NodeIndex of) const {
    return overlay_.use(of).requested(cluster::kCpu);
  }

  TestCluster cluster_;
  std::shared_ptr<const cluster::Snapshot> snapshot_;
  std::shared_ptr<const cluster::PodClass> a_, b_;
  cluster::NodeIndex n1_, n2_;
  Overlay overlay_;
};

TEST_F(OverlayTest, ShowsTheSnapshotWhereNothingIsAssigned) {
  EXPECT_EQ(cpu(n1_), 1000);
  EXPECT_EQ(cpu(n2_), 0);
  EXPECT_EQ(overlay_.use(n1_).requested(cluster::kPods), 1);
  EXPECT_EQ(overlay_.use(n1_).allocatable(cluster::kCpu), 4000);
  EXPECT_FALSE(overlay_.touched(n1_));
}

TEST_F(OverlayTest, AddsEveryAssignmentToItsNode) {
  overlay_.assign(n1_, *a_);
  overlay_.assign(n1_, *b_);
  EXPECT_EQ(cpu(n1_), 1500);
  EXPECT_EQ(cpu(n2_), 0);
  EXPECT_EQ(overlay_.use(n1_).requested(cluster::kMemory), std::int64_t{1} << 30);
  EXPECT_EQ(overlay_.use(n1_).requested(cluster::kPods), 3);
  EXPECT_EQ(overlay_.use(n1_).nonzero_cpu(), 1000 + 500 + 100);
  EXPECT_TRUE(overlay_.touched(n1_));
}

TEST_F(OverlayTest, SeesPortsOfTheSnapshotAndOfAssignments) {
  const api::HostPort http = {.ip = "0.0.0.0", .protocol = "TCP", .port = 80};
  const api::HostPort alt = {.ip = "0.0.0.0", .protocol = "TCP", .port = 8080};
  EXPECT_TRUE(overlay_.use(n1_).port_taken(http));
  EXPECT_FALSE(overlay_.use(n1_).port_taken(alt));
  overlay_.assign(n1_, *a_);
  EXPECT_TRUE(overlay_.use(n1_).port_taken(alt));
  EXPECT_FALSE(overlay_.use(n2_).port_taken(alt));
  EXPECT_FALSE(NodeUse::emptied(*snapshot_, n1_).port_taken(http));
}

TEST_F(OverlayTest, RollsBackToACheckpointExactly) {
  overlay_.assign(n1_, *a_);
  const std::size_t one = overlay_.checkpoint();
  overlay_.assign(n2_, *a_);
  overlay_.assign(n1_, *b_);
  overlay_.rollback(one);
  EXPECT_EQ(cpu(n1_), 1500);
  EXPECT_EQ(cpu(n2_), 0);
  EXPECT_TRUE(overlay_.touched(n1_));
  EXPECT_FALSE(overlay_.touched(n2_));
  overlay_.rollback(0);
  EXPECT_EQ(cpu(n1_), 1000);
  EXPECT_FALSE(overlay_.touched(n1_));
  EXPECT_FALSE(overlay_.use(n1_).port_taken({.ip = "", .protocol = "TCP", .port = 8080}));
}

TEST_F(OverlayTest, ComparesWhatIsBookedOnTwoNodes) {
  EXPECT_TRUE(overlay_.same_bookings(n1_, n2_));
  overlay_.assign(n1_, *b_);
  EXPECT_FALSE(overlay_.same_bookings(n1_, n2_));
  overlay_.assign(n2_, *b_);
  EXPECT_TRUE(overlay_.same_bookings(n1_, n2_));
  overlay_.assign(n1_, *a_);
  EXPECT_FALSE(overlay_.same_bookings(n1_, n2_));
}

TEST_F(OverlayTest, ShowsANodeAsIfEveryPodWereGone) {
  overlay_.assign(n1_, *a_);
  EXPECT_EQ(NodeUse::emptied(*snapshot_, n1_).requested(cluster::kCpu), 0);
  EXPECT_EQ(NodeUse::emptied(*snapshot_, n1_).allocatable(cluster::kCpu), 4000);
}

}  // namespace
}  // namespace gang::engine
