// KindNotes: says once what it means when a kind is not served or may not be listed.
//
// Fed with every delta of the owner thread; answers with a note only when the state of a kind
// changes. That a kind is not served is said only once some kind was listed or refused: a server
// that serves nothing is no API server. Pure; one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/delta.h"

namespace gang::app {

enum class KindState { kNotListed, kServed, kUnserved, kForbidden };

/// A change of state; without a message it is no line of the log.
struct KindNote {
  api::Kind kind = api::Kind::kPod;
  KindState state = KindState::kNotListed;
  std::string message;
};

/// See the head of the file.
class KindNotes {
 public:
  std::vector<KindNote> observe(const api::Delta& delta);
  /// Of all watches of that name: pods are watched twice, and the worse state counts.
  [[nodiscard]] KindState state(std::string_view kind_name) const;
  /// "Pod: forbidden, Node: not listed yet": the kinds that are neither served nor known as absent.
  [[nodiscard]] std::string missing() const;

 private:
  [[nodiscard]] KindState state_of(api::Kind kind) const;

  void release(std::vector<KindNote>& notes);

  std::map<api::Kind, KindState> states_;
  std::set<api::Kind> held_;  ///< unserved, which is not said yet
  bool is_api_server_ = false;
};

}  // namespace gang::app
