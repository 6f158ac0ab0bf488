#include "gang/sim/scenario.h"

#include <functional>
#include <map>
#include <memory>

#include "gang/base/check.h"
#include "sim/report.h"
#include "sim/scenario_options.h"
#include "sim/scenario_parser.h"
#include "sim/verb_forms.h"
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
    GANG_TRY_VOID(check_form(command));
    using Verb = std::function<Result<Lines>(Run&, const Command&)>;
    static const std::map<std::string, Verb> kVerbs = verbs();
    const auto verb = kVerbs.find(command.verb());
    CHECK(verb != kVerbs.end());
    Result<Lines> lines = verb->second(*this, command);
    if (!lines) return in_context(command.verb(), std::move(lines).error());
    return lines;
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
        {"class", world(make_class)},
        {"template", world(make_template)},
        {"claim", world(make_claim)},
        {"namespace", world(make_namespace)},
        {"allocate", world(allocate_claim)},
        {"condition", world(set_device_conditions)},
        {"deallocate", world(deallocate_claim)},
        {"devices", world(make_devices)},
        {"republish", world(republish_devices)},
        {"device", world(change_device)},
        {"rule", world(make_rule)},
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
           SimCluster& cluster = run.simulator().cluster();
           return is_fault(command) ? arm_fault(cluster, command)
                                    : end_pods(cluster, command, api::PodPhase::kFailed);
         }},
        {"config", [](Run& run, const Command& command) { return run.configure(command); }},
        {"load", [](Run& run, const Command& command) { return run.load(command); }},
        {"cycle", [](Run& run, const Command&) { return run.cycle(); }},
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
      return fail(Code::kInvalidArgument, "comes before every other command; move it up");
    }
    if (command.options().empty()) {
      return fail(Code::kInvalidArgument, "no option is named; write: config key=value");
    }
    for (const auto& [key, value] : command.options()) {
      GANG_TRY_VOID(set_option(options_, key, value));
    }
    return Lines{"ok"};
  }

  Result<Lines> load(const Command& command) {
    const std::string& name = command.words()[0];
    return load_manifest(simulator().cluster(),
                         name.starts_with("/") ? name : folder_ + "/" + name);
  }

  Result<Lines> cycle() {
    simulator().settle();
    return nonempty(trace_lines(simulator().take_trace(), TraceTime::kHide));
  }

  Result<Lines> advance(const Command& command) {
    GANG_TRY(const Duration step, parse_span(command.words()[0]));
    simulator().advance(step);
    return nonempty(trace_lines(simulator().take_trace(), TraceTime::kShow));
  }

  static Lines nonempty(Lines lines) {
    if (lines.empty()) lines.emplace_back("nothing to do");
    return lines;
  }

  Result<Lines> plan(const Command& command) {
    return plan_lines(simulator(), command.words()[0], options_.scheduler.engine);
  }

  Result<Lines> show_what(const Command& command) {
    GANG_TRY(Lines lines, show(simulator(), command.words()[0]));
    if (lines.empty()) lines.emplace_back("none");
    return lines;
  }

  Result<Lines> crash(const Command& command) {
    if (!simulator().daemon_is_up()) {
      return fail(Code::kUnavailable, "the daemon is down already; write restart first");
    }
    const bool all_writes = command.option("writes") != nullptr;
    if (all_writes && command.option("after") != nullptr) {
      return fail(Code::kInvalidArgument, "after= counts Bindings, writes= all; keep one");
    }
    GANG_TRY(const int count,
             command.number(all_writes ? "writes" : "after", 0, Range{1, kNamesMax}));
    if (count == 0) {
      simulator().crash();
      return trace_lines(simulator().take_trace(), TraceTime::kHide);
    }
    simulator().crash_after({count, all_writes});
    return Lines{"armed"};
  }

  Result<Lines> restart() {
    if (simulator().daemon_is_up()) {
      return fail(Code::kUnavailable, "the daemon is up already; write crash first");
    }
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
    if (!lines) {
      const std::string& message = lines.error().message;
      result.mistakes.push_back("line " + std::to_string(block.line) + ": " + message);
      lines = Lines{"error: " + message};
    }
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
