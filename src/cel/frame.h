// The state of one evaluation: memory, variables, cost and the limits that end it.
#pragma once

#include <cstdint>
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

/// One evaluation. Steps tell their values to observe() as upstream's cost tracker is told, on the
/// same stack, so that costs come out equal, its oddities included.
struct Frame {
  Arena arena;
  Value device;
  std::vector<FoldSlot> slots;
  std::vector<Observed> stack;
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
    stack.push_back({value, id});
    if (cost > cost_max) is_cancelled = true;
  }
  /// Drops the newest value of this node and everything after it, if it is there.
  void drop(std::int64_t id) {
    for (std::size_t i = stack.size(); i > 0; --i) {
      if (stack[i - 1].id != id) continue;
      stack.resize(i - 1);
      return;
    }
  }

  /// Counts work that upstream does not charge for, or only afterwards. False: too much, give up.
  bool spend(std::uint64_t units) {
    work += units;
    if (work > kWorkMax) is_cancelled = true;
    return !is_cancelled;
  }
  /// Whether so many bytes may still be made.
  bool may_allocate(std::uint64_t bytes) {
    if (bytes > kMemoryMax || arena.total() + bytes > kMemoryMax) is_cancelled = true;
    return !is_cancelled && spend(bytes / 16);
  }

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
