// Faults that a scenario arms for the writes of one object. Values only.
#pragma once

namespace gang::sim {

/// What happens to one write instead of the ordinary course.
enum class RequestFault {
  kConflict,         ///< 409 although nothing changed
  kServerError,      ///< 500, not executed
  kLostNotExecuted,  ///< time-out, not executed
  kLostExecuted,     ///< time-out, executed
  kLate,             ///< time-out, executed 10 s later if it still may be
  kThrottled,        ///< 429, not executed
  kForbidden,        ///< 403; 422 with a Forbidden cause for the status of a claim
};

/// Whose writes a fault is armed for: Bindings of a pod, writes of its status, of a claim, of a
/// ConfigMap.
enum class FaultTarget { kBinding, kPodStatus, kClaim, kConfigMap };

/// Faults armed for one object.
struct ArmedFault {
  RequestFault fault = RequestFault::kConflict;
  int count = 1;  ///< of its next writes
  int skip = 0;   ///< writes that take their course before
};

}  // namespace gang::sim
