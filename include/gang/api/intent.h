// Intent: the durable copy of a round that writes more than bindings, in one ConfigMap.
//
// Written before the first of these writes and deleted after the last, so that whoever comes next
// finds every object that the round may have touched. Unknown fields are ignored; another format is
// refused and its ConfigMap left alone. What is read is not trusted: uids are compared again before
// anything is undone. Source: the commit protocol, 5.1. Values only, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gang/api/claim_write.h"
#include "gang/api/meta.h"
#include "gang/base/time.h"

namespace gang::api {

inline constexpr std::int32_t kIntentFormat = 1;
/// Label that all ConfigMaps of intents carry, so that nothing else is listed.
inline constexpr std::string_view kIntentLabel = "gang-scheduler.dev/kind";
inline constexpr std::string_view kIntentLabelValue = "intent";

/// A request without definite answer may still be executed for so long after it was sent: the
/// server ends a mutating request after 34 s, the rest is for the way.
inline constexpr Duration kExecutableFor = std::chrono::seconds(40);
/// Condition of a pod that was changed so that every older Binding of it must fail.
inline constexpr std::string_view kFenced = "gang-scheduler.dev/Fence";

enum class IntentPhase {
  kClaiming,   ///< claims and bindings are being written
  kCommitted,  ///< the gang has its minimum; only the end is open
  kAborting,   ///< nothing is bound; claims are being given back
};

/// A pod that the round binds.
struct IntentMember {
  ObjectKey pod;
  Uid uid;
  std::string node_name;
  friend bool operator==(const IntentMember&, const IntentMember&) = default;
};

/// A claim that the round writes.
struct IntentClaim {
  ObjectKey claim;
  Uid uid;
  bool allocates = false;  ///< the round sets its allocation, not only a reservation
  /// Not empty: the round makes the claim, for this member. Then the claim may have no uid here.
  Uid made_for = {};
  /// Not empty: it is no claim of a round, and was reserved for nobody in that version; in that one
  /// alone its devices go. In no ConfigMap.
  ResourceVersion left_at = {};
  friend bool operator==(const IntentClaim&, const IntentClaim&) = default;
};

/// See the head of the file.
struct Intent {
  ObjectKey gang;  ///< of the PodGroup, or of the lone pod
  Uid gang_uid;
  std::int32_t minimum = 1;
  std::int32_t base = 0;
  std::int32_t need = 0;
  std::string epoch;  ///< of the process that wrote it
  std::string stamp;  ///< of the round: pods that it bound carry it
  IntentPhase phase = IntentPhase::kClaiming;
  std::vector<IntentMember> members;
  std::vector<IntentClaim> claims;
  friend bool operator==(const Intent&, const Intent&) = default;
};

/// An intent as it was found in its ConfigMap.
struct StoredIntent {
  Intent intent;
  ObjectMeta meta;      ///< of the ConfigMap; without uid: there is none, the objects alone told it
  std::string problem;  ///< not empty: it cannot be read, and of `intent` only gang_uid is known
  friend bool operator==(const StoredIntent&, const StoredIntent&) = default;
};

/// "intent-<gang uid>".
[[nodiscard]] std::string intent_name(const Uid& gang);

/// The ConfigMap, with the version where it is to be updated.
[[nodiscard]] ConfigMap to_config_map(const Intent& intent, const std::string& name_space,
                                      const ResourceVersion& version = {});

/// Fails on another format, and on data that is no intent of the gang that the name says.
[[nodiscard]] Result<Intent> intent_from(const ConfigMap& map);

/// The intent of a ConfigMap with that label; what cannot be read has a problem.
[[nodiscard]] StoredIntent stored_intent_from(const ConfigMap& map);

}  // namespace gang::api
