// Answers of the API server in memory.
#pragma once

#include <string>
#include <utility>

#include "gang/kube/client.h"

namespace gang::sim {

inline constexpr int kConflictStatus = 409;
inline constexpr int kInvalidStatus = 422;

[[nodiscard]] inline kube::Answer answer(kube::Outcome outcome, int status,
                                         std::string message = "") {
  return kube::Answer{outcome, status, std::move(message)};
}

[[nodiscard]] inline kube::Answer accepted(int status) {
  return answer(kube::Outcome::kOk, status);
}

[[nodiscard]] inline kube::Answer not_found(const std::string& what) {
  constexpr int kNotFoundStatus = 404;
  return answer(kube::Outcome::kNotFound, kNotFoundStatus, what + " not found");
}

[[nodiscard]] inline kube::Answer conflict(std::string message) {
  return answer(kube::Outcome::kConflict, kConflictStatus, std::move(message));
}

[[nodiscard]] inline kube::Answer invalid(std::string message) {
  return answer(kube::Outcome::kInvalid, kInvalidStatus, std::move(message));
}

[[nodiscard]] inline kube::Answer lost() {
  return answer(kube::Outcome::kUnknown, 0, "request timed out");
}

}  // namespace gang::sim
