#include "app/config_options.h"

#include <arpa/inet.h>

#include <charconv>
#include <sstream>
#include <utility>

#include "gang/api/names.h"
#include "gang/api/resources.h"

namespace gang::app {

namespace {

constexpr Duration kDurationMax = std::chrono::hours(24);

constexpr int kPortMax = 65535;

tl::unexpected<Error> refuse(const std::string& problem) {
  return fail(Code::kInvalidArgument, problem);
}

tl::unexpected<Error> bad(const std::string& value, const std::string& mend) {
  return refuse("\"" + value + "\" is not allowed; write " + mend);
}

/// Inclusive limits of a number.
struct Range {
  std::int64_t low;
  std::int64_t high;
};

Result<std::int64_t> parse_in_range(const std::string& value, Range range) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool is_number = error == std::errc() && end == value.data() + value.size();
  // One form of each number: 010 is eight to some readers of YAML.
  const bool is_plain = value == std::to_string(number);
  if (!is_number || !is_plain || number < range.low || number > range.high) {
    return bad(value, "a whole number from " + std::to_string(range.low) + " to " +
                          std::to_string(range.high));
  }
  return number;
}

/// Makes an option of a field reached by `at(config)`.
template <class At>
ConfigOption number(At at, Range range) {
  return {OptionType::kNumber,
          [at, range](Config& config, const std::string& value) -> Result<void> {
            GANG_TRY(const std::int64_t parsed, parse_in_range(value, range));
            auto& field = at(config);
            field = static_cast<std::remove_reference_t<decltype(field)>>(parsed);
            return {};
          }};
}

template <class At>
ConfigOption duration(At at, Duration low) {
  return {OptionType::kDuration,
          [at, low](Config& config, const std::string& value) -> Result<void> {
            const Result<Duration> parsed = parse_duration(value);
            if (!parsed || *parsed < low || *parsed > kDurationMax) {
              return bad(value, "a duration from " + format_duration(low) + " to " +
                                    format_duration(kDurationMax) + ", like 30s or 1m30s");
            }
            at(config) = *parsed;
            return {};
          }};
}

template <class At>
ConfigOption flag(At at) {
  return {OptionType::kBool, [at](Config& config, const std::string& value) -> Result<void> {
            if (value != "true" && value != "false") return bad(value, "true or false");
            at(config) = value == "true";
            return {};
          }};
}

template <class At>
ConfigOption text(At at) {
  return {OptionType::kText, [at](Config& config, const std::string& value) -> Result<void> {
            at(config) = value;
            return {};
          }};
}

/// Makes an option whose value is one of a few words.
template <class At, class Enum>
ConfigOption one_of(At at, std::map<std::string, Enum> words) {
  return {OptionType::kWord,
          [at, words = std::move(words)](Config& config, const std::string& value) -> Result<void> {
            const auto word = words.find(value);
            if (word == words.end()) {
              std::string known;
              for (const auto& [name, unused] : words)
                known += (known.empty() ? "" : " or ") + name;
              return bad(value, known);
            }
            at(config) = word->second;
            return {};
          }};
}

Result<void> set_accelerators(Config& config, const std::string& value) {
  std::vector<std::string>& names = config.scheduler.engine.accelerators;
  names.clear();
  std::stringstream items(value);
  for (std::string name; std::getline(items, name, ',');) {
    if (!api::is_extended(name) || !api::is_qualified_name(name)) {
      return bad(name, "the name of an extended resource, like nvidia.com/gpu");
    }
    names.push_back(name);
  }
  return {};
}

Result<void> set_scheduler_name(Config& config, const std::string& value) {
  if (!api::is_dns_name(value)) {
    return refuse("\"" + value + "\" is no name; write the one that pods use, like gang-scheduler");
  }
  if (value == "default-scheduler") {
    return refuse("default-scheduler belongs to kube-scheduler; choose another name");
  }
  config.scheduler.scheduler_name = value;
  config.binder.scheduler_name = value;
  return {};
}

Result<void> set_namespace(Config& config, const std::string& value) {
  if (!value.empty() && !api::is_dns_label(value)) {
    return refuse("\"" + value + "\" is no name of a namespace; write one, or \"\"");
  }
  config.name_space = value;
  return {};
}

Result<void> set_intent_namespace(Config& config, const std::string& value) {
  if (!api::is_dns_label(value)) {
    return refuse("\"" + value + "\" is no name of a namespace; write the daemon's own");
  }
  config.binder.intent_namespace = value;
  return {};
}

/// ADDRESS:PORT with a numeric IPv4 address; port 0 takes a free one.
bool is_listen_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  in_addr parsed{};
  const bool is_address = inet_pton(AF_INET, text.substr(0, colon).c_str(), &parsed) == 1;
  return is_address && parse_in_range(text.substr(colon + 1), {0, kPortMax});
}

Result<void> set_listen(Config& config, const std::string& value) {
  if (!is_listen_address(value)) {
    return refuse("\"" + value +
                  "\" is no ADDRESS:PORT; write one like 127.0.0.1:10261 or 0.0.0.0:10261");
  }
  config.listen = value;
  return {};
}

/// Named as the feature gates of Kubernetes 1.37, but for the rules of our own.
void add_device_options(std::map<std::string, ConfigOption>& options) {
  using Features = cluster::DeviceFeatures;
  const std::map<std::string, bool Features::*> gates = {
      {"admin_access", &Features::admin_access},
      {"prioritized_list", &Features::prioritized_list},
      {"partitionable_devices", &Features::partitionable_devices},
      {"taints", &Features::device_taints},
      {"binding_conditions", &Features::binding_conditions},
      {"consumable_capacity", &Features::consumable_capacity},
      {"fractional_capacity_range", &Features::fractional_capacity_range},
      {"list_type_attributes", &Features::list_type_attributes},
      {"derived_attributes", &Features::derived_attributes},
      {"compatibility_groups", &Features::compatibility_groups},
      {"optional_node_operations", &Features::optional_node_operations},
      {"strict_no_execute", &Features::strict_no_execute},
  };
  for (const auto& [name, gate] : gates) {
    options["devices." + name] = flag([gate = gate](Config & c) -> auto& {
      return c.scheduler.engine.device_features.*gate;
    });
  }
}

void add_engine_options(std::map<std::string, ConfigOption>& options) {
  const Range weight{0, 100};
  options["scoring.weight_taint_preference"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.weight_taint_preference; }, weight);
  options["scoring.weight_node_affinity"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.weight_node_affinity; }, weight);
  options["scoring.weight_least_allocated"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.weight_least_allocated; }, weight);
  options["scoring.weight_balanced"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.weight_balanced; }, weight);
  options["scoring.weight_accelerator_packing"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.weight_accelerator_packing; }, weight);
  options["scoring.accelerators"] = {OptionType::kTextList, set_accelerators};
  options["search.steps_max"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.search_steps_max; }, {1, 100'000'000});
  options["search.device_steps_max"] = number(
      [](Config & c) -> auto& { return c.scheduler.engine.device_steps_max; }, {1, 100'000'000});
  options["search.selector_steps_max"] =
      number([](Config & c) -> auto& { return c.scheduler.engine.selector_steps_max; },
             {1, 1'000'000'000});
  options["search.class_tables_max"] =
      number([](Config & c) -> auto& { return c.scheduler.engine.class_tables_max; }, {1, 10'000});
  options["search.reasons_shown_max"] =
      number([](Config & c) -> auto& { return c.scheduler.engine.reasons_shown_max; }, {1, 20});
  options["filters.toleration_comparison"] =
      flag([](Config & c) -> auto& { return c.scheduler.engine.toleration_comparison; });
  add_device_options(options);
}

void add_gang_options(std::map<std::string, ConfigOption>& options) {
  const Duration second = std::chrono::seconds(1);
  options["gang.gated_members"] = one_of(
      [](Config & c) -> auto& { return c.scheduler.gated_members; },
      std::map<std::string, scheduler::GatedMembers>{
          {"leave_out", scheduler::GatedMembers::kLeaveOut},
          {"hold", scheduler::GatedMembers::kHold}});
  options["gang.priority_mismatch"] = one_of(
      [](Config & c) -> auto& { return c.scheduler.priority_mismatch; },
      std::map<std::string, scheduler::PriorityMismatch>{
          {"refuse", scheduler::PriorityMismatch::kRefuse},
          {"use_group", scheduler::PriorityMismatch::kUseGroup}});
  options["gang.incomplete_grace"] = duration(
      [](Config & c) -> auto& { return c.scheduler.incomplete_grace; }, Duration::zero());
  options["gang.done_settle"] = duration(
      [](Config & c) -> auto& { return c.scheduler.done_settle; }, Duration::zero());
  options["gang.repair_deadline"] = duration(
      [](Config & c) -> auto& { return c.scheduler.repair_deadline; }, second);
  options["gang.claims_seen_deadline"] = duration(
      [](Config & c) -> auto& { return c.scheduler.claims_seen_deadline; }, second);
  options["gang.device_ready_deadline"] = duration(
      [](Config & c) -> auto& { return c.scheduler.device_ready_deadline; }, second);
  options["gang.condition_interval"] = duration(
      [](Config & c) -> auto& { return c.scheduler.condition_interval; }, Duration::zero());
  options["gang.safety_interval"] = duration(
      [](Config & c) -> auto& { return c.scheduler.safety_interval; }, second);
  options["gang.backoff_initial"] = duration(
      [](Config & c) -> auto& { return c.scheduler.backoff_initial; },
      std::chrono::milliseconds(10));
  options["gang.backoff_max"] = duration(
      [](Config & c) -> auto& { return c.scheduler.backoff_max; }, second);
}

void add_binder_options(std::map<std::string, ConfigOption>& options) {
  options["binder.writes_in_flight_max"] =
      number([](Config & c) -> auto& { return c.binder.writes_in_flight_max; }, {1, 200});
  options["binder.intent_namespace"] = {OptionType::kText, set_intent_namespace};
  options["binder.commit_deadline"] = duration(
      [](Config & c) -> auto& { return c.binder.commit_deadline; }, std::chrono::seconds(1));
  options["binder.slow_round"] = duration(
      [](Config & c) -> auto& { return c.binder.slow_round; }, std::chrono::seconds(1));
  options["binder.retry_initial"] = duration(
      [](Config & c) -> auto& { return c.binder.retry_initial; }, std::chrono::milliseconds(10));
  options["binder.retry_max"] = duration(
      [](Config & c) -> auto& { return c.binder.retry_max; }, std::chrono::milliseconds(10));
  options["binder.status_writes_per_second"] =
      number([](Config & c) -> auto& { return c.binder.status_writes_per_second; }, {1, 10'000});
  options["binder.events_per_second"] =
      number([](Config & c) -> auto& { return c.binder.events_per_second; }, {1, 10'000});
  options["binder.event_queue_max"] =
      number([](Config & c) -> auto& { return c.binder.event_queue_max; }, {1, 1'000'000});
}

std::map<std::string, ConfigOption> make_options() {
  std::map<std::string, ConfigOption> options;
  options["scheduler_name"] = {OptionType::kText, set_scheduler_name};
  options["namespace"] = {OptionType::kText, set_namespace};
  options["listen"] = {OptionType::kText, set_listen};
  options["log.level"] = one_of(
      [](Config & c) -> auto& { return c.log_level; },
      std::map<std::string, log::Level>{{"debug", log::Level::kDebug},
                                        {"info", log::Level::kInfo},
                                        {"warn", log::Level::kWarn},
                                        {"error", log::Level::kError}});
  options["log.format"] = one_of(
      [](Config & c) -> auto& { return c.log_format; },
      std::map<std::string, log::Format>{{"text", log::Format::kText},
                                         {"json", log::Format::kJson}});
  options["client.kubeconfig"] = text([](Config & c) -> auto& { return c.client.kubeconfig_path; });
  options["client.request_timeout"] = duration(
      [](Config & c) -> auto& { return c.client.request_timeout; }, std::chrono::milliseconds(100));
  options["client.watch_idle_limit"] = duration(
      [](Config & c) -> auto& { return c.client.watch_idle_limit; }, std::chrono::seconds(1));
  add_engine_options(options);
  add_gang_options(options);
  add_binder_options(options);
  return options;
}

}  // namespace

const std::map<std::string, ConfigOption>& config_options() {
  static const std::map<std::string, ConfigOption> kOptions = make_options();
  return kOptions;
}

}  // namespace gang::app
