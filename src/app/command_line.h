// The command line and the standard output of a program: what both programs say to wrong words, and
// to output that is lost. Used by the two mains, from their only thread; the parser behind it is
// seen by nobody else.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gang::app {

/// The exit code for a wrong command line and for lost output.
inline constexpr int kExitUsage = 2;

/// Names and help of one word.
struct Word {
  std::string name;
  std::string help;
};

/// The words that a program takes. Everything given by reference outlives parse().
class CommandLine {
 public:
  CommandLine(const std::string& program, const std::string& about, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Words defined from now on belong to that command, which must be given.
  void command(const Word& word);
  void option(const Word& word, std::function<void(const std::string&)> set);
  /// An option that names a file: empty is the trace of a variable that was not set, never a wish,
  /// and is refused with `mend`.
  void path(const Word& word, std::function<void(const std::string&)> set, const std::string& mend);
  void flag(const Word& word, bool& set);
  /// All words that are no options; at least one.
  void rest(const Word& word, std::vector<std::string>& set);

  /// An exit code says that the program ends with it: help was asked for, or a word is wrong and
  /// one line on standard error says which and what to write.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// `code`, or kExitUsage with a line on standard error where standard output has not taken all.
[[nodiscard]] int end_output(const std::string& program, int code);

}  // namespace gang::app
