#include "sim/scenario_options.h"

#include <functional>
#include <map>

#include "sim/scenario_parser.h"

namespace gang::sim {

namespace {

constexpr Duration kDurationMax = std::chrono::hours(24);
constexpr Duration kSecond = std::chrono::seconds(1);

using Setter = std::function<Result<void>(SimulatorOptions&, const std::string&)>;

Result<void> bad_value(const std::string& value, const char* mend) {
  return fail(Code::kInvalidArgument, "\"" + value + "\" is not allowed; write " + mend);
}

/// The limits are those of the daemon's configuration file.
Setter duration(Duration scheduler::Options::*field, Duration low) {
  return [field, low](SimulatorOptions& options, const std::string& value) -> Result<void> {
    const Result<Duration> parsed = parse_duration(value);
    if (!parsed || *parsed < low || *parsed > kDurationMax) {
      const std::string mend = "a duration from " + format_duration(low) + " to " +
                               format_duration(kDurationMax) + ", like 30s";
      return bad_value(value, mend.c_str());
    }
    options.scheduler.*field = *parsed;
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

Setter steps(std::int64_t engine::Options::*field, int high) {
  return [field, high](SimulatorOptions& options, const std::string& value) -> Result<void> {
    const std::optional<int> number = parse_number(value);
    if (!number || *number < 1 || *number > high) {
      return bad_value(value, ("a whole number from 1 to " + std::to_string(high)).c_str());
    }
    options.scheduler.engine.*field = *number;
    return {};
  };
}

Result<void> set_toleration_comparison(SimulatorOptions& options, const std::string& value) {
  if (value != "true" && value != "false") return bad_value(value, "true or false");
  options.scheduler.engine.toleration_comparison = value == "true";
  return {};
}

Result<void> set_derived_attributes(SimulatorOptions& options, const std::string& value) {
  if (value != "true" && value != "false") return bad_value(value, "true or false");
  options.scheduler.engine.device_features.derived_attributes = value == "true";
  return {};
}

Result<void> set_claim_controller(SimulatorOptions& options, const std::string& value) {
  if (value == "off") {
    options.claim_controller_delay.reset();
    return {};
  }
  const Result<Duration> delay = parse_duration(value);
  if (!delay || *delay > kDurationMax) {
    return bad_value(value, "off, or the time it takes to act: 0s to 24h");
  }
  options.claim_controller_delay = *delay;
  return {};
}

}  // namespace

Result<void> set_option(SimulatorOptions& options, const std::string& key,
                        const std::string& value) {
  static const std::map<std::string, Setter> kSetters = {
      {"claim_controller", set_claim_controller},
      {"derived_attributes", set_derived_attributes},
      {"device_steps_max", steps(&engine::Options::device_steps_max, 100'000'000)},
      {"gated_members", set_gated_members},
      {"priority_mismatch", set_priority_mismatch},
      {"search_steps_max", steps(&engine::Options::search_steps_max, 100'000'000)},
      {"selector_steps_max", steps(&engine::Options::selector_steps_max, 1'000'000'000)},
      {"toleration_comparison", set_toleration_comparison},
      {"claims_seen_deadline", duration(&scheduler::Options::claims_seen_deadline, kSecond)},
      {"device_ready_deadline", duration(&scheduler::Options::device_ready_deadline, kSecond)},
      {"incomplete_grace", duration(&scheduler::Options::incomplete_grace, Duration::zero())},
      {"repair_deadline", duration(&scheduler::Options::repair_deadline, kSecond)},
      {"safety_interval", duration(&scheduler::Options::safety_interval, kSecond)},
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
