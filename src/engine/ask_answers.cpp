#include "engine/ask_answers.h"

#include <algorithm>

namespace gang::engine {

std::uint32_t AskAnswers::number_of(const api::DeviceClass& device_class,
                                    const std::vector<api::DeviceSelector>& selectors) {
  const auto known = std::ranges::find_if(asks_, [&](const Ask& ask) {
    return ask.device_class == &device_class && ask.selectors == selectors;
  });
  const auto number = static_cast<std::uint32_t>(known - asks_.begin());
  if (known == asks_.end()) asks_.push_back({&device_class, selectors});
  return number;
}

std::vector<DeviceAnswer>& AskAnswers::of(const api::ResourceSlice& slice, std::uint32_t number) {
  std::vector<Row>& rows = rows_[&slice];
  const auto known = std::ranges::find(rows, number, &Row::ask);
  if (known != rows.end()) return known->answers;
  Row& made = rows.emplace_back(Row{.ask = number, .answers = {}});
  made.answers.resize(slice.devices.size(), DeviceAnswer::kUnknown);
  return made.answers;
}

void AskAnswers::clear() {
  rows_.clear();
  asks_.clear();
}

}  // namespace gang::engine
