#include "scheduler/namespace_debts.h"

#include <algorithm>

namespace gang::scheduler {

std::vector<std::string> NamespaceDebts::pay(TimePoint now) {
  const auto time = std::chrono::duration_cast<std::chrono::microseconds>(now - paid_until_);
  paid_until_ += time;
  change_ += time.count() * (kPaidPerSecond / 1'000'000);
  std::vector<std::string> in_order;
  while (!debts_.empty()) {
    const auto count = static_cast<std::int64_t>(debts_.size());
    std::int64_t part = change_ / count;
    for (const auto& [name_space, debt] : debts_) part = std::min(part, debt.work);
    if (part == 0) break;
    change_ -= part * count;
    for (auto& [name_space, debt] : debts_) {
      if (debt.work > credit_ && debt.work - part <= credit_) in_order.push_back(name_space);
      debt.work -= part;
    }
    std::erase_if(debts_, [](const auto& one) { return one.second.work == 0; });
  }
  if (debts_.empty()) change_ = 0;
  std::ranges::sort(in_order);
  return in_order;
}

NamespaceDebts::Charge NamespaceDebts::charge(const std::string& name_space, std::int64_t work) {
  const std::int64_t owed = work - credit_ / kFreeParts;
  if (owed <= 0) return {};
  Debt& debt = debts_[name_space];
  debt.work = std::max(debt.work, std::min(debt.work, credit_) + owed);
  const bool falls_behind = debt.work > credit_ && !debt.was_behind;
  debt.was_behind |= falls_behind;
  return {.owed = owed, .falls_behind = falls_behind};
}

std::int64_t NamespaceDebts::debt(const std::string& name_space) const {
  const auto found = debts_.find(name_space);
  return found == debts_.end() ? 0 : found->second.work;
}

}  // namespace gang::scheduler
