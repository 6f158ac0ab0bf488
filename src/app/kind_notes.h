// KindNotes: says once what it means when a kind is not served or may not be listed.
//
// Fed with every delta of the owner thread; answers with a note only when the state of a kind
// changes. Pure; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "gang/api/delta.h"

namespace gang::app {

enum class KindState { kNotListed, kServed, kUnserved, kForbidden };

/// A change worth a log line.
struct KindNote {
  api::Kind kind = api::Kind::kPod;
  KindState state = KindState::kNotListed;
  std::string message;
};

/// See the head of the file.
class KindNotes {
 public:
  std::optional<KindNote> observe(const api::Delta& delta);
  /// Of all watches of that name: pods are watched twice, and the worse state counts.
  [[nodiscard]] KindState state(std::string_view kind_name) const;
  /// "Pod: forbidden, Node: not listed yet": the kinds that are neither served nor known as absent.
  [[nodiscard]] std::string missing() const;

 private:
  [[nodiscard]] KindState state_of(api::Kind kind) const;

  std::map<api::Kind, KindState> states_;
};

}  // namespace gang::app
