#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "gang/cluster/request_mix.h"
#include "support/builders.h"

namespace gang::cluster {
namespace {

using test::added;
using test::pod;

/// Notes lone pods one after the other.
class Mix : public testing::Test {
 protected:
  Mix() {
    for (const api::Delta& delta : test::empty_lists()) state_.apply(delta);
    state_.apply(added(test::node("n1").gpu(8)));
  }

  Gang gang_of(const api::Pod& made) {
    state_.apply(added(made));
    return *state_.gang(*state_.find_gang(made.meta.uid));
  }

  void note(int gpus, int times = 1) {
    for (int i = 0; i < times; ++i) {
      state_.note_requests(gang_of(pod("p" + std::to_string(next_++)).gpu(gpus).build()));
    }
  }

  [[nodiscard]] std::shared_ptr<const RequestMix> mix() { return state_.snapshot()->mix(); }
  [[nodiscard]] std::vector<std::int64_t> gpus() {
    std::vector<std::int64_t> amounts;
    for (const MixRequest& one : mix()->requests) {
      amounts.push_back(one.pod_class->requests.back().amount);
    }
    return amounts;
  }

  ClusterState state_{test::kOurScheduler};
  int next_ = 0;
};

TEST_F(Mix, IsThereWithTheFirstRequest) {
  EXPECT_EQ(mix(), nullptr);
  note(2);
  ASSERT_NE(mix(), nullptr);
  EXPECT_EQ(gpus(), (std::vector<std::int64_t>{2}));
  EXPECT_EQ(mix()->requests[0].weight, RequestMix::kUnit);
  EXPECT_GT(mix()->first_weight, RequestMix::kUnit);
}

TEST_F(Mix, HasTheHeaviestFirstThenAsTheyCame) {
  note(4);
  note(2);
  note(1, 3);
  EXPECT_EQ(gpus(), (std::vector<std::int64_t>{1, 4, 2}));
}

TEST_F(Mix, IsPublishedWhenHalfAsManyMoreHaveCome) {
  note(1, 100);
  const auto before = state_.snapshot();
  note(2);
  EXPECT_EQ(state_.snapshot()->mix(), before->mix());
  note(2, 60);
  EXPECT_NE(state_.snapshot()->mix(), before->mix());
  EXPECT_GT(state_.snapshot()->generation(), before->generation());
}

TEST_F(Mix, ForgetsWhatHasNotComeForLong) {
  note(4, 64);
  note(1, 6'000);
  EXPECT_EQ(gpus().front(), 1);
  const std::vector<MixRequest>& requests = mix()->requests;
  const std::int64_t old = requests.size() > 1 ? requests[1].weight : 0;
  EXPECT_LT(old, 5 * RequestMix::kUnit);
  EXPECT_LT(requests[0].weight, 2'100 * RequestMix::kUnit);
  EXPECT_LT(mix()->first_weight, RequestMix::kUnit);
}

TEST_F(Mix, EqualHistoriesGiveEqualMixes) {
  ClusterState other(test::kOurScheduler);
  for (const api::Delta& delta : test::empty_lists()) other.apply(delta);
  for (int i = 0; i < 500; ++i) {
    const api::Pod made = pod("q" + std::to_string(i)).gpu(1 + i % 7 % 3).build();
    state_.note_requests(gang_of(made));
    other.apply(added(made));
    other.note_requests(*other.gang(*other.find_gang(made.meta.uid)));
  }
  const auto theirs = other.snapshot()->mix();
  ASSERT_EQ(mix()->requests.size(), theirs->requests.size());
  for (std::size_t i = 0; i < theirs->requests.size(); ++i) {
    EXPECT_EQ(mix()->requests[i].weight, theirs->requests[i].weight);
  }
}

/// The wish of a pod with claims of these specs.
DeviceWish wish_of_specs(const std::vector<api::ClaimSpec>& specs) {
  Gang gang;
  Member member{.class_index = 0};
  for (const api::ClaimSpec& spec : specs) {
    auto claim = std::make_shared<api::ResourceClaim>();
    claim->spec = spec;
    member.claims.push_back(static_cast<std::int32_t>(gang.claims.size()));
    gang.claims.push_back({.claim = std::move(claim)});
  }
  return wish_of(gang, member);
}

api::ClaimSpec asks(std::int64_t count, api::QuantityMap capacity = {}) {
  api::DeviceAsk ask{.class_name = "gpu", .count = count, .capacity = std::move(capacity)};
  return {.requests = {{.name = "gpu", .exactly = ask}}};
}

TEST(DeviceWish, AddsUpWholeDevicesOfAllClaims) {
  EXPECT_EQ(wish_of_specs({}), DeviceWish{});
  EXPECT_EQ(wish_of_specs({asks(2)}).count, 2);
  EXPECT_EQ(wish_of_specs({asks(2), asks(1)}).count, 3);
}

TEST(DeviceWish, KeepsTheCapacityOfOneClaim) {
  const api::QuantityMap part = {{"memory", *api::Quantity::parse("20Gi")}};
  EXPECT_EQ(wish_of_specs({asks(1, part)}).capacity, part);
  EXPECT_TRUE(wish_of_specs({asks(1, part)}).is_plain);
  EXPECT_FALSE(wish_of_specs({asks(1, part), asks(1, part)}).is_plain) << "may share a device";
  EXPECT_FALSE(wish_of_specs({asks(1), asks(1, part)}).is_plain);
}

TEST(DeviceWish, IsNotPlainWhereANumberDoesNotTellIt) {
  api::ClaimSpec all = asks(1);
  all.requests[0].exactly->mode = api::AllocationMode::kAll;
  api::ClaimSpec admin = asks(1);
  admin.requests[0].exactly->admin_access = true;
  api::ClaimSpec choice{.requests = {{.name = "gpu"}}};
  choice.requests[0].first_available = {{.name = "a", .class_name = "gpu"}};
  for (const api::ClaimSpec& spec : {all, admin, choice}) {
    EXPECT_FALSE(wish_of_specs({spec}).is_plain);
  }
}

}  // namespace
}  // namespace gang::cluster
