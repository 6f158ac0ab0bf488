#include "binder/undo_watch.h"

#include <algorithm>
#include <utility>

namespace gang::binder {
namespace {

constexpr Duration kPauseMax = std::chrono::minutes(10);

}  // namespace

UndoWatch::UndoWatch(Channel& channel, std::function<std::string()> trouble,
                     std::function<void(const std::string&)> tell)
    : channel_(channel),
      trouble_(std::move(trouble)),
      tell_(std::move(tell)),
      pause_(channel.options().slow_round) {}

void UndoWatch::look_later() {
  channel_.after(pause_, lifeline_.guard([this] { look(); }));
  pause_ = std::min(2 * pause_, kPauseMax);
}

void UndoWatch::look() {
  const std::string trouble = trouble_();
  if (!trouble.empty() && trouble != told_) {
    told_ = trouble;
    tell_(trouble);
  }
  look_later();
}

}  // namespace gang::binder
