#include "sim/report.h"

#include <algorithm>
#include <variant>

#include "sim/world.h"

namespace gang::sim {

namespace {

constexpr std::string_view kIndent = "  ";

std::string pod_line(const api::Pod& pod) {
  std::string line = short_name(pod.meta.key);
  if (!pod.node_name.empty()) line += "  " + pod.node_name;
  if (pod.phase == api::PodPhase::kSucceeded) return line + "  succeeded";
  if (pod.phase == api::PodPhase::kFailed) return line + "  failed";
  if (pod.is_terminating()) return line + "  terminating";
  if (!pod.node_name.empty()) return line + "  bound";
  const api::Condition* scheduled = api::find_condition(pod.conditions, "PodScheduled");
  if (scheduled == nullptr) return line + "  pending";
  return line + "  pending, " + scheduled->reason + ": " + scheduled->message;
}

std::vector<std::string> show_pods(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const auto& [key, pod] : cluster.pods()) lines.push_back(pod_line(pod));
  return lines;
}

std::string condition_line(const api::Condition& condition) {
  std::string line = std::string(kIndent) + condition.type + "=" +
                     std::string(api::status_text(condition.status)) + " " + condition.reason;
  if (!condition.message.empty()) line += ": " + condition.message;
  return line;
}

std::vector<std::string> show_conditions(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const auto& [key, group] : cluster.pod_groups()) {
    lines.push_back(short_name(key) + (group.conditions.empty() ? "  no condition" : ""));
    std::vector<api::Condition> sorted = group.conditions;
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.type < b.type; });
    for (const api::Condition& condition : sorted) lines.push_back(condition_line(condition));
  }
  return lines;
}

std::vector<std::string> show_events(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const api::Event& event : cluster.events()) {
    lines.push_back(event.type + " " + event.reason + "  " + event.regarding.kind + " " +
                    short_name(event.regarding.key) + ": " + event.note);
  }
  return lines;
}

std::vector<std::string> show_writes(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const WriteRecord& write : cluster.writes()) {
    std::string line = write.verb + " " + write.object;
    if (!write.detail.empty()) line += "  " + write.detail;
    lines.push_back(line + "  " + std::to_string(write.status));
  }
  return lines;
}

std::vector<std::string> show_queue(Simulator& simulator) {
  std::vector<std::string> lines;
  for (const scheduler::QueueEntry& entry : simulator.scheduler().queue()) {
    std::string line = short_name(entry.gang.key) + "  " + entry.state;
    if (!entry.detail.empty()) line += ", " + entry.detail;
    lines.push_back(line);
  }
  return lines;
}

/// Requested of allocatable for every resource that something requests, per node.
std::vector<std::string> show_nodes(Simulator& simulator) {
  const auto snapshot = simulator.scheduler().state().snapshot();
  std::vector<std::string> lines;
  for (const cluster::NodeIndex node : snapshot->by_name()) {
    std::string line = snapshot->node(node)->name;
    for (std::size_t i = 0; i < snapshot->resources().size(); ++i) {
      const cluster::ResourceId resource{static_cast<std::uint16_t>(i)};
      const std::int64_t requested = snapshot->requested(node, resource);
      if (requested == 0) continue;
      const char* unit = resource == cluster::kCpu ? "m" : "";
      line += "  " + snapshot->resources()[i] + " " + std::to_string(requested) + unit + " of " +
              std::to_string(snapshot->allocatable(node, resource)) + unit;
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::string short_name(const api::ObjectKey& key) {
  return key.name_space == "default" || key.name_space.empty() ? key.name : key.text();
}

std::vector<std::string> trace_lines(const std::vector<TraceEntry>& entries, TraceTime time) {
  std::vector<std::string> lines;
  for (const TraceEntry& entry : entries) {
    const auto at_ms = std::chrono::floor<std::chrono::milliseconds>(entry.at);
    const std::string at = time == TraceTime::kShow ? format_duration(at_ms) + "  " : "";
    lines.push_back(at + entry.gang + "  " + entry.text);
    for (const std::string& detail : entry.details) {
      lines.push_back(std::string(kIndent) + detail);
    }
  }
  return lines;
}

Result<std::vector<std::string>> show(Simulator& simulator, std::string_view what) {
  if (what == "pods") return show_pods(simulator.cluster());
  if (what == "conditions") return show_conditions(simulator.cluster());
  if (what == "events") return show_events(simulator.cluster());
  if (what == "writes") return show_writes(simulator.cluster());
  const bool needs_daemon = what == "queue" || what == "nodes";
  if (needs_daemon && !simulator.daemon_is_up()) {
    return fail(Code::kUnavailable, "the daemon is down; write restart first");
  }
  if (what == "queue") return show_queue(simulator);
  if (what == "nodes") return show_nodes(simulator);
  return fail(Code::kInvalidArgument, "write: show pods|queue|conditions|events|writes|nodes");
}

Result<std::vector<std::string>> plan_lines(Simulator& simulator, const std::string& gang,
                                            const engine::Options& options) {
  if (!simulator.daemon_is_up()) {
    return fail(Code::kUnavailable, "the daemon is down; write restart first");
  }
  cluster::ClusterState& state = simulator.scheduler().state();
  const auto id = state.find_gang(parse_key(gang));
  const auto value = id ? state.gang(*id) : std::nullopt;
  if (!value) return fail(Code::kNotFound, "there is no gang " + gang);
  engine::Planner planner(options);
  const engine::Decision decision = planner.plan(*state.snapshot(), *value);
  std::vector<std::string> lines;
  if (const auto* plan = std::get_if<engine::Plan>(&decision)) {
    lines.push_back("placed");
    for (const engine::Assignment& assignment : plan->assignments) {
      lines.push_back(std::string(kIndent) + short_name(assignment.pod) + " " +
                      assignment.node_name);
    }
    return lines;
  }
  const auto& explanation = std::get<engine::Explanation>(decision);
  lines.push_back(engine::verdict_name(explanation.verdict));
  lines.push_back(std::string(kIndent) + explanation.message);
  for (const engine::Reason& reason : explanation.reasons) {
    lines.push_back(std::string(kIndent) + reason.filter + "  " +
                    std::to_string(reason.node_count) + " " + reason.text);
  }
  return lines;
}

}  // namespace gang::sim
