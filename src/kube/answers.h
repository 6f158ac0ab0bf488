// Answers: what an HTTP answer means, for Client and Reflector alike. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gang/kube/client.h"
#include "kube/http.h"

namespace gang::kube {

/// Longest wait that a server may ask for: one answer of a proxy that means to be left alone for an
/// hour must not stop everybody's scheduling, nor keep a round open.
inline constexpr Duration kRetryAfterMax = std::chrono::seconds(30);

/// Whole seconds of a Retry-After header; dates and garbage are nothing.
[[nodiscard]] std::optional<Duration> parse_retry_after(std::string_view text);

/// The header's wait, else the Status's; capped at kRetryAfterMax.
[[nodiscard]] std::optional<Duration> retry_after_of(std::string_view header,
                                                     const api::Status& status);

/// Whether that content type is this media type, with whatever parameters.
[[nodiscard]] bool has_media_type(std::string_view content_type, std::string_view media_type);

/// Whether a 2xx answer with that content type can be one of the API server's own.
[[nodiscard]] inline bool is_json_type(std::string_view content_type) {
  return has_media_type(content_type, kJsonType);
}

/// The Status in the body of a refusal; of a page in HTML the message has the first words.
[[nodiscard]] api::Status status_of(std::string_view body);

/// Whether a 404 with this Status can be an API server's own word on a path that it does not know.
[[nodiscard]] bool is_own_absence(const api::Status& status);

/// What a status code means for the one who sent the request.
[[nodiscard]] Outcome outcome_of_status(int status);

/// The Answer to a request that ended. `body` is the whole body (or what came of it); `accept` is
/// what the request asked for.
[[nodiscard]] Answer make_answer(const HttpHead& head, std::string_view body, const HttpEnd& end,
                                 std::string_view accept = kJsonType);

}  // namespace gang::kube
