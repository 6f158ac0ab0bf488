// The state of one evaluation: memory, variables, cost and the limits that end it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cel/arena.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// The variables of one comprehension while it runs.
struct FoldSlot {
  Value accumulated;
  Value first;
  Value second;
  bool has_begun =
      false;  ///< the accumulator holds its initial value; it is computed when first read
  bool is_growing = false;  ///< and that value is a list or map that steps append to
};

/// A value that a later step may be charged for, with the node that made it.
struct Observed {
  Value value;
  std::int64_t id = 0;
};

/// The stack of upstream's cost tracker. Many values are never asked for and stay to the end, so it
/// counts what it holds of each node: nobody searches the whole stack for what is not there.
class ObservedStack {
 public:
  void clear() {
    for (const Observed& one : values_) --count_of(one.id);
    values_.clear();
  }
  void push(const Value& value, std::int64_t id) {
    values_.push_back({value, id});
    ++count_of(id);
  }
  /// The newest value of this node; takes it off with everything after it, if it is there.
  std::optional<Value> take(std::int64_t id) {
    if (count_of(id) == 0) return std::nullopt;
    while (true) {
      const Observed last = values_.back();
      values_.pop_back();
      --count_of(last.id);
      if (last.id == id) return last.value;
    }
  }

 private:
  std::uint32_t& count_of(std::int64_t id) {
    const auto at = static_cast<std::size_t>(id);
    if (at >= counts_.size()) counts_.resize(at + 1);
    return counts_[at];
  }

  std::vector<Observed> values_;
  std::vector<std::uint32_t> counts_;  ///< by node; numbers of nodes are small and not negative
};

/// One evaluation. Steps tell their values to observe() as upstream's cost tracker is told, on the
/// same stack, so that costs come out equal, its oddities included.
struct Frame {
  Arena arena;
  Value device;
  std::vector<FoldSlot> slots;
  ObservedStack stack;
  std::vector<Value> args;             ///< of calls in flight
  const class Regex* regex = nullptr;  ///< the constant pattern of the call in flight, compiled
  std::uint64_t cost = 0;
  std::uint64_t cost_max = 0;
  std::uint64_t work = 0;
  bool is_cancelled = false;

  void begin(const Value& root, std::uint64_t limit, std::size_t slot_count) {
    arena.reset();
    device = root;
    slots.assign(slot_count, FoldSlot{});
    stack.clear();
    args.clear();
    cost = 0;
    cost_max = limit;
    work = 0;
    is_cancelled = false;
  }

  void observe(const Value& value, std::int64_t id) {
    stack.push(value, id);
    ++work;
    if (cost > cost_max || work > kWorkMax) is_cancelled = true;
  }
  /// Drops the newest value of this node and everything after it; false: it is not there.
  bool drop(std::int64_t id) { return stack.take(id).has_value(); }

  /// Counts work, which takes about as long as a step of the expression for each unit, whatever
  /// upstream charges for it. False: too much, give up.
  bool spend(std::uint64_t units) {
    work += units;
    if (work > kWorkMax) is_cancelled = true;
    return !is_cancelled;
  }
  /// Counts the reading of texts, as nearly every function does with its arguments.
  void count_texts(std::span<const Value> values) {
    for (const Value& value : values) {
      if (value.is(Kind::kString) || value.is(Kind::kBytes)) work += value.extent() / 8;
    }
  }
  /// Whether so many bytes may still be made.
  bool has_room(std::uint64_t bytes) {
    if (bytes > kMemoryMax || arena.total() + bytes > kMemoryMax) is_cancelled = true;
    return !is_cancelled;
  }
  /// The same of bytes that are written now.
  bool may_allocate(std::uint64_t bytes) { return has_room(bytes) && spend(bytes / 16); }

  Value fail(std::string_view message) { return Value::error(arena.copy(message)); }
  Value string(std::string_view text) {
    if (!may_allocate(text.size())) return cancelled();
    return Value::string(arena.copy(text));
  }
  static Value cancelled() {
    return Value::error("operation cancelled: actual cost limit exceeded");
  }
  static Value no_overload() { return Value::error("no such overload"); }

 private:
  static constexpr std::uint64_t kWorkMax = 20'000'000;
  static constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 20U;
};

}  // namespace gang::cel
