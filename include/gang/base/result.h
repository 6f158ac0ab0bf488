// Result<T>: a value, or an Error with a canonical code. The only way an expected failure travels.
//
// Three kinds of "no" are never mixed: Result is for what the outside world may do (bad input, a
// refused request); an unschedulable gang is an engine::Explanation; a broken invariant of our own
// is CHECK. Values only, no threads, no allocation beyond the message.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace gang {

/// Canonical failure codes, named as in gRPC and absl::Status.
enum class Code {
  kInvalidArgument,  ///< input breaks a rule; the message names object, field and mend
  kNotFound,
  kAlreadyExists,
  kConflict,  ///< a precondition on UID or resourceVersion did not hold
  kPermissionDenied,
  kUnauthenticated,
  kResourceExhausted,  ///< a limit with a name was reached
  kUnavailable,        ///< may work later; nothing was done
  kUnknownOutcome,     ///< sent, but it is not known whether it was executed
  kUnimplemented,      ///< not served, or a rule that is not built
  kInternal,
};

/// Short stable name of a code, for logs and metrics.
[[nodiscard]] const char* code_name(Code code);

/// Why something failed. The message is one sentence for a person: object, field, mend.
struct Error {
  Code code = Code::kInternal;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

/// An Error in the form a function returning Result can return directly.
[[nodiscard]] inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Returns `error` with `where` put before its message ("pod ns/a: spec.priority: ...").
[[nodiscard]] tl::unexpected<Error> in_context(const std::string& where, Error error);

}  // namespace gang

/// Evaluates a Result expression; on failure returns its error from the enclosing function,
/// else stores the value in `var` (a declaration or an lvalue).
#define GANG_TRY_CONCAT_(a, b) a##b
#define GANG_TRY_NAME_(a, b) GANG_TRY_CONCAT_(a, b)
#define GANG_TRY(var, expr) GANG_TRY_IMPL_(GANG_TRY_NAME_(gang_try_, __LINE__), var, expr)
#define GANG_TRY_IMPL_(tmp, var, expr)                                    \
  auto tmp = (expr);                                                      \
  if (!tmp) return tl::unexpected<::gang::Error>(std::move(tmp).error()); \
  var = *std::move(tmp)

/// The same for Result<void>.
#define GANG_TRY_VOID(expr)                                                                     \
  do {                                                                                          \
    auto gang_try_void = (expr);                                                                \
    if (!gang_try_void) return tl::unexpected<::gang::Error>(std::move(gang_try_void).error()); \
  } while (false)
