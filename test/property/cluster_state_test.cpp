// ClusterState against a naive model, over random histories with cut watches, relists, duplicates,
// late events and assumptions. GANG_SEED=<n> runs one history; a failure names its seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gang/cluster/cluster_state.h"
#include "support/builders.h"

namespace gang::cluster {
namespace {

using test::added;
using test::deleted;
using test::updated;

/// A pod of the naive model: numbers instead of request lists.
struct NaivePod {
  std::string uid;
  std::string group;
  std::string node;     ///< assigned by the server
  std::string assumed;  ///< assumed by us
  std::int64_t version = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t gpu_count = 0;
  std::int32_t port = 0;
  bool is_own = true;
  bool is_gated = false;
  bool is_terminating = false;
  bool is_finished = false;

  [[nodiscard]] std::string where() const { return node.empty() ? assumed : node; }
  [[nodiscard]] bool is_waiting() const { return is_own && node.empty() && !is_finished; }
};

/// A node of the naive model.
struct NaiveNode {
  std::string uid;
  std::int64_t version = 0;
  std::int64_t gpu_count = 0;
  bool unschedulable = false;
  std::string rack = "-";  ///< label; "-": it has none
};

/// What the server has. Every change gets a version of its own.
class Server {
 public:
  explicit Server(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t percent) { return below(100) < percent; }

  [[nodiscard]] api::Delta pod_delta(api::DeltaType type, const std::string& name) const {
    return delta(type, pod_object(name, pods.at(name)));
  }
  [[nodiscard]] static api::Pod pod_object(const std::string& name, const NaivePod& p) {
    test::PodBuilder builder = test::pod(name).uid(p.uid).version(p.version).on(p.node);
    builder.cpu(std::to_string(p.cpu_milli) + "m").gpu(p.gpu_count).group(p.group);
    if (!p.is_own) builder.scheduler("default-scheduler");
    if (p.is_gated) builder.gate("wait");
    if (p.is_terminating) builder.deleting();
    if (p.is_finished) builder.phase(api::PodPhase::kSucceeded);
    if (p.port != 0) builder.host_port(p.port);
    return builder;
  }
  [[nodiscard]] static api::Node node_object(const std::string& name, const NaiveNode& n) {
    test::NodeBuilder builder = test::node(name).uid(n.uid).version(n.version);
    if (n.rack != "-") builder.label("rack", n.rack);
    return builder.gpu(n.gpu_count).unschedulable(n.unschedulable);
  }
  /// The first of the groups has a topology constraint.
  [[nodiscard]] static api::PodGroup group_object(const std::string& name, const std::string& uid) {
    test::PodGroupBuilder builder = test::pod_group(name).uid(uid).min(2);
    if (name == "g0") builder.topology("rack");
    return builder;
  }
  static api::Delta delta(api::DeltaType type, api::Object object) {
    api::Delta result = added(std::move(object));
    result.type = type;
    return result;
  }

  /// One random change; the delta a watch would tell, or nothing when there was no change.
  std::vector<api::Delta> change() {
    const std::uint64_t dice = below(100);
    if (dice < 12) return change_node();
    if (dice < 18) return change_group();
    return change_pod("p" + std::to_string(below(24)));
  }

  std::map<std::string, NaivePod> pods;
  std::map<std::string, NaiveNode> nodes;
  std::map<std::string, std::string> groups;  ///< name to uid

 private:
  std::string any_node_name() { return "n" + std::to_string(below(6)); }
  std::string new_uid() { return "uid-" + std::to_string(++uids_); }

  std::vector<api::Delta> create_pod(const std::string& name) {
    NaivePod p;
    p.uid = new_uid();
    p.version = ++versions_;
    p.cpu_milli = static_cast<std::int64_t>(below(4)) * 250;
    p.gpu_count = static_cast<std::int64_t>(below(3));
    p.port = chance(20) ? 8000 : 0;
    p.group = chance(60) ? "g" + std::to_string(below(3)) : "";
    p.is_own = chance(80);
    p.is_gated = chance(10);
    if (chance(15)) p.node = any_node_name();
    pods[name] = p;
    return {pod_delta(api::DeltaType::kAdded, name)};
  }

  std::vector<api::Delta> change_pod(const std::string& name) {
    const auto place = pods.find(name);
    if (place == pods.end()) return create_pod(name);
    NaivePod& p = place->second;
    p.version = ++versions_;
    const std::uint64_t dice = below(100);
    if (dice < 20) {
      const api::Delta gone = pod_delta(api::DeltaType::kDeleted, name);
      pods.erase(place);
      return {gone};
    }
    if (dice < 26) return create_pod(name);  // the delete is never told
    if (dice < 50 && p.node.empty() && !p.is_gated) p.node = bind_target(p);
    if (dice >= 50 && dice < 58) p.is_terminating = true;
    if (dice >= 58 && dice < 64) p.is_finished = true;
    if (dice >= 64 && dice < 70) p.is_gated = false;
    if (dice >= 70 && dice < 80) p.cpu_milli += 250;
    return {pod_delta(api::DeltaType::kUpdated, name)};
  }

  std::string bind_target(const NaivePod& p) {
    return p.assumed.empty() || chance(20) ? any_node_name() : p.assumed;
  }

  std::vector<api::Delta> change_node() {
    const std::string name = any_node_name();
    const auto place = nodes.find(name);
    const bool leaves = place != nodes.end() && chance(30);
    if (leaves) {
      const api::Object gone = node_object(name, place->second);
      nodes.erase(place);
      return {deleted(gone)};
    }
    const bool is_new = place == nodes.end();
    NaiveNode& n = nodes[name];
    if (is_new || chance(10)) n.uid = new_uid();
    n.version = ++versions_;
    if (chance(50)) n.gpu_count = static_cast<std::int64_t>(below(9));
    if (chance(20)) n.unschedulable = !n.unschedulable;
    constexpr const char* kRacks[] = {"-", "", "a", "b"};
    if (chance(40)) n.rack = kRacks[below(4)];
    return {updated(node_object(name, n))};
  }

  std::vector<api::Delta> change_group() {
    const std::string name = "g" + std::to_string(below(3));
    const auto place = groups.find(name);
    if (place == groups.end()) {
      groups[name] = new_uid();
      return {added(group_object(name, groups[name]))};
    }
    const api::Object gone = group_object(name, place->second);
    groups.erase(place);
    return {deleted(gone)};
  }

  std::mt19937_64 random_;
  std::int64_t versions_ = 0;
  std::int64_t uids_ = 0;
};

/// One history: a server, the state that is told of it, and snapshots kept with their text.
class History {
 public:
  explicit History(std::uint64_t seed) : server_(seed) {}

  void step() {
    const std::uint64_t dice = server_.below(100);
    if (dice < 4) {
      cut_and_relist();
    } else if (dice < 20) {
      assume_or_forget();
    } else if (dice < 28) {
      tell_again();
    } else {
      for (const api::Delta& d : server_.change()) tell(d);
    }
  }

  /// Compares everything; the text of the difference goes to the test.
  void check() {
    ASSERT_EQ(state_.recompute(), "");
    const auto snapshot = state_.snapshot();
    ASSERT_EQ(text_of(*snapshot), expected_nodes());
    ASSERT_EQ(domains_text(*snapshot), expected_domains());
    ASSERT_EQ(gangs_text(), expected_gangs());
    check_change_log(*snapshot);
    for (const auto& [old, text] : kept_) ASSERT_EQ(text_of(*old), text) << "an old snapshot moved";
    kept_.emplace_back(snapshot, text_of(*snapshot));
    if (kept_.size() > 8) kept_.erase(kept_.begin());
  }

 private:
  void tell(const api::Delta& d) {
    told_.push_back(d);
    state_.apply(d);
    if (server_.chance(10)) state_.apply(d);
    settle_assumptions();
  }

  /// A late or repeated event: an old version of a known pod, or the end of a pod long replaced.
  void tell_again() {
    if (told_.empty()) return;
    const api::Delta& d = told_[server_.below(told_.size())];
    if (d.kind != api::Kind::kPod) return;
    const api::ObjectMeta& meta = api::meta_of(d.object);
    const auto now = server_.pods.find(meta.key.name);
    const bool is_current = now != server_.pods.end() && now->second.uid == meta.uid.text;
    if (is_current && now->second.is_finished) return;  // it left the stream for good
    if (is_current == (d.type != api::DeltaType::kDeleted)) state_.apply(d);
  }

  void cut_and_relist() {
    for (std::uint64_t missed = server_.below(12); missed > 0; --missed) server_.change();
    state_.apply(test::list_begin(api::Kind::kPod));
    if (server_.chance(20)) state_.apply(test::list_begin(api::Kind::kPod));
    for (const auto& [name, p] : server_.pods) {
      if (!p.is_finished) state_.apply(server_.pod_delta(api::DeltaType::kAdded, name));
    }
    state_.apply(test::list_end(api::Kind::kPod));
    state_.apply(test::list_begin(api::Kind::kNode));
    for (const auto& [name, n] : server_.nodes) state_.apply(added(Server::node_object(name, n)));
    state_.apply(test::list_end(api::Kind::kNode));
    state_.apply(test::list_begin(api::Kind::kPodGroup));
    for (const auto& [name, uid] : server_.groups) {
      state_.apply(added(Server::group_object(name, uid)));
    }
    state_.apply(test::list_end(api::Kind::kPodGroup));
    settle_assumptions();
  }

  void assume_or_forget() {
    const auto place = server_.pods.find("p" + std::to_string(server_.below(24)));
    const auto snapshot = state_.snapshot();
    if (place == server_.pods.end() || snapshot->node_count() == 0) return;
    NaivePod& p = place->second;
    if (!p.assumed.empty() || server_.chance(10)) {
      state_.forget(api::Uid{p.uid});
      p.assumed.clear();
    } else if (p.is_waiting()) {
      const NodeIndex node = snapshot->by_name()[server_.below(snapshot->node_count())];
      state_.assume({{api::Uid{p.uid}, node}});
      p.assumed = snapshot->node(node)->name;
    }
  }

  /// The watch has told: an assumption of a pod that is bound or finished is over.
  void settle_assumptions() {
    for (auto& [name, p] : server_.pods) {
      if (!p.is_waiting()) p.assumed.clear();
    }
  }

  static std::string text_of(const Snapshot& snapshot) {
    std::ostringstream out;
    for (const NodeIndex n : snapshot.by_name()) out << node_text(snapshot, n);
    return out.str();
  }

  static std::string node_text(const Snapshot& snapshot, NodeIndex n) {
    std::int64_t gpu_offered = 0;
    std::int64_t gpu_used = 0;
    for (std::uint16_t r = 0; r < snapshot.resources().size(); ++r) {
      if (snapshot.resources()[r] != test::kGpu) continue;
      gpu_offered = snapshot.allocatable(n, ResourceId{r});
      gpu_used = snapshot.requested(n, ResourceId{r});
    }
    std::ostringstream out;
    const NodeInfo& info = *snapshot.node(n);
    out << info.name << " " << info.uid.text << (info.unschedulable ? " closed" : "") << " gpu "
        << gpu_used << "/" << gpu_offered << " cpu " << snapshot.requested(n, kCpu) << " pods "
        << snapshot.requested(n, kPods) << " ports";
    for (const PortUse& use : snapshot.ports(n)) out << " " << use.port.port << "x" << use.holders;
    out << "\n";
    return out.str();
  }

  [[nodiscard]] std::string expected_nodes() const {
    std::ostringstream out;
    for (const auto& [name, n] : server_.nodes) {
      std::int64_t gpu = 0, cpu = 0, count = 0, holders = 0;
      for (const auto& [pod_name, p] : server_.pods) {
        if (p.where() != name || p.is_finished) continue;
        gpu += p.gpu_count;
        cpu += p.cpu_milli;
        ++count;
        holders += p.port != 0 ? 1 : 0;
      }
      out << name << " " << n.uid << (n.unschedulable ? " closed" : "") << " gpu " << gpu << "/"
          << n.gpu_count << " cpu " << cpu << " pods " << count << " ports";
      if (holders > 0) out << " 8000x" << holders;
      out << "\n";
    }
    return out.str();
  }

  /// "rack: nodes" by rack, or nothing where no group asks.
  static std::string domains_text(const Snapshot& snapshot) {
    const auto level = snapshot.level("rack");
    std::map<std::string, std::string> lines;
    for (std::size_t i = 0; level != nullptr && i < level->domains.size(); ++i) {
      const Domain& domain = *level->domains[i];
      for (const NodeIndex n : domain.nodes) {
        lines[domain.value] += snapshot.node(n)->name + (level->domain_of(n) == i ? " " : "?");
      }
    }
    return joined(lines);
  }

  [[nodiscard]] std::string expected_domains() const {
    std::map<std::string, std::string> lines;
    for (const auto& [name, n] : server_.nodes) {
      if (server_.groups.contains("g0") && n.rack != "-") lines[n.rack] += name + " ";
    }
    return joined(lines);
  }

  static std::string_view state_name(const NaivePod& p) {
    if (!p.node.empty()) return p.is_terminating ? "terminating" : "bound";
    if (!p.is_own) return "foreign";
    if (!p.assumed.empty()) return "assumed";
    if (p.is_terminating) return "deleting";
    return p.is_gated ? "gated" : "pending";
  }

  static std::string_view state_name(MemberState state) {
    constexpr std::string_view kNames[] = {"pending", "gated",       "deleting", "assumed",
                                           "bound",   "terminating", "foreign"};
    return kNames[static_cast<std::size_t>(state)];
  }

  /// Lines "group: member uid state node, ..." by group; lone pods under their own name.
  std::string gangs_text() {
    std::map<std::string, std::string> lines;
    for (const GangId id : state_.gangs()) {
      const Gang gang = state_.gang(id).value();
      std::string& line = lines[gang.key.name];
      line = gang.kind == GangKind::kLonePod ? "" : gang.uid.text;
      for (const Member& m : gang.members) {
        line += " " + m.key.name + " " + m.uid.text + " " + std::string(state_name(m.state)) + " " +
                m.node_name;
      }
    }
    return joined(lines);
  }

  [[nodiscard]] std::string expected_gangs() const {
    std::map<std::string, std::string> lines;
    for (const auto& [name, p] : server_.pods) {
      if (p.is_finished || (p.group.empty() && !p.is_waiting())) continue;
      const std::string key = p.group.empty() ? name : p.group;
      if (!lines.contains(key) && server_.groups.contains(key)) {
        lines[key] = server_.groups.at(key);
      }
      lines[key] += " " + name + " " + p.uid + " " + std::string(state_name(p)) + " " + p.where();
    }
    return joined(lines);
  }

  static std::string joined(const std::map<std::string, std::string>& lines) {
    std::string text;
    for (const auto& [name, line] : lines) text += name + ": " + line + "\n";
    return text;
  }

  /// Every node whose line differs from the last snapshot is in the change log since then.
  void check_change_log(const Snapshot& now) {
    if (kept_.empty()) return;
    const Snapshot& before = *kept_.back().first;
    std::vector<NodeIndex> changed;
    now.changed_since(before.generation(), changed);
    const std::set<NodeIndex> logged(changed.begin(), changed.end());
    for (const NodeIndex n : now.by_name()) {
      if (logged.contains(n)) continue;
      ASSERT_TRUE(n.value < before.slot_count() && before.node(n) != nullptr);
      ASSERT_EQ(node_text(now, n), node_text(before, n));
    }
  }

  Server server_;
  ClusterState state_{test::kOurScheduler};
  std::vector<api::Delta> told_;
  std::vector<std::pair<std::shared_ptr<const Snapshot>, std::string>> kept_;
};

std::vector<std::uint64_t> seeds() {
  if (const char* seed = std::getenv("GANG_SEED")) return {std::strtoull(seed, nullptr, 10)};
  std::vector<std::uint64_t> result;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) result.push_back(seed);
  return result;
}

TEST(ClusterStateProperty, EqualsANaiveModelAfterAnyHistory) {
  for (const std::uint64_t seed : seeds()) {
    SCOPED_TRACE("GANG_SEED=" + std::to_string(seed));
    History history(seed);
    for (int i = 0; i < 400; ++i) {
      history.step();
      history.check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gang::cluster
