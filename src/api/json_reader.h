// JsonReader: typed reads from a JsonView that remember the first thing that was wrong.
//
// Decoders read on after a wrong field and get its default, so that what is readable is known; who
// made the reader asks problem() at the end. Absent and null give the default without complaint.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json_tree.h"
#include "gang/api/meta.h"
#include "gang/api/resources.h"

namespace gang::api {

/// Lives for one object. One thread. Never throws.
class JsonReader {
 public:
  explicit JsonReader(std::string problem = {}) : problem_(std::move(problem)) {}

  /// Empty, or the first "spec.x: <why>; <mend>".
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Remembers `why` for the field unless there is a problem already.
  void refuse(JsonView field, std::string_view why);

  /// The member of an object; refuses a value that is no object.
  [[nodiscard]] JsonView at(JsonView object, std::string_view key);
  /// First element of a list, to be walked with next(); refuses a value that is no list.
  [[nodiscard]] JsonView first(JsonView list);

  [[nodiscard]] std::string text(JsonView value);
  [[nodiscard]] bool flag(JsonView value);
  [[nodiscard]] std::int32_t int32(JsonView value, std::int32_t fallback);
  [[nodiscard]] std::int64_t int64(JsonView value, std::int64_t fallback);
  [[nodiscard]] std::optional<TimePoint> time(JsonView value);
  [[nodiscard]] std::vector<std::string> texts(JsonView list);
  [[nodiscard]] StringMap string_map(JsonView object);
  /// Refuses the first entry that is no quantity and goes on without it.
  [[nodiscard]] ResourceList resources(JsonView object);
  /// Number or string; nothing when it is no quantity (why is set then).
  [[nodiscard]] static std::optional<Quantity> quantity(JsonView value, std::string& why);

  // Members by name, for the frequent cases.
  [[nodiscard]] std::string text(JsonView object, std::string_view key) {
    return text(at(object, key));
  }
  [[nodiscard]] bool flag(JsonView object, std::string_view key) { return flag(at(object, key)); }
  /// Nothing when absent.
  [[nodiscard]] std::optional<std::string> optional_text(JsonView object, std::string_view key);

 private:
  /// A whole number of 32 or 64 bits.
  template <class Int>
  [[nodiscard]] Int whole_number(JsonView value, Int fallback);

  std::string problem_;
};

/// Sorts by name and keeps the last of equal names, as a JSON object means it.
template <class Value>
void sort_named(std::vector<std::pair<std::string, Value>>& map) {
  std::stable_sort(map.begin(), map.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto kept = std::unique(map.rbegin(), map.rend(),
                                [](const auto& a, const auto& b) { return a.first == b.first; });
  map.erase(map.begin(), kept.base());
}

}  // namespace gang::api
