// ObjectNotes: says once what is wrong with an object that a user can mend.
//
// Fed with every delta of the owner thread. Notes objects whose fields could not be read, amounts
// of nodes that could not be read, and pods of ours that carry a label or annotation which other
// schedulers take for a gang membership and which is none here. Pure; one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>

#include "gang/api/delta.h"

namespace gang::app {

/// A line for the log.
struct ObjectNote {
  std::string object;  ///< "Node n1", "Pod ns/a"
  std::string message;
};

/// See the head of the file. Remembers at most kRememberedMax notes, then starts anew.
class ObjectNotes {
 public:
  explicit ObjectNotes(std::string scheduler_name) : scheduler_name_(std::move(scheduler_name)) {}

  std::optional<ObjectNote> observe(const api::Delta& delta);

  static constexpr std::size_t kRememberedMax = 10'000;

 private:
  std::string scheduler_name_;
  std::set<std::string> told_;
};

}  // namespace gang::app
