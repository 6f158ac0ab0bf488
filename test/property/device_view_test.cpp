// Random histories of slices, rules, classes and claims: the view must equal one that is built from
// what is there at the end, and old views must not move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../cluster/device_fixture.h"

namespace gang::cluster {
namespace {

/// What is there, kind by kind, and deltas that tell how it came about.
class Server {
 public:
  explicit Server(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  /// One change, and what the watch tells of it; nothing when it missed it.
  api::Delta change() {
    const std::uint64_t dice = below(100);
    if (dice < 40) return put_or_remove(slices, any_slice());
    if (dice < 80) return put_or_remove(claims, any_claim());
    if (dice < 92) return put_or_remove(rules, any_rule());
    return put_or_remove(classes, any_class());
  }

  std::vector<api::Delta> list(api::Kind kind) const {
    std::vector<api::Delta> deltas{test::list_begin(kind)};
    const auto add = [&](const auto& objects) {
      for (const auto& [name, object] : objects) deltas.push_back(added(object));
    };
    if (kind == api::Kind::kResourceSlice) add(slices);
    if (kind == api::Kind::kResourceClaim) add(claims);
    if (kind == api::Kind::kDeviceTaintRule) add(rules);
    if (kind == api::Kind::kDeviceClass) add(classes);
    deltas.push_back(test::list_end(kind));
    return deltas;
  }

  std::map<std::string, api::ResourceSlice> slices;
  std::map<std::string, api::ResourceClaim> claims;
  std::map<std::string, api::DeviceTaintRule> rules;
  std::map<std::string, api::DeviceClass> classes;

 private:
  std::string digit(std::uint64_t n) { return std::to_string(below(n)); }

  api::ResourceSlice any_slice() {
    api::ResourceSlice one = slice("slice-" + digit(8), "pool-" + digit(4), {});
    for (std::uint64_t i = below(4); i > 0; --i) {
      one.devices.emplace_back().name = "gpu-" + digit(5);
    }
    one.pool_generation = static_cast<std::int64_t>(below(3));
    one.pool_slice_count = static_cast<std::int64_t>(1 + below(2));
    one.place = {};
    if (chance(60)) {
      one.place.node_name = "n" + digit(4);
    } else {
      one.place.all_nodes = true;
    }
    return one;
  }

  api::DeviceClass any_class() {
    api::DeviceClass one = device_class("class-" + digit(3));
    one.meta.creation_time = test::at_second(static_cast<std::int64_t>(below(3)));
    if (chance(70)) one.extended_resource_name = "example.com/r" + digit(2);
    return one;
  }

  api::ResourceClaim any_claim() {
    std::vector<api::DeviceResult> results;
    for (std::uint64_t i = below(3); i > 0; --i) {
      const std::string pool = "pool-" + digit(5);
      const std::string device = "gpu-" + digit(5);
      results.push_back(chance(30) ? share(pool, device, digit(4) + "Gi") : result(pool, device));
      results.back().admin_access = chance(10);
    }
    return claim("claim-" + digit(10), results);
  }

  api::DeviceTaintRule any_rule() {
    return rule("rule-" + digit(3), chance(50) ? "pool-" + digit(5) : "",
                chance(50) ? "gpu-" + digit(5) : "");
  }

  template <class Object>
  api::Delta put_or_remove(std::map<std::string, Object>& objects, Object object) {
    const auto known = objects.find(object.meta.key.name);
    if (known != objects.end() && chance(30)) {
      const api::Delta gone = deleted(known->second);
      objects.erase(known);
      return gone;
    }
    object.meta.resource_version.text = std::to_string(++versions_);
    if (known != objects.end() && chance(80)) {
      object.meta.uid = known->second.meta.uid;
    } else {
      object.meta.uid.text = "uid-" + std::to_string(++uids_);
    }
    objects[object.meta.key.name] = object;
    return updated(object);
  }

  std::mt19937_64 random_;
  std::int64_t versions_ = 100;
  std::int64_t uids_ = 0;
};

/// One history: the server, the state that is told of it, and views kept with their text.
class History {
 public:
  explicit History(std::uint64_t seed) : server_(seed) {}

  void step() {
    const std::uint64_t dice = server_.below(100);
    if (dice < 4) {
      for (std::uint64_t missed = server_.below(10); missed > 0; --missed) server_.change();
      for (const api::Kind kind : {api::Kind::kDeviceClass, api::Kind::kResourceClaim,
                                   api::Kind::kDeviceTaintRule, api::Kind::kResourceSlice}) {
        for (const api::Delta& delta : server_.list(kind)) tell(delta);
      }
    } else if (dice < 12 && !told_.empty()) {
      tell_again(told_[server_.below(told_.size())]);
    } else if (dice < 25) {
      assume_or_forget();
    } else {
      tell(server_.change());
    }
  }

  void check() {
    ASSERT_EQ(state_.recompute(), "");
    const auto view = state_.snapshot()->devices();
    const std::string text = text_of(*view);
    ASSERT_EQ(text, text_from_scratch());
    for (const auto& [old, old_text] : kept_) ASSERT_EQ(text_of(*old), old_text) << "it moved";
    kept_.emplace_back(view, text);
    if (kept_.size() > 8) kept_.erase(kept_.begin());
  }

 private:
  static std::string text_of(const DeviceView& view) {
    std::string text = cluster::text_of(view);
    for (const char* node : {"n0", "n1", "n2", "n3"}) {
      text += std::string(node) + ":";
      for (const PoolIndex pool : view.local_pools(node)) text += " " + view.pool(pool).name();
      text += "\n";
    }
    return text;
  }

  void tell(const api::Delta& delta) {
    told_.push_back(delta);
    state_.apply(delta);
    if (server_.chance(10)) state_.apply(delta);
    std::erase_if(assumed_, [this](const auto& one) { return !is_unallocated(one.first); });
  }

  /// A late event: of objects that are there still in a newer version, or the end of an earlier
  /// one.
  void tell_again(const api::Delta& delta) {
    if (delta.type == api::DeltaType::kListBegin || delta.type == api::DeltaType::kListEnd) return;
    const api::ObjectMeta& meta = api::meta_of(delta.object);
    const auto is_current = [&](const auto& objects) {
      const auto now = objects.find(meta.key.name);
      return now != objects.end() && now->second.meta.uid == meta.uid;
    };
    const bool is_there = is_current(server_.slices) || is_current(server_.claims) ||
                          is_current(server_.rules) || is_current(server_.classes);
    if (is_there == (delta.type != api::DeltaType::kDeleted)) state_.apply(delta);
  }

  [[nodiscard]] bool is_unallocated(const std::string& uid) const {
    return std::ranges::any_of(server_.claims, [&](const auto& one) {
      return one.second.meta.uid.text == uid && !one.second.allocation;
    });
  }

  void assume_or_forget() {
    const auto place = server_.claims.find("claim-" + std::to_string(server_.below(10)));
    if (place == server_.claims.end() || place->second.allocation) return;
    const api::Uid& uid = place->second.meta.uid;
    if (assumed_.erase(uid.text) > 0) {
      state_.forget_allocation(uid);
      return;
    }
    const std::string device = "gpu-" + std::to_string(server_.below(5));
    const api::Allocation allocation{.results = {result("pool-0", device)}};
    state_.assume_allocation(uid, allocation);
    assumed_[uid.text] = allocation;
  }

  [[nodiscard]] std::string text_from_scratch() const {
    ClusterState fresh(test::kOurScheduler);
    for (const api::Kind kind : {api::Kind::kResourceSlice, api::Kind::kResourceClaim,
                                 api::Kind::kDeviceTaintRule, api::Kind::kDeviceClass}) {
      for (const api::Delta& delta : server_.list(kind)) fresh.apply(delta);
    }
    for (const auto& [uid, allocation] : assumed_) fresh.assume_allocation({uid}, allocation);
    return text_of(*fresh.snapshot()->devices());
  }

  Server server_;
  ClusterState state_{test::kOurScheduler};
  std::vector<api::Delta> told_;
  std::map<std::string, api::Allocation> assumed_;  ///< by uid of the claim
  std::vector<std::pair<std::shared_ptr<const DeviceView>, std::string>> kept_;
};

std::vector<std::uint64_t> seeds() {
  if (const char* seed = std::getenv("GANG_SEED")) return {std::strtoull(seed, nullptr, 10)};
  std::vector<std::uint64_t> result;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) result.push_back(seed);
  return result;
}

TEST(DeviceViewProperty, EqualsAViewBuiltFromScratchAfterAnyHistory) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("GANG_SEED=" + std::to_string(seed));
    History history(seed);
    for (int i = 0; i < 300; ++i) {
      history.step();
      history.check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gang::cluster
