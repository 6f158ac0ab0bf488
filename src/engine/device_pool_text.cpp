#include "engine/device_pool_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <string_view>
#include <utility>

namespace gang::engine {
namespace {

using cluster::Selected;

enum class Meant { kNo, kMaybe, kYes };

/// The selectors of the request and of its class.
std::vector<std::string> expressions_of(const DeviceInputs& inputs, const api::DeviceAsk& ask) {
  std::vector<std::string> expressions;
  const auto add = [&expressions](const std::vector<api::DeviceSelector>& selectors) {
    for (const api::DeviceSelector& one : selectors) {
      if (one.expression) expressions.push_back(*one.expression);
    }
  };
  const auto found = inputs.classes.find(ask.class_name);
  if (found != inputs.classes.end()) add(found->second->selectors);
  add(ask.selectors);
  return expressions;
}

bool say(const std::vector<std::string>& expressions, std::string_view words) {
  return std::ranges::any_of(expressions, [words](const std::string& expression) {
    return expression.find(words) != std::string::npos;
  });
}

Meant judge(const DeviceInputs& inputs, const std::vector<std::string>& expressions,
            const DeviceCandidate& candidate) {
  for (const std::string& expression : expressions) {
    const Selected selected = inputs.budget.judge(
        inputs.selectors, {expression, candidate.pool->driver(), *candidate.device->device}, {});
    if (selected.end == Selected::End::kNo) return Meant::kNo;
    if (selected.end != Selected::End::kYes) return Meant::kMaybe;
  }
  return Meant::kYes;
}

/// Whether the selectors may want devices of the pool. The devices that are there stand for those
/// that are missing as far as the driver goes.
Meant meant(const DeviceInputs& inputs, const std::vector<std::string>& expressions,
            const NodePool& pool) {
  if (say(expressions, pool.pool->driver())) return Meant::kYes;
  Meant best = Meant::kNo;
  const std::vector<DeviceCandidate> candidates = candidates_of(pool);
  for (const DeviceCandidate& candidate : candidates) {
    best = std::max(best, judge(inputs, expressions, candidate));
  }
  const bool is_proof = !candidates.empty() && say(expressions, "device.driver");
  return best == Meant::kNo && !is_proof ? Meant::kMaybe : best;
}

/// Why the pool, or a device of it, offers nothing; "" when all of it does.
std::string pool_text(const NodePool& pool, Meant meant) {
  if (pool.state != cluster::PoolState::kReady) {
    return fmt::format("; pool {}/{}{} offers nothing: {}", pool.pool->driver(), pool.pool->name(),
                       meant == Meant::kYes ? "" : ", which may be of another driver,",
                       pool.problem);
  }
  if (meant != Meant::kYes) return "";
  for (const DeviceCandidate& candidate : candidates_of(pool)) {
    if (candidate.node_terms() <= 1) continue;
    return fmt::format("; device {} is passed over: its node selector has {} terms, claims hold 1",
                       candidate.text(), candidate.node_terms());
  }
  return "";
}

}  // namespace

std::string pools_text(const DeviceInputs& inputs, const std::vector<const DeviceNode*>& nodes,
                       const api::DeviceAsk& ask, const std::set<std::string>& drivers) {
  const std::vector<std::string> expressions = expressions_of(inputs, ask);
  const auto judge_pool = [&](const NodePool& pool) {
    if (drivers.empty()) return meant(inputs, expressions, pool);
    return drivers.contains(pool.pool->driver()) ? Meant::kYes : Meant::kNo;
  };
  std::string open;
  for (const DeviceNode* node : nodes) {
    for (const NodePool& pool : node->pools) {
      const Meant is_meant = judge_pool(pool);
      if (is_meant == Meant::kNo) continue;
      std::string text = pool_text(pool, is_meant);
      if (is_meant == Meant::kYes && !text.empty()) return text;
      if (open.empty()) open = std::move(text);
    }
  }
  return open;
}

}  // namespace gang::engine
