#include "engine/selector_budget.h"

#include <fmt/format.h>
#include <algorithm>
#include <tuple>

namespace gang::engine {
namespace {

std::string text_of(const SelectorAsker& asker) {
  std::string part = fmt::format("selector #{}", asker.index);
  if (!asker.attribute.empty()) part = fmt::format("attribute {}", asker.attribute);
  if (!asker.request.empty()) part = fmt::format("request {}, {}", asker.request, part);
  if (asker.owner != nullptr)
    return fmt::format("{} {}, {}", asker.what, asker.owner->text(), part);
  return asker.attribute.empty() ? asker.what : part;
}

}  // namespace

cluster::Selected SelectorBudget::judge(cluster::DeviceSelectors& selectors,
                                        const cluster::DeviceQuestion& question,
                                        const SelectorAsker& asker) {
  const std::int64_t before = steps_left_;
  cluster::Selected selected = selectors.judge(question, steps_left_);
  const bool is_asked = selected.end != cluster::Selected::End::kNotAsked;
  note({question.expression, asker, is_asked, before - steps_left_});
  return selected;
}

const cluster::Derived& SelectorBudget::derive(cluster::DeviceSelectors& selectors,
                                               const cluster::DeviceQuestion& question,
                                               const SelectorAsker& asker) {
  const std::int64_t before = steps_left_;
  const cluster::Derived& derived = selectors.derive(question, steps_left_);
  const bool is_asked = derived.end != cluster::Derived::End::kNotAsked;
  note({question.expression, asker, is_asked, before - steps_left_});
  return derived;
}

void SelectorBudget::note(const Asked& asked) {
  is_spent_ |= !asked.is_answered;
  if (asked.steps == 0) return;
  const auto [place, is_new] = spent_.try_emplace(asked.expression);
  if (is_new) place->second.asker = text_of(asked.asker);
  place->second.steps += asked.steps;
  if (asked.is_answered) ++place->second.devices;
}

std::string SelectorBudget::text() const {
  const auto most = std::ranges::max_element(spent_, {}, [](const auto& one) {
    return std::make_tuple(one.second.steps, one.second.devices, one.second.asker);
  });
  std::string text = fmt::format("selectors may take {} steps for an attempt", steps_max_);
  if (most != spent_.end()) {
    const Spent& spent = most->second;
    text += fmt::format(", and {} took {} on {} device{}", spent.asker, spent.steps, spent.devices,
                        spent.devices == 1 ? "" : "s");
  }
  return text + "; the next attempt goes on from there";
}

}  // namespace gang::engine
