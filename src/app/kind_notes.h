// KindNotes: says once what it means when a kind is not served or may not be listed.
//
// Fed with every delta of the owner thread; answers with a note only when the state of a kind
// changes. Pure; one thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "gang/api/delta.h"

namespace gang::app {

enum class KindState { kListing, kServed, kUnserved, kForbidden };

/// A change worth a log line.
struct KindNote {
  api::Kind kind = api::Kind::kPod;
  KindState state = KindState::kListing;
  std::string message;
};

/// See the head of the file.
class KindNotes {
 public:
  std::optional<KindNote> observe(const api::Delta& delta);
  /// Names of kinds that were not listed yet, or may not be, comma separated.
  [[nodiscard]] std::string missing() const;

 private:
  std::map<api::Kind, KindState> states_;
};

}  // namespace gang::app
