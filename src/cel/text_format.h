// string.format(): %s %d %f %e %b %x %X %o with a precision, as upstream's version 2 in en_US.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cel/frame.h"

namespace gang::cel {

/// One clause of a format: its letter and its precision, if it has one.
struct FormatClause {
  char letter = 's';
  std::optional<int> precision;
};

/// Reads a format: literal text goes to `text`, clauses to `clause`, which returns an error text or
/// nothing. Returns the first error.
using ClauseSink = std::function<std::string(const FormatClause&)>;
[[nodiscard]] std::string read_format(std::string_view format, std::string& text,
                                      const ClauseSink& clause);

/// What a clause says of a type that it cannot show.
[[nodiscard]] std::string format_type_error(char letter, std::string_view type);

/// The text, or an error.
[[nodiscard]] Value format_text(Frame& frame, std::string_view format, const Value& args);

}  // namespace gang::cel
