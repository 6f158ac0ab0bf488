#include "gang/sim/scenario.h"

#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <sstream>

#include "sim/manifest.h"
#include "sim/report.h"
#include "sim/scenario_options.h"
#include "sim/scenario_parser.h"
#include "sim/world.h"

namespace gang::sim {

namespace {

/// One run of a scenario: the simulator, made at the first command that needs it.
///
/// Lives for one run_scenario(). Verbs are looked up by name in one table.
class Run {
 public:
  explicit Run(std::string folder) : folder_(std::move(folder)) {}

  Result<Lines> perform(const Command& command) {
    if (command.verb() == "config") return configure(command);
    using Verb = std::function<Result<Lines>(Run&, const Command&)>;
    static const std::map<std::string, Verb> kVerbs = verbs();
    const auto verb = kVerbs.find(command.verb());
    if (verb == kVerbs.end()) {
      std::string known;
      for (const auto& [name, unused] : kVerbs) known += (known.empty() ? "" : ", ") + name;
      return fail(Code::kInvalidArgument,
                  "\"" + command.verb() + "\" is no verb; write one of " + known + ", config");
    }
    return verb->second(*this, command);
  }

 private:
  using WorldVerb = Result<Lines> (*)(SimCluster&, const Command&);

  static std::function<Result<Lines>(Run&, const Command&)> world(WorldVerb verb) {
    return [verb](Run& run, const Command& command) {
      return verb(run.simulator().cluster(), command);
    };
  }

  static std::map<std::string, std::function<Result<Lines>(Run&, const Command&)>> verbs() {
    return {
        {"nodes", world(make_nodes)},
        {"node", world(change_node)},
        {"group", world(make_group)},
        {"gang", world(make_gangs)},
        {"gangs", world(make_gangs)},
        {"pods", world(make_pods)},
        {"running", world(make_running_pods)},
        {"update", world(update_group)},
        {"delete", world(delete_objects)},
        {"ungate", world(ungate_pods)},
        {"drop", world(change_watch)},
        {"restore", world(change_watch)},
        {"serve", world(change_watch)},
        {"unserve", world(change_watch)},
        {"finish",
         [](Run& run, const Command& command) {
           return end_pods(run.simulator().cluster(), command, api::PodPhase::kSucceeded);
         }},
        {"fail",
         [](Run& run, const Command& command) {
           const bool is_fault = command.has_word("bind");
           SimCluster& cluster = run.simulator().cluster();
           return is_fault ? arm_bind_fault(cluster, command)
                           : end_pods(cluster, command, api::PodPhase::kFailed);
         }},
        {"load", [](Run& run, const Command& command) { return run.load(command); }},
        {"cycle", [](Run& run, const Command& command) { return run.cycle(command); }},
        {"advance", [](Run& run, const Command& command) { return run.advance(command); }},
        {"plan", [](Run& run, const Command& command) { return run.plan(command); }},
        {"show", [](Run& run, const Command& command) { return run.show_what(command); }},
        {"crash", [](Run& run, const Command& command) { return run.crash(command); }},
        {"restart", [](Run& run, const Command&) { return run.restart(); }},
    };
  }

  Simulator& simulator() {
    if (!simulator_) simulator_ = std::make_unique<Simulator>(options_);
    return *simulator_;
  }

  Result<Lines> configure(const Command& command) {
    if (simulator_) {
      return fail(Code::kInvalidArgument, "config comes before every other command; move it up");
    }
    for (const auto& [key, value] : command.options()) {
      GANG_TRY_VOID(set_option(options_, key, value));
    }
    return Lines{"ok"};
  }

  Result<Lines> load(const Command& command) {
    if (command.words().size() != 1) return fail(Code::kInvalidArgument, "write: load FILE.yaml");
    const std::string& name = command.words()[0];
    const std::string path = name.starts_with("/") ? name : folder_ + "/" + name;
    std::ifstream file(path);
    if (!file) return fail(Code::kNotFound, "the file " + path + " cannot be read");
    std::stringstream text;
    text << file.rdbuf();
    Result<Manifest> manifest = parse_manifest(text.str());
    if (!manifest) return in_context(command.words()[0], std::move(manifest).error());
    for (ManifestObject& loaded : manifest->objects) put(std::move(loaded.object));
    Lines lines{std::to_string(manifest->objects.size()) + " objects"};
    for (const std::string& skipped : manifest->skipped) lines.push_back("skipped " + skipped);
    return lines;
  }

  void put(api::Object object) {
    SimCluster& cluster = simulator().cluster();
    if (auto* pod = std::get_if<api::Pod>(&object)) {
      if (pod->meta.key.name_space.empty()) pod->meta.key.name_space = "default";
      cluster.put_pod(std::move(*pod));
    } else if (auto* node = std::get_if<api::Node>(&object)) {
      cluster.put_node(std::move(*node));
    } else if (auto* group = std::get_if<api::PodGroup>(&object)) {
      if (group->meta.key.name_space.empty()) group->meta.key.name_space = "default";
      cluster.put_pod_group(std::move(*group));
    } else if (auto* composite = std::get_if<api::CompositePodGroup>(&object)) {
      cluster.put_composite_pod_group(std::move(*composite));
    } else if (auto* priority_class = std::get_if<api::PriorityClass>(&object)) {
      cluster.put_priority_class(std::move(*priority_class));
    }
  }

  Result<Lines> cycle(const Command& command) {
    if (!command.words().empty()) return fail(Code::kInvalidArgument, "cycle takes no words");
    simulator().settle();
    return nonempty(trace_lines(simulator().take_trace(), TraceTime::kHide));
  }

  Result<Lines> advance(const Command& command) {
    if (command.words().size() != 1) return fail(Code::kInvalidArgument, "write: advance 30s");
    GANG_TRY(const Duration step, parse_duration(command.words()[0]));
    simulator().advance(step);
    return nonempty(trace_lines(simulator().take_trace(), TraceTime::kShow));
  }

  static Lines nonempty(Lines lines) {
    if (lines.empty()) lines.emplace_back("nothing to do");
    return lines;
  }

  Result<Lines> plan(const Command& command) {
    if (command.words().size() != 1) return fail(Code::kInvalidArgument, "write: plan GANG");
    return plan_lines(simulator(), command.words()[0], options_.scheduler.engine);
  }

  Result<Lines> show_what(const Command& command) {
    const std::string what = command.words().empty() ? "" : command.words()[0];
    GANG_TRY(Lines lines, show(simulator(), what));
    if (lines.empty()) lines.emplace_back("none");
    return lines;
  }

  Result<Lines> crash(const Command& command) {
    if (!simulator().daemon_is_up()) return fail(Code::kUnavailable, "the daemon is down already");
    GANG_TRY(const int after, command.number("after", 0));
    if (after == 0) {
      simulator().crash();
      return trace_lines(simulator().take_trace(), TraceTime::kHide);
    }
    simulator().crash_after_binds(after);
    return Lines{"armed"};
  }

  Result<Lines> restart() {
    if (simulator().daemon_is_up()) return fail(Code::kUnavailable, "the daemon is up already");
    simulator().restart();
    return trace_lines(simulator().take_trace(), TraceTime::kHide);
  }

  std::string folder_;
  SimulatorOptions options_;
  std::unique_ptr<Simulator> simulator_;
};

std::string join(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text;
}

}  // namespace

Result<ScenarioResult> run_scenario(std::string_view text, const std::string& folder,
                                    ScenarioMode mode) {
  GANG_TRY(const ScenarioText scenario, parse_scenario(text));
  Run run(folder);
  ScenarioResult result;
  std::vector<Lines> outputs;
  for (const Block& block : scenario.blocks) {
    Result<Command> command = Command::parse(block.command);
    Result<Lines> lines =
        command ? run.perform(*command) : Result<Lines>(tl::unexpected<Error>(command.error()));
    if (!lines) lines = Lines{"error: " + lines.error().message};
    if (mode == ScenarioMode::kCompare && result.passed && *lines != block.expected) {
      result.passed = false;
      result.difference = "line " + std::to_string(block.line) + ": " + block.command +
                          "\n  expected\n" + join(block.expected) + "  got\n" + join(*lines);
    }
    outputs.push_back(*std::move(lines));
  }
  result.text = format_scenario(scenario, outputs);
  return result;
}

}  // namespace gang::sim
