// KindSync: which kinds have been listed, and which objects of a list have been seen.
#pragma once

#include <array>
#include <cstdint>

#include "gang/api/delta.h"

namespace gang::cluster {

/// Number of a list of one kind; objects remember the last list that told of them.
using ListNumber = std::uint32_t;

/// Owned by the state. Always: an object told since the newest kListBegin of its kind carries
/// number(kind). Does not hold objects: whoever does sweeps those with another number at kListEnd.
class KindSync {
 public:
  /// Notes the marks kListBegin, kListEnd, kUnserved and kForbidden; other types change nothing.
  void note(const api::Delta& delta);

  [[nodiscard]] bool synced(api::Kind kind) const;
  [[nodiscard]] bool synced() const;
  /// False only after kUnserved, until the kind is listed.
  [[nodiscard]] bool served(api::Kind kind) const;
  [[nodiscard]] ListNumber number(api::Kind kind) const { return at(kind).number; }

 private:
  enum class Stage : std::uint8_t { kUnknown, kListing, kListed, kUnserved, kForbidden };
  /// State of one kind.
  struct KindState {
    Stage stage = Stage::kUnknown;
    ListNumber number = 0;
  };

  [[nodiscard]] const KindState& at(api::Kind kind) const {
    return kinds_[static_cast<std::size_t>(kind)];
  }

  std::array<KindState, api::kKindCount> kinds_;
};

}  // namespace gang::cluster
