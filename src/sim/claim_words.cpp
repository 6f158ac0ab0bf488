#include "sim/claim_words.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "gang/api/names.h"
#include "gang/cluster/device_selectors.h"
#include "sim/name_rules.h"

namespace gang::sim {

namespace {

constexpr int kCountMax = 1'000'000;

bool is_or_starts(std::string_view key, std::string_view word) {
  return key.starts_with(word) && (key.size() == word.size() || key[word.size()] == '.');
}

/// The request is called as its class where that is a name of a request.
std::string request_name(const std::string& class_name) {
  return api::is_dns_label(class_name) ? class_name : "devices";
}

/// "key" or "key:Effect".
Result<api::DeviceToleration> parse_toleration(const std::string& text) {
  const std::size_t colon = text.find(':');
  api::DeviceToleration toleration{.key = text.substr(0, colon), .op = "Exists"};
  if (colon != std::string::npos) toleration.effect = text.substr(colon + 1);
  GANG_TRY_VOID(check_key("tolerate=" + text, toleration.key));
  const std::string& effect = toleration.effect;
  if (effect.empty() || effect == "NoSchedule" || effect == "NoExecute") return toleration;
  return fail(Code::kInvalidArgument,
              "tolerate=" + text +
                  " is no toleration of a device; write key, key:NoSchedule or "
                  "key:NoExecute");
}

Result<void> add_capacity(api::DeviceAsk& ask, const std::string& key, const std::string& value) {
  Result<api::Quantity> amount = api::Quantity::parse(value);
  if (!amount) return in_context(key + "=" + value, std::move(amount).error());
  ask.capacity.emplace_back(key.substr(key.find('.') + 1), *amount);
  std::ranges::sort(ask.capacity, {}, &std::pair<std::string, api::Quantity>::first);
  return {};
}

Result<void> apply_option(api::DeviceAsk& ask, api::ClaimSpec& spec, const std::string& key,
                          const std::string& value) {
  if (key == "selector") {
    ask.selectors.push_back({value});
  } else if (key == "tolerate") {
    GANG_TRY(api::DeviceToleration toleration, parse_toleration(value));
    ask.tolerations.push_back(std::move(toleration));
  } else if (key == "match" || key == "distinct") {
    spec.constraints.push_back(
        {.kind = key == "match" ? api::ConstraintKind::kMatch : api::ConstraintKind::kDistinct,
         .attribute = value});
  } else if (key.starts_with("capacity.")) {
    return add_capacity(ask, key, value);
  } else if (key != "class" && key != "count" && key != "namespace") {
    return fail(Code::kInvalidArgument,
                key +
                    "= is not read here; write one of capacity.NAME, class, count, distinct, "
                    "match, namespace, selector, tolerate");
  }
  return {};
}

}  // namespace

bool names_claim(std::string_view key) {
  return is_or_starts(key, "claim");
}

bool names_shared_claim(std::string_view key) {
  return is_or_starts(key, "shared");
}

Result<void> add_claim_entry(std::vector<api::ClaimEntry>& entries, const std::string& key,
                             const std::string& value) {
  constexpr std::string_view kTemplate = "template:";
  const bool is_template = value.starts_with(kTemplate);
  const std::string name = is_template ? value.substr(kTemplate.size()) : value;
  GANG_TRY_VOID(check_name(key + "=", name));
  const std::size_t dot = key.find('.');
  api::ClaimEntry entry{.name = dot == std::string::npos ? name : key.substr(dot + 1)};
  if (!api::is_dns_label(entry.name)) {
    return fail(Code::kInvalidArgument,
                key + "=" + value + ": \"" + entry.name +
                    "\" is no name of an entry; write claim.NAME=, at most 63 of a-z, 0-9 and "
                    "\"-\"");
  }
  (is_template ? entry.template_name : entry.claim_name) = name;
  if (std::ranges::find(entries, entry.name, &api::ClaimEntry::name) != entries.end()) {
    return fail(Code::kAlreadyExists,
                key + "=" + value + ": the entry " + entry.name + " is there twice; keep one");
  }
  entries.push_back(std::move(entry));
  return {};
}

Result<void> check_selectors(const std::string& field,
                             const std::vector<api::DeviceSelector>& selectors) {
  using End = cluster::Selected::End;
  cluster::CelSelectors compiler;
  const api::Device device;
  const std::string driver;
  for (const api::DeviceSelector& selector : selectors) {
    const std::string expression = selector.expression.value_or("");
    std::int64_t steps_left = std::numeric_limits<std::int64_t>::max();
    const cluster::Selected judged = compiler.judge({expression, driver, device}, steps_left);
    if (judged.end != End::kCompileError) continue;
    return fail(Code::kInvalidArgument,
                field + expression + ": " + judged.message.substr(0, judged.message.find('\n')));
  }
  return {};
}

Result<void> check_selectors(const api::ClaimSpec& spec) {
  for (const api::DeviceRequest& request : spec.requests) {
    const std::string field = "request " + request.name + ": selector ";
    if (request.exactly) GANG_TRY_VOID(check_selectors(field, request.exactly->selectors));
    for (const api::DeviceAsk& ask : request.first_available) {
      GANG_TRY_VOID(check_selectors(field, ask.selectors));
    }
  }
  return {};
}

Result<api::ClaimSpec> claim_spec(const Command& command) {
  const std::string* class_name = command.option("class");
  if (class_name == nullptr) {
    return fail(Code::kInvalidArgument, "class= is missing; write class=NAME");
  }
  GANG_TRY_VOID(check_name("class=", *class_name));
  api::ClaimSpec spec;
  api::DeviceAsk ask{.class_name = *class_name};
  if (command.has_word("all")) {
    if (command.option("count") != nullptr) {
      return fail(Code::kInvalidArgument, "count=: all devices have no count; keep one of the two");
    }
    ask.mode = api::AllocationMode::kAll;
  }
  GANG_TRY(ask.count, command.number("count", 1, Range{1, kCountMax}));
  if (command.has_word("admin")) ask.admin_access = true;
  for (const auto& [key, value] : command.options()) {
    GANG_TRY_VOID(apply_option(ask, spec, key, value));
  }
  GANG_TRY_VOID(check_selectors("selector=", ask.selectors));
  spec.requests = {{.name = request_name(*class_name), .exactly = std::move(ask)}};
  return spec;
}

}  // namespace gang::sim
