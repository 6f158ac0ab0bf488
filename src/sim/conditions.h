// Conditions as the server merges them: one of each type.
#pragma once

#include <algorithm>
#include <vector>

#include "gang/api/meta.h"

namespace gang::sim {

inline void merge(std::vector<api::Condition>& conditions, const api::Condition& condition) {
  const auto same = [&](const api::Condition& c) { return c.type == condition.type; };
  const auto at = std::find_if(conditions.begin(), conditions.end(), same);
  if (at == conditions.end()) {
    conditions.push_back(condition);
  } else {
    *at = condition;
  }
}

}  // namespace gang::sim
