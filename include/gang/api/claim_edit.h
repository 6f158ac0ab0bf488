// Claims in protobuf with what a write changes, as bodies of a PUT.
//
// The server compares what a write leaves alone byte by byte, and has read it back from JSON of its
// own making by then. Where that is no longer what was stored, a PATCH is refused, and the claim as
// it was read in protobuf is sent back instead. Every byte that the write does not mean stays,
// known or not; the preconditions are those of the PATCH. Source: decision 0023.
#pragma once

#include <string>
#include <string_view>

#include "gang/api/claim_write.h"
#include "gang/base/result.h"

namespace gang::api {

/// The claim that was read with what the patch writes. Fails with kConflict when it is another
/// claim or another version than the patch means, with kInvalidArgument when the bytes are no
/// claim.
[[nodiscard]] Result<std::string> edit_claim(std::string_view claim, const ClaimPatch& patch);

/// The same with its reservations. REQUIRES: the patch keeps the allocation.
[[nodiscard]] Result<std::string> edit_claim_status(std::string_view claim,
                                                    const ClaimStatusPatch& patch);

}  // namespace gang::api
