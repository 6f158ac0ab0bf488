#include "app/command_line.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numeric>
#include <utility>
#include <vector>

namespace gang::app {

namespace {

constexpr std::size_t kSlipsMax = 2;  ///< a word with more of them is another word

/// Letters to insert, drop or change until `from` is `to`.
std::size_t slips(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t changed = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

/// Names of options and commands; those of a command too where it was given.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) words.push_back(option->get_name());
  for (const CLI::App* command : app.get_subcommands({})) {
    words.push_back(command->get_name());
    if (!command->parsed()) continue;
    for (const std::string& word : known_words(*command)) words.push_back(word);
  }
  return words;
}

std::string unknown_word(const CLI::App& app, std::string word) {
  const bool is_option = word.starts_with("-");
  if (is_option) word = word.substr(0, word.find('='));
  std::string near;
  std::size_t least = kSlipsMax + 1;
  for (const std::string& known : known_words(app)) {
    const std::size_t distance = slips(word, known);
    if (distance < least) near = ", did you mean " + known + "?";
    least = std::min(least, distance);
  }
  const bool is_command = !app.get_subcommands({}).empty() && app.get_subcommands().empty();
  if (is_option) return "there is no option " + word + near + "; see --help";
  if (is_command) return "there is no command " + word + near + "; see --help";
  return "\"" + word + "\" is a word too many; see --help";
}

/// One line for a wrong command line: the first word that is wrong, and the mend.
std::string told(const CLI::App& app, const CLI::Error& error) {
  const std::string problem = error.what();
  std::vector<std::string> unknown = app.remaining(true);
  std::erase(unknown, "--");
  if (!unknown.empty()) return unknown_word(app, unknown.front());
  if (error.get_name() == "ValidationError") return problem;
  if (error.get_name() != "ArgumentMismatch") return problem + "; see --help";
  const std::string name = problem.substr(0, problem.find(':'));
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option != nullptr && option->count() > 1) return name + " is there twice; write it once";
  return name + " needs a value; see --help";
}

/// The words in the order of CLI11, the last first. "--option=" is an empty value: CLI11 would take
/// the next word for it.
std::vector<std::string> reversed_words(int argc, char** argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    const bool is_empty_value = word.starts_with("--") && word.find('=') == word.size() - 1;
    if (is_empty_value) word.pop_back();
    words.push_back(std::move(word));
    if (is_empty_value) words.emplace_back();
  }
  std::reverse(words.begin(), words.end());
  return words;
}

}  // namespace

class CommandLine::Impl {
 public:
  Impl(const std::string& program, const std::string& about, std::string said_version)
      : version(std::move(said_version)), app(about, program) {}
  const std::string version;
  CLI::App app;
  CLI::App* current = &app;  ///< where words are defined
};

CommandLine::CommandLine(const std::string& program, const std::string& about,
                         const std::string& version)
    : impl_(std::make_unique<Impl>(program, about, version)) {}

CommandLine::~CommandLine() = default;

void CommandLine::command(const Word& word) {
  impl_->app.require_subcommand(1);
  impl_->current = impl_->app.add_subcommand(word.name, word.help);
}

void CommandLine::option(const Word& word, std::function<void(const std::string&)> set) {
  impl_->current->add_option_function<std::string>(word.name, std::move(set), word.help);
}

void CommandLine::path(const Word& word, std::function<void(const std::string&)> set,
                       const std::string& mend) {
  impl_->current->add_option_function<std::string>(word.name, std::move(set), word.help)
      ->check([mend](const std::string& path) {
        return path.empty() ? "the path is empty; " + mend : std::string();
      });
}

void CommandLine::flag(const Word& word, bool& set) {
  impl_->current->add_flag(word.name, set, word.help);
}

void CommandLine::rest(const Word& word, std::vector<std::string>& set) {
  impl_->current->add_option(word.name, set, word.help)->required();
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  CLI::App& app = impl_->app;
  app.set_version_flag("--version", impl_->version);
  app.failure_message([](const CLI::App* self, const CLI::Error& error) {
    return self->get_name() + ": " + told(*self, error) + "\n";
  });
  try {
    app.parse(reversed_words(argc, argv));
  } catch (const CLI::ParseError& error) {
    const bool is_wrong = app.exit(error) != 0;
    return end_output(app.get_name(), is_wrong ? kExitUsage : EXIT_SUCCESS);
  }
  return std::nullopt;
}

int end_output(const std::string& program, int code) {
  std::cout.flush();
  if (std::cout) return code;
  std::cerr << program
            << ": standard output cannot be written and is lost; give it another place\n";
  return kExitUsage;
}

}  // namespace gang::app
