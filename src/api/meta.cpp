#include "gang/api/meta.h"

#include <algorithm>

namespace gang::api {

bool ResourceVersion::comparable() const {
  return !text.empty() && text.front() != '0' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_newer(const ResourceVersion& a, const ResourceVersion& b) {
  if (a.text.size() != b.text.size()) return a.text.size() > b.text.size();
  return a.text > b.text;
}

std::string ObjectKey::text() const {
  return name_space.empty() ? name : name_space + "/" + name;
}

const std::string* find(const StringMap& map, std::string_view key) {
  const auto at = std::lower_bound(
      map.begin(), map.end(), key,
      [](const auto& entry, std::string_view wanted) { return entry.first.compare(wanted) < 0; });
  return at != map.end() && at->first == key ? &at->second : nullptr;
}

std::string_view status_text(ConditionStatus status) {
  switch (status) {
    case ConditionStatus::kTrue:
      return "True";
    case ConditionStatus::kFalse:
      return "False";
    case ConditionStatus::kUnknown:
      return "Unknown";
  }
  return "Unknown";
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto at = std::find_if(conditions.begin(), conditions.end(),
                               [&](const Condition& c) { return c.type == type; });
  return at != conditions.end() ? &*at : nullptr;
}

}  // namespace gang::api
