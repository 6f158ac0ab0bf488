// Random histories of slices, rules, classes, claims and nodes: the view must equal one that is
// built from what is there at the end, share what did not change, and old views must not move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
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
    if (dice < 35) return put_or_remove(slices, any_slice());
    if (dice < 40 && !slices.empty()) return touch_any_slice();
    if (dice < 77) return put_or_remove(claims, any_claim());
    if (dice < 80) return relabelled_node();
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
    api::ResourceSlice one = slice("slice-" + digit(12), "pool-" + digit(4), {});
    if (chance(20)) {
      add_counter_sets(one);
    } else {
      for (std::uint64_t i = below(4); i > 0; --i) add_device(one);
    }
    one.pool_generation = chance(90) ? 0 : static_cast<std::int64_t>(below(3));
    one.pool_slice_count = static_cast<std::int64_t>(chance(80) ? 3 : 1 + below(3));
    one.per_device_node_selection = chance(5);
    if (chance(3)) one.meta.unreadable = "bad " + digit(2);
    one.place = {};
    if (chance(60)) {
      one.place.node_name = "n" + digit(4);
    } else {
      one.place.all_nodes = true;
    }
    return one;
  }

  void add_counter_sets(api::ResourceSlice& slice) {
    for (std::uint64_t i = below(3); i > 0; --i) {
      api::CounterSet& set = slice.shared_counters.emplace_back();
      set.name = "set-" + digit(6);
      set.counters = {{"cores", api::Quantity::from_units(static_cast<std::int64_t>(below(9)))}};
      if (chance(70)) set.counters.insert(set.counters.end(), {"memory", {}});
    }
  }

  void add_device(api::ResourceSlice& slice) {
    api::Device& device = slice.devices.emplace_back();
    device.name = "gpu-" + digit(chance(80) ? 40 : 5);
    if (chance(70)) return;
    api::CounterConsumption& takes = device.consumes_counters.emplace_back();
    takes.counter_set = "set-" + digit(6);
    takes.counters = {{chance(70) ? "cores" : "memory", api::Quantity::from_units(1)}};
    if (chance(5)) takes.compatibility_groups = {"group"};
  }

  /// Nothing but metadata differs.
  api::Delta touch_any_slice() {
    auto place = slices.begin();
    std::advance(place, static_cast<std::ptrdiff_t>(below(slices.size())));
    place->second.meta.resource_version.text = std::to_string(++versions_);
    return updated(place->second);
  }

  /// What nodes say of themselves is nothing to pools.
  api::Delta relabelled_node() {
    api::Node node = test::node("n" + digit(4)).label("rack", "r" + digit(3)).build();
    node.meta.resource_version.text = std::to_string(++versions_);
    return updated(node);
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

  int kept_count = 0;  ///< parts of pools built anew that were there before

  void check() {
    ASSERT_EQ(state_.recompute(), "");
    const auto view = state_.snapshot()->devices();
    const std::string text = text_of(*view);
    ASSERT_EQ(text, text_from_scratch());
    for (const auto& [old, old_text] : kept_) ASSERT_EQ(text_of(*old), old_text) << "it moved";
    check_ids(*view);
    if (!kept_.empty()) count_shared(*kept_.back().first, *view);
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
    for (const PoolIndex pool : view.by_name()) {
      for (const PartPtr& part : view.pool(pool).parts()) {
        text += part->slice->meta.key.name + " has " + std::to_string(part->devices.size()) +
                (part->has_counters ? " of counters " : " ") + part->problem + "\n";
      }
    }
    return text;
  }

  /// A name of a pool has one id, and no other name has it.
  static void check_ids(const DeviceView& view) {
    std::map<std::uint32_t, std::string> names;
    std::map<std::string, std::uint32_t> ids;
    const auto add = [&](const DevicePool& pool, const std::string& device, DeviceId id) {
      const std::string name = pool.name() + "/" + device;
      ASSERT_EQ(names.try_emplace(id.value, name).first->second, name);
      ASSERT_EQ(ids.try_emplace(name, id.value).first->second, id.value);
    };
    for (const PoolIndex index : view.by_name()) {
      const DevicePool& pool = view.pool(index);
      for (const UnseenDevice& one : pool.unseen()) add(pool, one.name, one.id);
      for (const PartPtr& part : pool.parts()) {
        for (const PoolDevice& device : part->devices) add(pool, device.device->name, device.id);
      }
    }
  }

  void count_shared(const DeviceView& before, const DeviceView& view) {
    std::vector<PoolIndex> changed;
    view.changed_pools(before, changed);
    for (const PoolIndex index : changed) {
      const DevicePool* old = before.find(index);
      if (old == nullptr) continue;
      for (const PartPtr& part : view.pool(index).parts()) {
        kept_count += std::ranges::count(old->parts(), part) > 0 ? 1 : 0;
      }
    }
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
    EXPECT_GT(history.kept_count, 20);
  }
}

}  // namespace
}  // namespace gang::cluster
