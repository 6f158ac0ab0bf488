#include "engine/device_constraint.h"

#include <algorithm>
#include <type_traits>

namespace gang::engine {
namespace {

using api::AttributeValue;
using api::ConstraintKind;
using cluster::Derived;

template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};

bool is_scalar(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) {
        using Held = std::decay_t<decltype(held)>;
        return !std::is_same_v<Held, std::monostate> && !IsList<Held>::value;
      },
      value);
}

/// The value as a list of its kind; monostate stays.
AttributeValue as_list(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) -> AttributeValue {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, std::monostate> || IsList<Held>::value) {
          return held;
        } else {
          return std::vector<Held>{held};
        }
      },
      value);
}

/// Elements of `a` that are in `b`; monostate when the kinds differ.
AttributeValue intersection(const AttributeValue& a, const AttributeValue& b) {
  return std::visit(
      [&b](const auto& left) -> AttributeValue {
        using Held = std::decay_t<decltype(left)>;
        const Held* right = std::get_if<Held>(&b);
        if constexpr (IsList<Held>::value) {
          if (right == nullptr) return {};
          Held both;
          std::ranges::copy_if(left, std::back_inserter(both), [right](const auto& one) {
            return std::ranges::find(*right, one) != right->end();
          });
          return both;
        } else {
          return {};
        }
      },
      a);
}

bool is_empty_list(const AttributeValue& value) {
  return std::visit(
      [](const auto& held) {
        if constexpr (IsList<std::decay_t<decltype(held)>>::value) {
          return held.empty();
        } else {
          return true;
        }
      },
      value);
}

/// What a constraint on the attribute compares; null where the device has nothing of that name.
Result<const AttributeValue*> compared_value(const DeviceInputs& inputs,
                                             const OfferedDevice& offered,
                                             const std::string& name) {
  const DeviceCandidate& candidate = offered.candidate;
  const std::string& driver = candidate.pool->driver();
  const api::Device& device = *candidate.device->device;
  const std::string* expression = derivation_of(offered.ask, name);
  if (expression == nullptr) return attribute_of(device, driver, name);
  const Derived& derived = inputs.budget.derive(inputs.selectors, {*expression, driver, device},
                                                {.request = offered.full, .attribute = name});
  if (derived.end == Derived::End::kValue) return &derived.value;
  if (derived.end == Derived::End::kNotAsked) return fail(Code::kResourceExhausted, "");
  if (derived.end == Derived::End::kCompileError) {
    return fail(Code::kInvalidArgument,
                "compile derived attribute " + name + " failed: " + derived.message);
  }
  return fail(Code::kInvalidArgument, "evaluate derived attribute " + name + " on device " +
                                          candidate.text() + " failed: " + derived.message);
}

}  // namespace

const AttributeValue* attribute_of(const api::Device& device, const std::string& driver,
                                   const std::string& name) {
  if (const AttributeValue* exact = api::find_named(device.attributes, name)) return exact;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || name.compare(0, slash, driver) != 0) return nullptr;
  return api::find_named(device.attributes, std::string_view(name).substr(slash + 1));
}

const std::string* derivation_of(const api::DeviceAsk& ask, const std::string& name) {
  const std::string* found = nullptr;
  // Of two with one name the last counts.
  for (const api::DerivedAttribute& derived : ask.derived_attributes) {
    if (derived.name == name) found = &derived.expression;
  }
  return found;
}

DeviceConstraints::DeviceConstraints(const api::ClaimSpec& spec, const DeviceInputs& inputs)
    : inputs_(&inputs) {
  for (const api::DeviceConstraint& constraint : spec.constraints) {
    states_.push_back({.constraint = &constraint, .values = {}});
  }
}

bool DeviceConstraints::covers(const api::DeviceConstraint& constraint,
                               const OfferedDevice& offered) {
  const std::vector<std::string>& names = constraint.requests;
  return names.empty() || std::ranges::find(names, offered.request) != names.end() ||
         std::ranges::find(names, offered.full) != names.end();
}

Result<bool> DeviceConstraints::add(const OfferedDevice& offered) {
  if (states_.empty()) return true;
  std::vector<bool> covered(states_.size(), false);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (!covers(*state.constraint, offered)) continue;
    const Result<bool> admitted = admits(state, offered);
    covered[i] = admitted && *admitted;
    if (covered[i]) continue;
    for (std::size_t before = 0; before < i; ++before) {
      if (covered[before]) states_[before].values.pop_back();
    }
    return admitted;
  }
  covered_.push_back(std::move(covered));
  return true;
}

/// Keeps the device's value when the constraint lets it in.
Result<bool> DeviceConstraints::admits(State& state, const OfferedDevice& offered) const {
  const std::string& name = state.constraint->attribute;
  const auto value = compared_value(*inputs_, offered, name);
  if (!value) return tl::unexpected<Error>(value.error());
  if (*value == nullptr) return false;
  const bool has_lists = inputs_->features.list_type_attributes;
  return has_lists ? admit_list(state, **value) : admit(state, **value);
}

/// Scalars. The first device is let in whatever its value is.
bool DeviceConstraints::admit(State& state, const AttributeValue& value) const {
  if (!state.values.empty()) {
    if (!is_scalar(value)) return false;
    const bool is_match = state.constraint->kind == ConstraintKind::kMatch;
    const bool is_known = is_match ? state.values.front() == value
                                   : std::ranges::find(state.values, value) != state.values.end();
    if (is_known != is_match) return false;
  }
  state.values.push_back(value);
  return true;
}

/// Lists are sets, scalars are sets of one.
bool DeviceConstraints::admit_list(State& state, const AttributeValue& value) const {
  const AttributeValue list = as_list(value);
  if (is_empty_list(list)) return false;
  if (state.constraint->kind == ConstraintKind::kMatch) {
    AttributeValue common = state.values.empty() ? list : intersection(state.values.back(), list);
    if (is_empty_list(common)) return false;
    state.values.push_back(std::move(common));
    return true;
  }
  const bool is_disjoint = std::ranges::all_of(state.values, [&](const AttributeValue& before) {
    return is_empty_list(intersection(before, list));
  });
  if (is_disjoint) state.values.push_back(list);
  return is_disjoint;
}

void DeviceConstraints::undo() {
  if (states_.empty()) return;
  const std::vector<bool>& last = covered_.back();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (last[i]) states_[i].values.pop_back();
  }
  covered_.pop_back();
}

}  // namespace gang::engine
