#include "sim/scenario_options.h"

#include <functional>
#include <map>

#include "sim/scenario_parser.h"

namespace gang::sim {

namespace {

using Setter = std::function<Result<void>(SimulatorOptions&, const std::string&)>;

Result<void> bad_value(const std::string& value, const char* mend) {
  return fail(Code::kInvalidArgument, "\"" + value + "\" is not allowed; write " + mend);
}

Setter duration(Duration scheduler::Options::*field) {
  return [field](SimulatorOptions& options, const std::string& value) -> Result<void> {
    GANG_TRY(options.scheduler.*field, parse_duration(value));
    return {};
  };
}

Result<void> set_gated_members(SimulatorOptions& options, const std::string& value) {
  if (value == "leave_out") {
    options.scheduler.gated_members = scheduler::GatedMembers::kLeaveOut;
  } else if (value == "hold") {
    options.scheduler.gated_members = scheduler::GatedMembers::kHold;
  } else {
    return bad_value(value, "leave_out or hold");
  }
  return {};
}

Result<void> set_priority_mismatch(SimulatorOptions& options, const std::string& value) {
  if (value == "refuse") {
    options.scheduler.priority_mismatch = scheduler::PriorityMismatch::kRefuse;
  } else if (value == "use_group") {
    options.scheduler.priority_mismatch = scheduler::PriorityMismatch::kUseGroup;
  } else {
    return bad_value(value, "refuse or use_group");
  }
  return {};
}

Result<void> set_search_steps_max(SimulatorOptions& options, const std::string& value) {
  const std::optional<int> number = parse_number(value);
  if (!number) return bad_value(value, "a whole number");
  options.scheduler.engine.search_steps_max = *number;
  return {};
}

Result<void> set_toleration_comparison(SimulatorOptions& options, const std::string& value) {
  if (value != "true" && value != "false") return bad_value(value, "true or false");
  options.scheduler.engine.toleration_comparison = value == "true";
  return {};
}

}  // namespace

Result<void> set_option(SimulatorOptions& options, const std::string& key,
                        const std::string& value) {
  static const std::map<std::string, Setter> kSetters = {
      {"gated_members", set_gated_members},
      {"priority_mismatch", set_priority_mismatch},
      {"search_steps_max", set_search_steps_max},
      {"toleration_comparison", set_toleration_comparison},
      {"incomplete_grace", duration(&scheduler::Options::incomplete_grace)},
      {"repair_deadline", duration(&scheduler::Options::repair_deadline)},
      {"safety_interval", duration(&scheduler::Options::safety_interval)},
  };
  const auto setter = kSetters.find(key);
  if (setter == kSetters.end()) {
    std::string known;
    for (const auto& [name, unused] : kSetters) known += (known.empty() ? "" : ", ") + name;
    return fail(Code::kInvalidArgument, "no option \"" + key + "\"; write one of " + known);
  }
  Result<void> done = setter->second(options, value);
  if (!done) return in_context(key, std::move(done).error());
  return done;
}

}  // namespace gang::sim
