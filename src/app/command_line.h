// The command line and the standard output of a program: what both programs say to wrong words, and
// to output that is lost. Used by the two mains, from their only thread.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace gang::app {

/// The exit code for a wrong command line and for lost output.
inline constexpr int kExitUsage = 2;

/// Parses the words into what `app` binds. An exit code says that the program ends with it: help
/// was asked for, or a word is wrong and one line on standard error says which and what to write.
[[nodiscard]] std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv);

/// `code`, or kExitUsage with a line on standard error where standard output has not taken all.
[[nodiscard]] int end_output(const std::string& program, int code);

}  // namespace gang::app
