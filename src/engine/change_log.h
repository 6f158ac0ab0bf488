// ChangeLog: which positions of a table changed, for readers who keep up with it each at their own
// pace.
//
// Bounded: a reader who comes too late learns that he has to read all. Costs nothing until somebody
// reads. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gang::engine {

/// See the head of the file.
class ChangeLog {
 public:
  /// How far somebody has read.
  using Mark = std::uint64_t;

  /// `age`: larger than that of a log that readers may take this one for; it has nothing in common
  /// with what they have read.
  explicit ChangeLog(std::uint32_t age = 0) : first_((Mark{age} << 32) + 1) {}

  void add(std::uint32_t position) {
    if (!is_read_) return;
    if (positions_.size() == kKeptMax) add_all();
    positions_.push_back(position);
  }
  /// Every position may have changed.
  void add_all() {
    first_ += positions_.size() + 1;
    positions_.clear();
  }

  /// All that is there is known to the reader; what comes later is kept for him.
  [[nodiscard]] Mark read_all() {
    is_read_ = true;
    return first_ + positions_.size();
  }
  /// What came after the mark, maybe more than once; nothing where that may be every position.
  [[nodiscard]] std::optional<std::span<const std::uint32_t>> since(Mark mark) const {
    if (mark < first_) return std::nullopt;
    return std::span(positions_).subspan(static_cast<std::size_t>(mark - first_));
  }

 private:
  static constexpr std::size_t kKeptMax = 4096;

  std::vector<std::uint32_t> positions_;
  Mark first_;  ///< of positions_; a mark of 0 has read nothing
  bool is_read_ = false;
};

}  // namespace gang::engine
