// Estimates of single calls, and the sizes that the schema of devices promises.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cel/ast.h"
#include "cel/types.h"

namespace gang::cel {

/// From least to most, in cost or size. All arithmetic saturates at 2^64-1.
struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  static constexpr Range fixed(std::uint64_t value) { return {value, value}; }
  static constexpr Range any() { return {0, UINT64_MAX}; }
  [[nodiscard]] Range operator+(const Range& other) const;
  [[nodiscard]] Range times(const Range& other) const;
  /// Rounded up.
  [[nodiscard]] Range scaled(double factor) const;
  [[nodiscard]] Range united(const Range& other) const;
};
using CostRange = Range;
using SizeRange = Range;

/// An operand of a call.
struct EstimateNode {
  const Expr* expr = nullptr;
  const Type* type = nullptr;
  std::vector<std::string_view> path;  ///< from `device`, where it leads there
  std::optional<SizeRange> size;       ///< where the expression says it
};

/// The operands of a call.
struct CallNodes {
  std::optional<EstimateNode> target;
  std::vector<EstimateNode> args;
};

/// What a call costs without its arguments, and how large its result is, if that is known.
struct CallRange {
  CostRange cost{1, 1};
  std::optional<SizeRange> result;
};

[[nodiscard]] CallRange estimate_call(std::string_view function, std::string_view overload,
                                      const CallNodes& nodes);

/// The size that the API allows for what lies at this path, if it limits it.
[[nodiscard]] std::optional<SizeRange> declared_size(const std::vector<std::string_view>& path);

}  // namespace gang::cel
