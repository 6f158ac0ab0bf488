#include "engine/device_constraint.h"

#include <algorithm>
#include <type_traits>

namespace gang::engine {
namespace {

using api::AttributeValue;
using api::ConstraintKind;

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

}  // namespace

const AttributeValue* attribute_of(const api::Device& device, const std::string& driver,
                                   const std::string& name) {
  if (const AttributeValue* exact = api::find_named(device.attributes, name)) return exact;
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || name.compare(0, slash, driver) != 0) return nullptr;
  return api::find_named(device.attributes, std::string_view(name).substr(slash + 1));
}

DeviceConstraints::DeviceConstraints(const api::ClaimSpec& spec, bool lists) : lists_(lists) {
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

bool DeviceConstraints::add(const OfferedDevice& offered) {
  if (states_.empty()) return true;
  std::vector<bool> covered(states_.size(), false);
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    if (!covers(*state.constraint, offered)) continue;
    const AttributeValue* value =
        attribute_of(offered.device, offered.driver, state.constraint->attribute);
    if (value != nullptr && (lists_ ? admit_list(state, *value) : admit(state, *value))) {
      covered[i] = true;
      continue;
    }
    for (std::size_t before = 0; before < i; ++before) {
      if (covered[before]) states_[before].values.pop_back();
    }
    return false;
  }
  covered_.push_back(std::move(covered));
  return true;
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
  if (std::holds_alternative<std::monostate>(list)) return false;
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
