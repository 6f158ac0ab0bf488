#include "engine/device_pool_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "gang/base/list_text.h"

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
std::string problem_of(const NodePool& pool) {
  const std::string name = pool.pool->driver() + "/" + pool.pool->name();
  if (pool.state != cluster::PoolState::kReady) {
    return fmt::format("pool {} offers nothing: {}", name, pool.problem);
  }
  for (const DeviceCandidate& candidate : candidates_of(pool)) {
    if (candidate.node_terms() <= 1) continue;
    return fmt::format("device {} is passed over: its node selector has {} terms, claims hold 1",
                       candidate.text(), candidate.node_terms());
  }
  return "";
}

std::string open_text(const NodePool& pool) {
  return fmt::format("pool {}/{}, which may be of another driver, offers nothing: {}",
                     pool.pool->driver(), pool.pool->name(), pool.problem);
}

/// Which pools the alternatives of a request mean.
class MeantPools {
 public:
  MeantPools(const DeviceInputs& inputs, const std::vector<AskTally>& asks)
      : inputs_(inputs), asks_(asks) {
    for (const AskTally& one : asks) expressions_.push_back(expressions_of(inputs, *one.ask));
  }

  [[nodiscard]] Meant judge(const NodePool& pool) const {
    Meant best = Meant::kNo;
    for (std::size_t i = 0; i < asks_.size() && best != Meant::kYes; ++i) {
      const std::set<std::string>& drivers = asks_[i].fleet.drivers;
      const Meant known = drivers.contains(pool.pool->driver()) ? Meant::kYes : Meant::kNo;
      best = std::max(best, drivers.empty() ? meant(inputs_, expressions_[i], pool) : known);
    }
    return best;
  }

 private:
  const DeviceInputs& inputs_;
  const std::vector<AskTally>& asks_;
  std::vector<std::vector<std::string>> expressions_;  ///< by alternative
};

}  // namespace

std::string pools_text(const DeviceInputs& inputs, const std::vector<const DeviceNode*>& nodes,
                       const std::vector<AskTally>& asks) {
  const MeantPools pools(inputs, asks);
  std::set<const cluster::DevicePool*> known;  // nodes see the same pools
  std::vector<std::string> certain;
  std::vector<std::string> open;
  for (const DeviceNode* node : nodes) {
    for (const NodePool& pool : node->pools) {
      std::string problem = problem_of(pool);
      if (problem.empty() || !known.insert(pool.pool).second) continue;
      const Meant is_meant = pools.judge(pool);
      if (is_meant == Meant::kYes) certain.push_back(std::move(problem));
      const bool is_open = is_meant == Meant::kMaybe;
      if (is_open && pool.state != cluster::PoolState::kReady) open.push_back(open_text(pool));
    }
  }
  const std::string text =
      list_text(certain.empty() ? open : certain,
                {.between = "; ", .more = "; and ", .what = " pools with faults"});
  return text.empty() ? "" : "; " + text;
}

}  // namespace gang::engine
