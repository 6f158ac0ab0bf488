#include "binder/group_writer.h"

#include <utility>

#include "gang/base/check.h"

namespace gang::binder {
namespace {

constexpr std::size_t kLinesMax = 16384;

}  // namespace

void GroupWriter::submit(GroupWrite write) {
  CHECK(!write.group.uid.empty());
  ++open_count_;
  write.done =
      lifeline_.guard([this, done = std::move(write.done)](const GroupWriteReport& report) {
        --open_count_;
        done(report);
      });
  line_of(write.group).submit(std::move(write));
  forget_unused();
}

void GroupWriter::drop_explanations(const api::Uid& uid) {
  const auto found = lines_.find(uid);
  if (found != lines_.end()) found->second.line->drop_explanations();
}

GroupLine& GroupWriter::line_of(const engine::GangRef& group) {
  const auto found = lines_.find(group.uid);
  if (found != lines_.end()) {
    by_use_.splice(by_use_.end(), by_use_, found->second.used);
    return *found->second.line;
  }
  const auto used = by_use_.insert(by_use_.end(), group.uid);
  auto line = std::make_unique<GroupLine>(parts_, group.key, group.uid);
  return *lines_.emplace(group.uid, Entry{std::move(line), used}).first->second.line;
}

void GroupWriter::forget_unused() {
  while (lines_.size() > kLinesMax) {
    const auto oldest = lines_.find(by_use_.front());
    if (!oldest->second.line->idle()) return;
    by_use_.pop_front();
    lines_.erase(oldest);
  }
}

}  // namespace gang::binder
