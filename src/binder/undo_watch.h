// UndoWatch: says what keeps an undo from going on.
//
// Problem: an undo is tried until the server takes it, however long that is; meanwhile its gang
// waits and nobody knows why. Idea: what it meets is looked at after Options::slow_round, and
// then in pauses that double up to ten minutes; it is told when it is not what was told last.
#pragma once

#include <functional>
#include <string>

#include "binder/channel.h"
#include "binder/lifeline.h"

namespace gang::binder {

/// See the head of the file. Owned by the undo that it watches, and ends with it; binder's thread
/// only.
class UndoWatch {
 public:
  /// `trouble`: what the undo meets now, "" while it goes on. `tell` hears it.
  UndoWatch(Channel& channel, std::function<std::string()> trouble,
            std::function<void(const std::string&)> tell);

  void start() { look_later(); }
  [[nodiscard]] bool has_told() const { return !told_.empty(); }

 private:
  void look_later();
  void look();

  Channel& channel_;
  const std::function<std::string()> trouble_;
  const std::function<void(const std::string&)> tell_;
  std::string told_;
  Duration pause_;
  Lifeline lifeline_;
};

}  // namespace gang::binder
