// Stamp: what a Binding writes on a pod so that whoever reads it later knows the round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gang::scheduler {

/// The fields of a stamp. Value. Text: "round=<round>;need=<n>;minimum=<n>;plan=<hash>".
struct Stamp {
  std::string round;         ///< "<epoch>-<number>"
  std::int32_t need = 0;     ///< members that the round had to bind
  std::int32_t minimum = 1;  ///< bound members that make the gang whole
  std::string plan;          ///< engine::plan_hash of the round's first plan

  /// Whether the round began with nothing bound.
  [[nodiscard]] bool from_nothing() const { return need == minimum; }
  [[nodiscard]] std::string text() const;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// Reads a stamp; nullopt for anything that text() does not write.
[[nodiscard]] std::optional<Stamp> parse_stamp(std::string_view text);

}  // namespace gang::scheduler
