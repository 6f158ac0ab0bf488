// What a call costs when it is evaluated, in upstream's units.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cel/frame.h"
#include "gang/cel/value.h"

namespace gang::cel {

/// How the cost of a call is computed. The numbers: docs/devices.md.
enum class CostRule : std::uint8_t {
  kOne,
  kTraversal,  ///< of the first argument, deeply
  kScanFirst,  ///< a tenth of the size of the first argument
  kScanSecond,
  kScanTwice,  ///< a fifth
  kScanResultTwice,
  kShorter,   ///< a tenth of the smaller size
  kEquality,  ///< kShorter, or one for the objects of Kubernetes
  kConcatenation,
  kSizeOfSecond,
  kRegex,
  kContains,
  kContainsIp,
  kContainsIpText,
  kContainsCidr,
  kContainsCidrText,
  kValidate,
  kListOfResult,  ///< a new list of the size of the result
  kFlatten,
  kSelfCompareFirst,  ///< square of the first list
  kSelfCompareSecond,
  kSets,
  kSetsTwice,
  kAuthorization,
  kSelector,
};

/// REQUIRES: `overload` is empty where more than one fits.
[[nodiscard]] CostRule cost_rule(std::string_view function, std::string_view overload);

[[nodiscard]] std::uint64_t call_cost(Frame& frame, CostRule rule, std::span<const Value> args,
                                      const Value& result);

/// Code points of text, bytes, entries; 1 for what has no size.
[[nodiscard]] std::uint64_t size_of(const Value& value);

}  // namespace gang::cel
