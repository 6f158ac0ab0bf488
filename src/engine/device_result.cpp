#include "engine/device_result.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gang::engine {
namespace {

using api::AllocatedConfig;
using api::ConfigSource;

/// Copies a list into a new, empty one; few devices have any.
template <class List>
void copy(const List& from, List& to) {
  if (!from.empty()) to = from;
}

void fill(const DeviceInputs& inputs, const ChosenDevice& chosen, api::DeviceResult& result) {
  const api::Device& device = *chosen.candidate.device->device;
  const api::ResourceSlice& slice = chosen.candidate.slice();
  result.request = chosen.ask->full_name;
  result.driver = slice.driver;
  result.pool = slice.pool;
  result.device = device.name;
  result.admin_access = chosen.ask->is_admin();
  copy(chosen.ask->ask->tolerations, result.tolerations);
  copy(chosen.capacity, result.consumed_capacity);
  if (chosen.is_share) result.share_id.emplace();
  if (inputs.features.binding_conditions) {
    copy(device.binding_conditions, result.binding_conditions);
    copy(device.binding_failure_conditions, result.binding_failure_conditions);
  }
  if (inputs.features.optional_node_operations) {
    copy(slice.skip_node_operations, result.skip_node_operations);
  }
}

/// Every class once, where it first appears, for all requests that chose it.
void add_class_configs(const PreparedClaim& claim, std::vector<AllocatedConfig>& configs) {
  const auto class_of = [](const PreparedRequest& request) {
    return request.asks[request.selected].device_class;
  };
  for (auto request = claim.requests.begin(); request != claim.requests.end(); ++request) {
    const api::DeviceClass& device_class = *class_of(*request);
    if (device_class.configs.empty()) continue;
    if (std::ranges::find(claim.requests.begin(), request, &device_class, class_of) != request) {
      continue;
    }
    std::vector<std::string> names;
    for (auto same = request; same != claim.requests.end(); ++same) {
      if (class_of(*same) != &device_class) continue;
      names.push_back(same->asks[same->selected].full_name);
    }
    for (const api::DeviceConfig& config : device_class.configs) {
      configs.push_back({ConfigSource::kClass, {.requests = names, .opaque = config.opaque}});
    }
  }
}

/// Whether one of the names stands for the request or for the alternative it chose.
bool names(const std::vector<std::string>& requests, const PreparedRequest& request) {
  const auto has = [&](const std::string& name) {
    return std::ranges::find(requests, name) != requests.end();
  };
  return has(request.request->name) ||
         (request.has_alternatives() && has(request.asks[request.selected].full_name));
}

void add_claim_configs(const PreparedClaim& claim, std::vector<AllocatedConfig>& configs) {
  for (const api::DeviceConfig& config : claim.claim->spec.configs) {
    const bool applies = config.requests.empty() ||
                         std::ranges::any_of(claim.requests, [&](const PreparedRequest& request) {
                           return names(config.requests, request);
                         });
    if (applies) configs.push_back({ConfigSource::kClaim, config});
  }
}

/// An entry for every request needs no list of them.
void shorten(const PreparedClaim& claim, std::vector<AllocatedConfig>& configs) {
  for (AllocatedConfig& config : configs) {
    const bool is_for_all = std::ranges::all_of(
        claim.requests,
        [&](const PreparedRequest& request) { return names(config.config.requests, request); });
    if (is_for_all) config.config.requests.clear();
  }
}

void add_new(const std::vector<api::NodeSelectorRequirement>& from,
             std::vector<api::NodeSelectorRequirement>& to) {
  const auto sorted = [](std::vector<std::string> values) {
    std::ranges::sort(values);
    return values;
  };
  for (const api::NodeSelectorRequirement& one : from) {
    const bool is_known = std::ranges::any_of(to, [&](const api::NodeSelectorRequirement& known) {
      return known.key == one.key && known.op == one.op &&
             sorted(known.values) == sorted(one.values);
    });
    if (!is_known) to.push_back(one);
  }
}

api::NodeSelector selector_for(std::string_view node_name) {
  api::NodeSelector selector;
  api::NodeSelectorRequirement& name = selector.terms.emplace_back().fields.emplace_back();
  name = {.key = "metadata.name", .op = "In", .values = {}};
  name.values.emplace_back(node_name);
  return selector;
}

Result<std::optional<api::NodeSelector>> selector_of(const DeviceNode& node,
                                                     const std::vector<ChosenDevice>& chosen) {
  api::NodeSelectorTerm term;
  for (const ChosenDevice& one : chosen) {
    const api::ResourceSlice& slice = one.candidate.slice();
    const api::Device& device = *one.candidate.device->device;
    const api::DevicePlace& place = slice.per_device_node_selection ? device.place : slice.place;
    if (!place.node_name.empty() || device.binds_to_node) {
      return std::optional(selector_for(node.facts.name));
    }
    if (!place.node_selector || place.node_selector->terms.empty()) continue;
    if (place.node_selector->terms.size() > 1) {
      return fail(Code::kInvalidArgument, "unsupported ResourceSlice.NodeSelector with " +
                                              std::to_string(place.node_selector->terms.size()) +
                                              " terms");
    }
    add_new(place.node_selector->terms[0].fields, term.fields);
    add_new(place.node_selector->terms[0].expressions, term.expressions);
  }
  if (term.fields.empty() && term.expressions.empty()) return std::optional<api::NodeSelector>();
  return std::optional(api::NodeSelector{{std::move(term)}});
}

}  // namespace

Result<api::Allocation> allocation_of(const DeviceInputs& inputs, const DeviceNode& node,
                                      const PreparedClaim& claim,
                                      const std::vector<ChosenDevice>& chosen) {
  api::Allocation allocation;
  allocation.results.reserve(chosen.size());
  for (const ChosenDevice& one : chosen) fill(inputs, one, allocation.results.emplace_back());
  add_class_configs(claim, allocation.configs);
  add_claim_configs(claim, allocation.configs);
  shorten(claim, allocation.configs);
  Result<std::optional<api::NodeSelector>> selector = selector_of(node, chosen);
  if (!selector) return in_context("claim " + claim.claim->meta.key.text(), selector.error());
  allocation.node_selector = *std::move(selector);
  if (!inputs.as_upstream && allocation.configs.size() > kAllocationConfigsMax) {
    return fail(Code::kResourceExhausted, "claim " + claim.claim->meta.key.text() + ": " +
                                              std::to_string(allocation.configs.size()) +
                                              " configuration entries, at most " +
                                              std::to_string(kAllocationConfigsMax) +
                                              " are stored; use fewer in its classes");
  }
  return allocation;
}

}  // namespace gang::engine
