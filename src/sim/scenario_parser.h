// The text form of a scenario: blocks of command, "----", expected output; words, ranges, options.
//
// Pure functions over text; knows nothing of what commands mean.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gang/base/result.h"
#include "gang/base/time.h"

namespace gang::sim {

/// One block of a scenario file.
struct Block {
  int line = 0;  ///< of the command, from 1
  std::string command;
  std::vector<std::string> expected;
};

/// A scenario file: the leading comment, then blocks.
struct ScenarioText {
  std::vector<std::string> comment;  ///< with their "#"
  std::vector<Block> blocks;
};

/// A byte-order mark, carriage returns and blanks behind a "----" are read over. Fails with the
/// line on a text that has no such form, that is no text (a control character), or that is
/// larger than 16 MiB.
[[nodiscard]] Result<ScenarioText> parse_scenario(std::string_view text);

/// The file again, with `outputs[i]` as the expected output of block i.
[[nodiscard]] std::string format_scenario(const ScenarioText& scenario,
                                          const std::vector<std::vector<std::string>>& outputs);

/// Inclusive limits of a number.
struct Range {
  int low;
  int high;
};

/// The most names that one range, or one command, may stand for.
inline constexpr int kNamesMax = 100'000;

/// A command taken apart: verb, bare words, key=value options in order.
class Command {
 public:
  [[nodiscard]] static Result<Command> parse(const std::string& line);

  [[nodiscard]] const std::string& verb() const { return verb_; }
  [[nodiscard]] const std::vector<std::string>& words() const { return words_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& options() const {
    return options_;
  }
  /// The option's value, or null.
  [[nodiscard]] const std::string* option(std::string_view key) const;
  [[nodiscard]] bool has_word(std::string_view word) const;
  /// A whole number option with a default; fails with the option's name on anything else, and on
  /// a number outside of `range`.
  [[nodiscard]] Result<int> number(std::string_view key, int otherwise, Range range) const;

 private:
  std::string verb_;
  std::vector<std::string> words_;
  std::vector<std::pair<std::string, std::string>> options_;
};

/// "n[1-3]" is n1 n2 n3, "n[08-10]" keeps the width; a name without brackets is itself.
[[nodiscard]] Result<std::vector<std::string>> expand_names(const std::string& pattern);

/// A time span from 0s to a year.
[[nodiscard]] Result<Duration> parse_span(const std::string& text);

/// A decimal number that fits into 32 bits.
[[nodiscard]] std::optional<int> parse_number(std::string_view text);

}  // namespace gang::sim
