// CHECK: our own broken invariants. Always on, in every build; never for input.
//
// A failing CHECK prints the expression with file and line to stderr and aborts: continuing with a
// broken ledger would over-commit nodes. Any thread.
#pragma once

namespace gang {

/// Prints "CHECK failed: <expression> at <file>:<line>" and aborts.
[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace gang

#define CHECK(expression) \
  ((expression) ? static_cast<void>(0) : ::gang::check_failed(#expression, __FILE__, __LINE__))
