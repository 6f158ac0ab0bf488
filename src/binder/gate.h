// Gate: asks whether a round still holds before something is sent with a version that was read.
//
// Whoever takes a round back marks its intent first and moves the versions of pods and claims then.
// So a version that is read after a refusal may be one that they moved: it is used only when a read
// of the intent that was made after it still shows the round. Source: commit protocol 5.2 P7, 5.3.
#pragma once

#include <functional>

namespace gang::binder {

/// Whether the round still holds.
enum class GateWord { kOpen, kShut, kUnanswered };
/// Asks once, and calls back once.
using Gate = std::function<void(std::function<void(GateWord)>)>;

/// Why a step ends whose gate is shut, for people.
inline constexpr const char* kTakenBack = "the round was taken back";

}  // namespace gang::binder
