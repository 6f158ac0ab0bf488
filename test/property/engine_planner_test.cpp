// The planner against a brute-force oracle on tiny clusters, and against itself without its cache.
// GANG_SEED=<n> runs one history; a failure names its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "engine/cluster_fixture.h"

namespace gang::engine {
namespace {

using test::node;
using test::NodeBuilder;
using test::pod;
using test::PodBuilder;

/// Random numbers of one history.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool chance(int percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

std::vector<std::uint64_t> seeds(std::uint64_t count) {
  if (const char* one = std::getenv("GANG_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t i = 0; i < count; ++i) all[i] = i + 1;
  return all;
}

NodeBuilder random_node(Dice& dice, int index) {
  NodeBuilder built = node("n" + std::to_string(index));
  built.cpu(std::to_string(1 + dice.below(4))).memory(std::to_string(1 + dice.below(4)) + "Gi");
  built.pods(1 + dice.below(4));
  if (dice.chance(50)) built.gpu(dice.below(4));
  if (dice.chance(15)) built.taint("dedicated");
  if (dice.chance(15)) built.taint("busy", "", api::TaintEffect::kPreferNoSchedule);
  if (dice.chance(10)) built.unschedulable();
  if (dice.chance(85)) built.label("pool", dice.chance(50) ? "a" : "b");
  return built;
}

/// One of a few shapes, so that members fall into few classes.
void shape(PodBuilder& built, std::uint64_t kind) {
  Dice dice(kind);
  built.cpu(std::to_string(1 + dice.below(3)));
  if (dice.chance(50)) built.memory(std::to_string(1 + dice.below(3)) + "Gi");
  if (dice.chance(40)) built.gpu(1 + dice.below(2));
  if (dice.chance(30)) built.host_port(80 + dice.below(2));
  if (dice.chance(30)) built.selects("pool", "a");
  if (dice.chance(40)) built.tolerates("dedicated");
  if (dice.chance(30)) {
    built.prefers(10, {.expressions = {{.key = "pool", .op = "In", .values = {"b"}}}});
  }
}

/// A pod of that shape, with a label that anti-affinity terms read.
api::Pod labelled(const PodBuilder& built, std::uint64_t kind) {
  api::Pod result = built;
  result.meta.labels = {{"team", kind % 2 == 0 ? "a" : "b"}};
  return result;
}

/// Gives some of the running pods a required anti-affinity term.
void repel(Dice& dice, api::Pod& running) {
  if (!dice.chance(40)) return;
  api::PodAntiAffinityTerm term{.topology_key = dice.chance(50) ? "pool" : "kubernetes.io/hostname",
                                .namespaces = {"default"}};
  term.selector.emplace().requirements = {
      {.key = "team", .op = "In", .values = {dice.chance(50) ? "a" : "b"}}};
  running.anti_affinity.push_back(term);
}

/// What one node has and one pod wants, judged from the objects alone.
class Oracle {
 public:
  Oracle(std::vector<api::Node> nodes, std::vector<api::Pod> running)
      : nodes_(std::move(nodes)), on_(nodes_.size()) {
    for (api::Pod& one : running) {
      for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (nodes_[i].meta.key.name == one.node_name) on_[i].push_back(one);
      }
    }
  }

  [[nodiscard]] bool fits(const api::Pod& wanted, std::size_t at) const {
    return nodes_[at].meta.key.name != avoided_ && is_in_domain(at) &&
           facts_allow(wanted, nodes_[at]) && ports_allow(wanted, at) && room_allows(wanted, at) &&
           others_allow(wanted, at);
  }

  /// Only nodes with that label "pool" may be used; null: any node.
  void keep_to(const std::string* pool) { pool_ = pool; }

  /// No plan may use that node.
  void avoid(std::string node_name) { avoided_ = std::move(node_name); }

  void put(const api::Pod& wanted, std::size_t at) { on_[at].push_back(wanted); }
  void take_back(std::size_t at) { on_[at].pop_back(); }

  /// The most of the pods that can be placed together.
  int most(const std::vector<api::Pod>& pods, std::size_t from = 0) {
    if (from == pods.size()) return 0;
    int best = most(pods, from + 1);
    const int all = static_cast<int>(pods.size() - from);
    for (std::size_t at = 0; at < nodes_.size() && best < all; ++at) {
      if (!fits(pods[from], at)) continue;
      put(pods[from], at);
      best = std::max(best, 1 + most(pods, from + 1));
      take_back(at);
    }
    return best;
  }

  [[nodiscard]] std::size_t index_of(const std::string& name) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].meta.key.name == name) return i;
    }
    ADD_FAILURE() << "no node " << name;
    return 0;
  }
  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }

 private:
  [[nodiscard]] bool is_in_domain(std::size_t at) const {
    const std::string* pool = api::find(nodes_[at].meta.labels, "pool");
    return pool_ == nullptr || (pool != nullptr && *pool == *pool_);
  }

  static bool facts_allow(const api::Pod& wanted, const api::Node& at) {
    if (at.unschedulable) return false;
    for (const api::Taint& taint : at.taints) {
      if (taint.effect != api::TaintEffect::kNoSchedule) continue;
      if (!api::tolerates(wanted.tolerations, taint, api::TolerationComparison::kOff)) return false;
    }
    return std::ranges::all_of(wanted.node_selector, [&at](const auto& pair) {
      const std::string* value = api::find(at.meta.labels, pair.first);
      return value != nullptr && *value == pair.second;
    });
  }

  [[nodiscard]] bool ports_allow(const api::Pod& wanted, std::size_t at) const {
    std::vector<api::HostPort> taken;
    for (const api::Pod& other : on_[at]) {
      taken.insert(taken.end(), other.host_ports.begin(), other.host_ports.end());
    }
    return std::ranges::none_of(taken, [&wanted](const api::HostPort& a) {
      return std::ranges::any_of(wanted.host_ports,
                                 [&a](const api::HostPort& b) { return api::conflicts(a, b); });
    });
  }

  [[nodiscard]] bool room_allows(const api::Pod& wanted, std::size_t at) const {
    const auto amount = [](const api::ResourceList& list, const std::string& name) {
      const api::Quantity* quantity = list.find(name);
      return quantity == nullptr ? 0 : api::whole(name, *quantity);
    };
    const api::ResourceList& allocatable = nodes_[at].allocatable;
    if (static_cast<std::int64_t>(on_[at].size()) + 1 > amount(allocatable, "pods")) return false;
    const api::ResourceList wants = effective_requests(wanted, api::RequestBasis::kSpec);
    for (const auto& [name, quantity] : wants.entries()) {
      std::int64_t used = 0;
      for (const api::Pod& other : on_[at]) {
        used += amount(effective_requests(other, api::RequestBasis::kSpec), name);
      }
      if (api::whole(name, quantity) > amount(allocatable, name) - used) return false;
    }
    return true;
  }

  /// Whether a term of a pod on node `there` closes node `here`.
  [[nodiscard]] bool closes(const api::Pod& other, std::size_t there, const api::Pod& wanted,
                            std::size_t here) const {
    return std::ranges::any_of(other.anti_affinity, [&](const api::PodAntiAffinityTerm& term) {
      const std::string* of_other = api::find(nodes_[there].meta.labels, term.topology_key);
      const std::string* own = api::find(nodes_[here].meta.labels, term.topology_key);
      const bool is_near = of_other != nullptr && own != nullptr && *of_other == *own;
      return is_near && api::matches(*term.selector, wanted.meta.labels);
    });
  }

  [[nodiscard]] bool others_allow(const api::Pod& wanted, std::size_t at) const {
    for (std::size_t there = 0; there < nodes_.size(); ++there) {
      for (const api::Pod& other : on_[there]) {
        if (closes(other, there, wanted, at)) return false;
      }
    }
    return true;
  }

  std::vector<api::Node> nodes_;
  std::vector<std::vector<api::Pod>> on_;
  std::string avoided_;
  const std::string* pool_ = nullptr;
};

/// A random tiny cluster with one gang, as objects.
struct World {
  std::vector<api::Node> nodes;
  std::vector<api::Pod> running;
  std::vector<api::Pod> pending;
  int minimum = 1;
  std::string avoided;          ///< a node, or empty
  bool is_constrained = false;  ///< to nodes with one value of the label "pool"

  /// Where all members may be, as Oracle::keep_to() takes it.
  [[nodiscard]] std::vector<const std::string*> domains() const {
    if (!is_constrained) return {nullptr};
    std::map<std::string, const std::string*> pools;
    for (const api::Node& one : nodes) {
      const std::string* pool = api::find(one.meta.labels, "pool");
      if (pool != nullptr) pools[*pool] = pool;
    }
    std::vector<const std::string*> all;
    for (const auto& [name, pool] : pools) all.push_back(pool);
    return all;
  }
  /// The most of the pending members that one domain takes.
  [[nodiscard]] int most(Oracle oracle) const {
    int most = 0;
    for (const std::string* domain : domains()) {
      oracle.keep_to(domain);
      most = std::max(most, oracle.most(pending));
    }
    return most;
  }
  [[nodiscard]] Oracle oracle() const {
    Oracle oracle(nodes, running);
    oracle.avoid(avoided);
    return oracle;
  }
};

World random_world(Dice& dice) {
  World world;
  const int node_count = 1 + dice.below(5);
  for (int i = 0; i < node_count; ++i) world.nodes.push_back(random_node(dice, i));
  for (int i = dice.below(3); i > 0; --i) {
    PodBuilder built = pod("old" + std::to_string(i));
    built.on("n" + std::to_string(dice.below(node_count))).cpu("1");
    if (dice.chance(30)) built.host_port(80);
    world.running.push_back(built);
    repel(dice, world.running.back());
  }
  const std::uint64_t kinds[] = {static_cast<std::uint64_t>(dice.below(1000)),
                                 static_cast<std::uint64_t>(dice.below(1000)),
                                 static_cast<std::uint64_t>(dice.below(1000))};
  const int count = 1 + dice.below(6);
  for (int i = 0; i < count; ++i) {
    PodBuilder built = pod("g-" + std::to_string(i));
    built.group("g").created(i);
    const std::uint64_t kind = kinds[dice.below(3)];
    shape(built, kind);
    world.pending.push_back(labelled(built, kind));
  }
  if (dice.chance(20)) world.avoided = "n" + std::to_string(dice.below(node_count));
  world.minimum = 1 + dice.below(count);
  world.is_constrained = dice.chance(40);
  return world;
}

TestCluster& fill(TestCluster& cluster, const World& world) {
  for (const api::Node& one : world.nodes) cluster.add(api::Object(one));
  cluster.add(world.running);
  test::PodGroupBuilder group = test::pod_group("g").min(world.minimum);
  if (world.is_constrained) group.topology("pool");
  cluster.add(api::Object(group.build())).add(world.pending);
  return cluster;
}

const api::Pod& pod_named(const World& world, const std::string& name) {
  return *std::ranges::find(world.pending, name,
                            [](const api::Pod& one) { return one.meta.key.name; });
}

/// Legal, whole, every pod once, and nothing left over that would still fit.
void check_plan(const Plan& plan, const World& world) {
  Oracle oracle = world.oracle();
  const std::size_t first = oracle.index_of(plan.assignments.front().node_name);
  if (world.is_constrained) oracle.keep_to(api::find(world.nodes[first].meta.labels, "pool"));
  std::set<std::string> placed;
  for (const Assignment& assignment : plan.assignments) {
    EXPECT_TRUE(placed.insert(assignment.pod.name).second) << assignment.pod.name;
    const api::Pod& wanted = pod_named(world, assignment.pod.name);
    const std::size_t at = oracle.index_of(assignment.node_name);
    EXPECT_TRUE(oracle.fits(wanted, at)) << assignment.pod.name << " " << assignment.node_name;
    oracle.put(wanted, at);
  }
  EXPECT_GE(static_cast<int>(placed.size()), world.minimum);
  for (const api::Pod& wanted : world.pending) {
    if (placed.count(wanted.meta.key.name) > 0) continue;
    for (std::size_t at = 0; at < oracle.node_count(); ++at) {
      EXPECT_FALSE(oracle.fits(wanted, at)) << wanted.meta.key.name << " is left over";
    }
  }
}

void check_refusal(const Explanation& explanation, const World& world) {
  const Oracle oracle = world.oracle();
  const int most = world.most(oracle);
  EXPECT_LT(most, world.minimum);
  EXPECT_LE(explanation.scheduled, most);
  const std::set<Verdict> proofs = {Verdict::kImpossibleNow, Verdict::kImpossibleOnFleet};
  EXPECT_EQ(proofs.count(explanation.verdict), 1U) << verdict_name(explanation.verdict);
  if (explanation.verdict == Verdict::kImpossibleOnFleet) {
    EXPECT_LT(world.most(Oracle(world.nodes, {})), world.minimum);
  }
  const std::vector<const std::string*> domains = world.domains();
  if (domains.empty()) {
    EXPECT_TRUE(explanation.message.starts_with("no feasible placements found"));
    return;
  }
  EXPECT_FALSE(explanation.reasons.empty());
  for (const MemberText& told : explanation.members) {
    const api::Pod& wanted = pod_named(world, told.pod.name);
    bool fits_alone = false;
    for (std::size_t at = 0; at < oracle.node_count(); ++at) {
      const bool has_domain = api::find(world.nodes[at].meta.labels, "pool") != nullptr;
      fits_alone |= (has_domain || !world.is_constrained) && oracle.fits(wanted, at);
    }
    EXPECT_EQ(told.message.starts_with("pod group is unschedulable, "), fits_alone) << told.message;
  }
}

TEST(EnginePlannerProperty, AgreesWithBruteForceOnTinyClusters) {
  int plans = 0;
  const std::vector<std::uint64_t> all = seeds(4000);
  for (const std::uint64_t seed : all) {
    SCOPED_TRACE("GANG_SEED=" + std::to_string(seed));
    Dice dice(seed);
    const World world = random_world(dice);
    TestCluster cluster;
    fill(cluster, world);
    cluster::Gang gang = cluster.gang("g");
    if (!world.avoided.empty()) gang.avoided_nodes = {world.avoided};
    const auto snapshot = cluster.state.snapshot();
    const bool could_hold = cluster.planner.outlook(*snapshot, demand_of(gang)).could_hold;
    const Decision decision = cluster.planner.plan(*snapshot, gang);
    if (const Plan* plan = std::get_if<Plan>(&decision)) {
      check_plan(*plan, world);
      EXPECT_TRUE(could_hold);
      ++plans;
    } else {
      check_refusal(std::get<Explanation>(decision), world);
    }
    if (testing::Test::HasFailure()) return;
  }
  // Both answers must be common, or the test shows little.
  if (all.size() > 1) {
    EXPECT_GT(plans, 800);
    EXPECT_LT(plans, 3200);
  }
}

/// Everything a decision says, for comparing.
std::string text_of(const Decision& decision) {
  std::string text;
  if (const Plan* plan = std::get_if<Plan>(&decision)) {
    text = "plan " + plan_hash(*plan) + " need " + std::to_string(plan->need);
    for (const Assignment& one : plan->assignments) {
      text += " " + one.pod.name + "=" + one.node_name;
    }
    return text;
  }
  const Explanation& explanation = std::get<Explanation>(decision);
  text = std::string(verdict_name(explanation.verdict)) + " " + explanation.message;
  for (const Reason& reason : explanation.reasons) {
    text += "\n" + reason.filter + " " + reason.text + " " + std::to_string(reason.node_count);
  }
  for (const std::string& domain : explanation.domains) text += "\n" + domain;
  for (const MemberText& told : explanation.members) text += "\n" + told.message;
  return text;
}

/// A cluster under random deltas, with a few gangs that come and go.
class History {
 public:
  explicit History(std::uint64_t seed) : dice_(seed) {
    for (int i = 0; i < 30; ++i) cluster_.add(random_node(dice_, i));
  }

  void change() {
    const int index = dice_.below(40);
    const std::string name = "n" + std::to_string(index);
    switch (dice_.below(8)) {
      case 0:
        cluster_.update(random_node(dice_, index));
        return;
      case 1:
        cluster_.remove(node(name).build());
        return;
      case 2:
      case 3:
        return run_pod(name);
      case 4:
        return end_pod();
      default:
        return make_gang();
    }
  }

  void compare() {
    if (gangs_.empty()) return;
    const std::string& name = gangs_[static_cast<std::size_t>(dice_.below(gang_count()))];
    const Decision warm = cluster_.decide(name);
    EXPECT_EQ(text_of(cluster_.decide(name)), text_of(warm)) << "planned twice";
    Planner cold{Options{}};
    const cluster::Gang gang = cluster_.gang(name);
    EXPECT_EQ(text_of(cold.plan(*cluster_.state.snapshot(), gang)), text_of(warm)) << "cold";
    const Plan* plan = std::get_if<Plan>(&warm);
    if (plan == nullptr || plan->assignments.empty()) return;
    EXPECT_TRUE(cluster_.could_hold(name));
    if (dice_.chance(50)) cluster_.assume(*plan);
  }

 private:
  [[nodiscard]] int gang_count() const { return static_cast<int>(gangs_.size()); }

  void run_pod(const std::string& on) {
    PodBuilder built = pod("run" + std::to_string(++made_));
    built.on(on);
    shape(built, static_cast<std::uint64_t>(dice_.below(20)));
    running_.push_back(built);
    repel(dice_, running_.back());
    cluster_.add(api::Object(running_.back()));
  }

  void end_pod() {
    if (running_.empty()) return;
    std::swap(running_.back(),
              running_[static_cast<std::size_t>(dice_.below(static_cast<int>(running_.size())))]);
    cluster_.remove(running_.back());
    running_.pop_back();
  }

  void make_gang() {
    const std::string name = "g" + std::to_string(++made_);
    const int count = 1 + dice_.below(6);
    test::PodGroupBuilder group = test::pod_group(name).min(1 + dice_.below(count));
    if (dice_.chance(40)) group.topology("pool");
    cluster_.add(api::Object(group.build()));
    const auto first = static_cast<std::uint64_t>(dice_.below(20));
    for (int i = 0; i < count; ++i) {
      PodBuilder built = pod(name + "-" + std::to_string(i));
      built.group(name).created(i);
      const auto kind = dice_.chance(70) ? first : static_cast<std::uint64_t>(dice_.below(20));
      shape(built, kind);
      cluster_.add(api::Object(labelled(built, kind)));
    }
    gangs_.push_back(name);
  }

  Dice dice_;
  TestCluster cluster_;
  std::vector<std::string> gangs_;
  std::vector<api::Pod> running_;
  int made_ = 0;
};

TEST(EnginePlannerProperty, AColdPlannerGivesTheSameBytesAfterAnyHistory) {
  for (const std::uint64_t seed : seeds(60)) {
    SCOPED_TRACE("GANG_SEED=" + std::to_string(seed));
    History history(seed);
    for (int step = 0; step < 120; ++step) {
      history.change();
      if (step % 3 == 0) history.compare();
      ASSERT_FALSE(testing::Test::HasFailure()) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace gang::engine
