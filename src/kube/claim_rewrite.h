// ClaimRewriter: the second way of a write that a claim refuses in JSON.
//
// Problem: the server keeps opaque parameters as the very bytes that a client sent, and compares
// them byte by byte where they may not change. To apply a PATCH it writes the claim as JSON and
// reads it back: without blanks, with "<", ">" and "&" escaped. What was stored otherwise has then
// changed, and the write is refused for a field that it does not touch.
//
// Idea: such a refusal, and no other, is followed by a GET of the claim in protobuf, where the
// bytes stay what they are, and by a PUT of it with the one change. The claim must still be of the
// uid and the version that the PATCH meant, and the PUT carries both, so the whole is the same
// compare-and-swap. A refusal that was meant otherwise is refused again: nothing is lost but two
// requests. What the server answers is never asked for twice.
#pragma once

#include <memory>

#include "gang/kube/claim_client.h"
#include "kube/requests.h"

namespace gang::kube {

/// Ends the requests of a client. Owned by it with the Requests; no rewriting begins after its end.
/// What it hands out runs on the transport thread.
class ClaimRewriter {
 public:
  /// The body of the PUT from what the GET has read.
  using Edit = std::function<Result<std::string>(std::string_view claim)>;

  explicit ClaimRewriter(const Requests& requests);
  ~ClaimRewriter();
  ClaimRewriter(const ClaimRewriter&) = delete;
  ClaimRewriter& operator=(const ClaimRewriter&) = delete;

  /// What to call at the end of a PATCH of the claim at `path`, or of its `part` ("/status").
  [[nodiscard]] Finish after_patch(const std::string& path, const std::string& part, Edit edit,
                                   ClaimDone done) const;

 private:
  class Link;

  const Requests& requests_;
  const std::shared_ptr<const Link> link_;
};

/// Hands the claim in a JSON answer to `done`.
[[nodiscard]] Finish to_claim(ClaimDone done);

}  // namespace gang::kube
