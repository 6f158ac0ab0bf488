#include "sim/report.h"

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "gang/api/intent.h"
#include "sim/claim_rules.h"
#include "sim/resource_words.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

constexpr std::string_view kIndent = "  ";

std::string pod_line(const api::Pod& pod) {
  std::string line = short_name(pod.meta.key);
  if (!pod.node_name.empty()) line += "  " + pod.node_name;
  if (pod.phase == api::PodPhase::kSucceeded) return line + "  succeeded";
  if (pod.phase == api::PodPhase::kFailed) {
    return line + "  failed" + (pod.status_reason.empty() ? "" : ", " + pod.status_reason);
  }
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
  std::string line =
      std::string(kIndent) + condition.type + "=" + std::string(api::status_text(condition.status));
  if (!condition.reason.empty()) line += " " + condition.reason;
  if (!condition.message.empty()) line += ": " + condition.message;
  return line;
}

void append_conditions(std::vector<std::string>& lines, const std::string& name,
                       std::vector<api::Condition> conditions) {
  lines.push_back(name + (conditions.empty() ? "  no condition" : ""));
  std::ranges::sort(conditions, {}, &api::Condition::type);
  for (const api::Condition& condition : conditions) lines.push_back(condition_line(condition));
}

/// Those of every PodGroup, then those of every lone pod of ours.
std::vector<std::string> show_conditions(const Simulator& simulator) {
  std::vector<std::string> lines;
  for (const auto& [key, group] : simulator.cluster().all<api::PodGroup>()) {
    append_conditions(lines, short_name(key), group.conditions);
  }
  for (const auto& [key, pod] : simulator.cluster().pods()) {
    const bool is_ours = pod.scheduler_name == simulator.scheduler_name();
    if (!is_ours || !pod.pod_group_name.empty()) continue;
    append_conditions(lines, "pod " + short_name(key), pod.conditions);
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

/// Where the devices can be used: "on n1" where that is one node.
std::string place_text(const api::Allocation& allocation) {
  if (!allocation.node_selector) return "on every node";
  const std::vector<api::NodeSelectorTerm>& terms = allocation.node_selector->terms;
  const bool is_named = terms.size() == 1 && terms[0].expressions.empty() &&
                        terms[0].fields.size() == 1 && terms[0].fields[0].values.size() == 1;
  return is_named ? "on " + terms[0].fields[0].values[0] : "on selected nodes";
}

std::string claim_line(const api::ResourceClaim& claim) {
  std::string line = short_name(claim.meta.key) + "  ";
  if (!claim.allocation) line += "no devices";
  if (claim.allocation) {
    line += devices_text(*claim.allocation) + "  " + place_text(*claim.allocation);
  }
  if (!claim.reserved_for.empty()) line += "  for " + consumers_text(claim.reserved_for);
  if (!claim.finalizers.empty()) line += "  finalizer";
  if (claim.meta.deletion_time) line += "  deleting";
  return line;
}

std::vector<std::string> show_claims(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const auto& [key, claim] : cluster.all<api::ResourceClaim>()) {
    lines.push_back(claim_line(claim));
  }
  return lines;
}

std::string intent_line(const api::ConfigMap& map) {
  const Result<api::Intent> intent = api::intent_from(map);
  if (!intent) return map.meta.key.text() + "  " + intent.error().message;
  constexpr std::array kPhases = {"claiming", "committed", "aborting"};
  std::string line = short_name(intent->gang) + "  " +
                     kPhases[static_cast<std::size_t>(intent->phase)] + "  minimum " +
                     std::to_string(intent->minimum) + "  ";
  for (const api::IntentMember& member : intent->members) {
    line += " " + member.pod.name + "@" + member.node_name;
  }
  line += "  claims";
  for (const api::IntentClaim& claim : intent->claims) line += " " + claim.claim.name;
  return line;
}

std::vector<std::string> show_intents(const SimCluster& cluster) {
  std::vector<std::string> lines;
  for (const auto& [key, map] : cluster.config_maps()) lines.push_back(intent_line(map));
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
  simulator.hear();
  const auto snapshot = simulator.scheduler().state().snapshot();
  std::vector<std::string> lines;
  for (const cluster::NodeIndex node : snapshot->by_name()) {
    std::string line = snapshot->node(node)->name;
    for (std::size_t i = 0; i < snapshot->resources().size(); ++i) {
      const cluster::ResourceId resource{static_cast<std::uint16_t>(i)};
      const std::int64_t requested = snapshot->requested(node, resource);
      if (requested == 0) continue;
      const std::string& name = snapshot->resources()[i];
      line += "  " + name + " " + amount_text(name, requested) + " of " +
              amount_text(name, snapshot->allocatable(node, resource));
    }
    lines.push_back(line);
  }
  return lines;
}

/// Why there is no gang to plan under this name.
tl::unexpected<Error> no_gang(const Simulator& simulator, const api::ObjectKey& key) {
  const std::string name = short_name(key);
  const api::Pod* pod = simulator.cluster().pod(key);
  if (pod == nullptr) {
    std::vector<std::string> known;
    for (const auto& [group, unused] : simulator.cluster().all<api::PodGroup>()) {
      known.push_back(short_name(group));
    }
    const std::string known_ones =
        known.empty() ? "" : "write one of " + short_list(known) + ", or ";
    return fail(Code::kNotFound, "there is no group and no lone pod " + name + "; " + known_ones +
                                     "make it with: gang " + name);
  }
  const auto refuse = [&](const std::string& problem) {
    return fail(Code::kInvalidArgument, "pod " + name + " " + problem);
  };
  if (!pod->pod_group_name.empty()) {
    const api::ObjectKey group{key.name_space, pod->pod_group_name};
    return refuse("is a member; write: plan " + short_name(group));
  }
  if (pod->is_terminal()) return refuse("has ended; name one that waits");
  if (!pod->node_name.empty()) {
    return refuse("is bound to " + pod->node_name + " already; name one that waits");
  }
  if (pod->scheduler_name != simulator.scheduler_name()) {
    return refuse("is of scheduler " + pod->scheduler_name + "; name one of " +
                  simulator.scheduler_name());
  }
  return refuse("is not known to the daemon; restore watch Pod first");
}

/// A PodGroup with its pods, or a lone pod that waits.
Result<cluster::Gang> named_gang(Simulator& simulator, const std::string& name) {
  simulator.hear();
  GANG_TRY(const api::ObjectKey key, parse_key("group", name));
  const cluster::ClusterState& state = simulator.scheduler().state();
  std::optional<cluster::GangId> id = state.find_gang(key);
  const api::Pod* pod = simulator.cluster().pod(key);
  if (!id && pod != nullptr && pod->pod_group_name.empty()) id = state.find_gang(pod->meta.uid);
  std::optional<cluster::Gang> gang = id ? state.gang(*id) : std::nullopt;
  if (!gang) return no_gang(simulator, key);
  return *std::move(gang);
}

std::string member_counts(const cluster::Gang& gang) {
  std::string text =
      std::to_string(gang.counts.bound) + " bound, minimum " + std::to_string(gang.minimum);
  if (gang.counts.gated > 0) text += ", " + std::to_string(gang.counts.gated) + " gated";
  return text;
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
  if (what == "conditions") return show_conditions(simulator);
  if (what == "events") return show_events(simulator.cluster());
  if (what == "writes") return show_writes(simulator.cluster());
  if (what == "claims") return show_claims(simulator.cluster());
  if (what == "intents") return show_intents(simulator.cluster());
  const bool needs_daemon = what == "queue" || what == "nodes";
  if (needs_daemon && !simulator.daemon_is_up()) {
    return fail(Code::kUnavailable, "the daemon is down; write restart first");
  }
  if (what == "queue") return show_queue(simulator);
  if (what == "nodes") return show_nodes(simulator);
  return fail(Code::kInvalidArgument,
              "\"" + std::string(what) +
                  "\" is nothing to show; write: show "
                  "pods|queue|conditions|events|writes|nodes|claims|intents");
}

Result<std::vector<std::string>> plan_lines(Simulator& simulator, const std::string& gang,
                                            const engine::Options& options) {
  if (!simulator.daemon_is_up()) {
    return fail(Code::kUnavailable, "the daemon is down; write restart first");
  }
  GANG_TRY(const cluster::Gang value, named_gang(simulator, gang));
  std::vector<std::string> lines;
  if (value.counts.pending == 0) {
    return std::vector<std::string>{"nothing to place",
                                    std::string(kIndent) + member_counts(value)};
  }
  engine::Planner planner(options);
  const engine::Decision decision = planner.plan(*simulator.scheduler().state().snapshot(), value);
  if (const auto* plan = std::get_if<engine::Plan>(&decision)) {
    lines.emplace_back("placed");
    for (const engine::Assignment& assignment : plan->assignments) {
      lines.push_back(std::string(kIndent) + short_name(assignment.pod) + " " +
                      assignment.node_name);
    }
    return lines;
  }
  const auto& explanation = std::get<engine::Explanation>(decision);
  lines.emplace_back(engine::verdict_name(explanation.verdict));
  lines.push_back(std::string(kIndent) + explanation.message);
  for (const engine::Reason& reason : explanation.reasons) {
    lines.push_back(std::string(kIndent) + reason.filter + "  " +
                    std::to_string(reason.node_count) + " " + reason.text);
  }
  for (const std::string& domain : explanation.domains) {
    lines.push_back(std::string(kIndent) + domain);
  }
  return lines;
}

}  // namespace gang::sim
