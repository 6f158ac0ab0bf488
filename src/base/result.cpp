#include "gang/base/result.h"

namespace gang {

const char* code_name(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid_argument";
    case Code::kNotFound:
      return "not_found";
    case Code::kAlreadyExists:
      return "already_exists";
    case Code::kConflict:
      return "conflict";
    case Code::kPermissionDenied:
      return "permission_denied";
    case Code::kUnauthenticated:
      return "unauthenticated";
    case Code::kResourceExhausted:
      return "resource_exhausted";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kUnknownOutcome:
      return "unknown_outcome";
    case Code::kUnimplemented:
      return "unimplemented";
    case Code::kInternal:
      return "internal";
  }
  return "internal";
}

tl::unexpected<Error> in_context(const std::string& where, Error error) {
  error.message.insert(0, where + ": ");
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace gang
